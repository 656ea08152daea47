// The whole judge on any bytes: shell text to Analysis, and canonical words.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "risk/analyse.h"
#include "shell/read.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace cordon;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  RiskContext context;
  context.cwd = context.workspace = "/home/me/project";
  context.home = "/home/me";
  context.look_at_files = false;
  ShellState state;
  state.variables["HOME"] = context.home;
  state.positional_known = size % 2 == 0;
  const ReadScript read = [](std::string_view inner, const ShellState& shell) { return shell::read(inner, shell); };
  const Analysis analysis = risk::analyse(shell::read(text, state), context, read);
  for (const Invocation& call : analysis.invocations) {
    if (call.words.size() < 64) (void)risk::canonical(call.words);
  }
  // A level without a reason, or a reason without its level, would be a judgement nobody can follow.
  for (const Finding& finding : analysis.findings) {
    if (finding.risk > analysis.risk || finding.reason.empty()) __builtin_trap();
  }
  return 0;
}
