// What the proxy and its keeper say to each other, one packet each. The proxy reads what sandboxes write, so the keeper
// believes no packet that is not exactly of these forms.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "sandbox/network/rule.h"

namespace cordon::sandbox::network {

// From the proxy.

/// May this be reached? Nothing is looked up before the answer.
struct Question {
  std::uint64_t id = 0;
  Wish wish;
};
/// The server was reached. The id is that of the question.
struct Opened {
  std::uint64_t id = 0;
  Address address = Address::v4(0);
};
/// Refused, or in vain, for a reason that the rules do not know: what was asked is malformed, the address is not
/// outside, TLS names another server, nobody answers.
struct Refusal {
  std::uint64_t id = 0;  // of the question; 0: there was none
  std::string reason;
  std::string would_allow;  // empty: nothing does
  bool refused = true;      // false: it failed
};
struct Closed {
  std::uint64_t id = 0;
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
};
using FromProxy = std::variant<Question, Opened, Refusal, Closed>;

// To the proxy.

/// The first packet.
struct Terms {
  std::uint64_t connections = 0;   // at once; more wait
  std::uint64_t bytes = 0;         // in both directions together; 0: no limit
  std::uint64_t milliseconds = 0;  // that one connection may last; 0: no limit
};
struct Answer {
  std::uint64_t id = 0;
  bool allowed = false;
  bool web_only = false;
  std::string reason;
  std::string would_allow;
  std::vector<Address> named;  // may be dialled wherever they lie
};

constexpr std::size_t largest_message = 16 * 1024;

std::string encode(const FromProxy& message);
std::string encode(const Terms& terms);
std::string encode(const Answer& answer);
Result<FromProxy> decode_from_proxy(std::string_view packet);
Result<Terms> decode_terms(std::string_view packet);
Result<Answer> decode_answer(std::string_view packet);

}  // namespace cordon::sandbox::network
