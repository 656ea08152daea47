#include "code/engine_session.h"

#include <algorithm>

namespace cordon::code {

namespace {

/// In the order of their names, so that two calls that fork each other's sessions do not wait for each other.
Result<std::vector<SessionHold>> hold_all(const StateStore& store, const SessionCall& session) {
  if (!session.fork_of.empty() && session.fork_of == session.name)
    return fail(Fault::invalid_input, "a session is not forked from itself");
  std::vector<std::string> names = {session.name};
  if (!session.fork_of.empty()) names.push_back(session.fork_of);
  std::ranges::sort(names);
  std::vector<SessionHold> holds;
  for (const std::string& name : names) holds.push_back(TRY(store.hold(name)));
  return holds;
}

Result<std::optional<StoredState>> begin(const StateStore& store, const SessionCall& session) {
  if (!session.fork_of.empty()) TRY(store.fork(session.fork_of, session.name));
  if (session.step) {
    const auto steps = TRY(store.steps(session.name));
    if (std::ranges::find(steps, *session.step) == steps.end()) {
      return fail(Fault::invalid_input, "session {} has no step {} (the last {} are kept)", session.name, *session.step,
                  steps.size());
    }
    CHECK_OK(store.roll_back(session.name, *session.step));
  }
  return store.load(session.name);
}

}  // namespace

CodeResult run_in_session(const Runtime& runtime, const StateStore& store, const SessionCall& session,
                          const Language& language, const CodeRequest& request, Clearance clearance,
                          RunContext context) {
  const auto held = hold_all(store, session);
  if (!held) return refused(held.error());
  auto stored = begin(store, session);
  if (!stored) return refused(stored.error());
  EngineState state;
  std::uint64_t step = 0;
  if (*stored) {
    step = (*stored)->step;
    state.before = std::move((*stored)->bytes);
  }
  context.state = &state;
  CodeResult result = runtime.run(language, request, std::move(clearance), context);
  result.session = SessionNote{session.name, step, true};
  if (!result.success) return result;
  if (auto saved = store.save(session.name, step + 1, state.after); !saved) {
    result.success = false;
    result.error = saved.error().sentence;
    return result;
  }
  result.session->step = step + 1;
  return result;
}

}  // namespace cordon::code
