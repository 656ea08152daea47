// What Cordon says to a hook's question. A command is answered by the same one that runs inside Cordon, where it is
// judged again, asked about and recorded; so nothing is decided here that the run does not decide too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "serve/hook/dialect.h"
#include "serve/premises.h"

namespace cordon::serve::hook {

struct HookOptions {
  std::string program;    // absolute path of cordon
  std::string state_dir;  // to be named in the command; empty: the usual one
  bool judge_only = false;
  guard::Alarm alarm;  // told of what is refused
};

/// The command line that runs `text` inside Cordon as this agent. With a ticket, a person's yes comes with it.
std::string inside(const HookOptions& options, const Request& request, std::optional<std::uint64_t> timeout_ms,
                   std::string_view ticket = {});

Result<Said> judge(const Dialect& dialect, const Asked& asked, const Premises& premises, const Caller& caller,
                   const HookOptions& options);

}  // namespace cordon::serve::hook
