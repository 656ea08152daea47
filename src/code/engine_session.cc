#include "code/engine_session.h"

namespace cordon::code {

CodeResult run_in_session(const Runtime& runtime, const StateStore& store, const std::string& session,
                          const Language& language, const CodeRequest& request, Clearance clearance,
                          RunContext context) {
  auto held = store.hold(session);
  if (!held) return refused(held.error());
  auto stored = store.load(session);
  if (!stored) return refused(stored.error());
  EngineState state;
  std::uint64_t step = 0;
  if (*stored) {
    step = (*stored)->step;
    state.before = std::move((*stored)->bytes);
  }
  context.state = &state;
  CodeResult result = runtime.run(language, request, std::move(clearance), context);
  result.session = SessionNote{session, step, true};
  if (!result.success) return result;
  if (auto saved = store.save(session, step + 1, state.after); !saved) {
    result.success = false;
    result.error = saved.error().sentence;
    return result;
  }
  result.session->step = step + 1;
  return result;
}

}  // namespace cordon::code
