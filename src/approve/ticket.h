// A yes that a hook prepares and a person completes: the hook asks the client to ask, and hands it a command that
// carries a ticket. Only where the settings name that client as a place to approve; good for one request, once, for
// minutes.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/digest.h"
#include "base/result.h"

namespace cordon::approve {

/// What a ticket is for.
Digest ticket_subject(std::string_view command, std::string_view working_dir, std::string_view agent);

class Tickets {
 public:
  explicit Tickets(std::string state_dir) : root_(std::move(state_dir) + "/tickets") {}

  /// Only its hash is kept.
  Result<std::string> issue(const Digest& subject, Time until) const;
  /// Spends it, whatever comes of it. False: there is none such, it is for something else, or its time is over.
  Result<bool> take(std::string_view ticket, const Digest& subject, Time now) const;

 private:
  std::string path_of(std::string_view ticket) const;
  std::string root_;
};

}  // namespace cordon::approve
