// A call in a JavaScript session: from the state that is kept to the state that is kept then.
#pragma once

#include "code/runtime.h"
#include "code/state_store.h"

namespace cordon::code {

/// Which session, and where it is to stand before the call.
struct SessionCall {
  std::string name;
  std::string fork_of;                // it begins where this one stands; empty: it begins anew, or goes on
  std::optional<std::uint64_t> step;  // taken back to this one first
};

/// A call that fails in any way leaves the session where it was.
CodeResult run_in_session(const Runtime& runtime, const StateStore& store, const SessionCall& session,
                          const Language& language, const CodeRequest& request, Clearance clearance,
                          RunContext context);

}  // namespace cordon::code
