// Asking a person from within a conversation. The answer itself never comes through the agent's channel, unless the
// user's own settings name the agent's client as a place where a person approves.
#pragma once

#include <optional>
#include <string>

#include "base/json.h"
#include "serve/premises.h"
#include "serve/tools/tool.h"

namespace cordon::serve::mcp {

enum class Way {
  none,  // the answer tells the model what to say to its user
  page,  // the client shows a person where to approve; the answer comes from there
  form,  // the client itself is a place to approve
};
const char* name_of(Way way);

/// By what the client can do and what the settings name.
Way way_for(const Json& client_capabilities, const Settings& settings, const Caller& caller);

/// The parameters of `elicitation/create`. `answer` is the exec object of a call that waits.
Json elicitation_for(Way way, const Json& answer, const Settings& settings);

/// What a client's answer to it means.
enum class Reply { approved, rejected, wait, leave };
Reply reply_of(Way way, const Json& result);

/// A person's yes or no, given in the client. Refused when the settings do not name it (any more).
Result<void> vote(const Premises& premises, const Caller& caller, const std::string& id, Reply reply);

}  // namespace cordon::serve::mcp
