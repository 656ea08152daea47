// What a client carries for us between two rounds of one call. It is opaque to it, and worthless for anything else:
// authenticated, bound to the principal and to the call, short-lived, and taken once.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/digest.h"
#include "base/json.h"
#include "base/result.h"
#include "serve/premises.h"

namespace cordon::serve::mcp {

/// The call that a state belongs to.
Digest digest_of_call(const Caller& caller, std::string_view method, std::string_view name, const Json& arguments);

class RequestStates {
 public:
  /// `key` is for this process alone: a state ends with it.
  RequestStates(std::string key, const Clock& clock) : key_(std::move(key)), clock_(&clock) {}

  Result<std::string> issue(const Json& state, const Digest& call, Duration lasts);
  /// The second time it is refused, as is everything that was not issued here for this very call.
  Result<Json> take(std::string_view text, const Digest& call);

 private:
  std::string key_;
  const Clock* clock_;
  std::mutex mutex_;
  std::map<std::string, Time> taken_;  // nonce → when it may be forgotten
};

}  // namespace cordon::serve::mcp
