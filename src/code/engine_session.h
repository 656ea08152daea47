// A call in a JavaScript session: from the state that is kept to the state that is kept then.
#pragma once

#include "code/runtime.h"
#include "code/state_store.h"

namespace cordon::code {

/// A call that fails in any way leaves the session where it was.
CodeResult run_in_session(const Runtime& runtime, const StateStore& store, const std::string& session,
                          const Language& language, const CodeRequest& request, Clearance clearance,
                          RunContext context);

}  // namespace cordon::code
