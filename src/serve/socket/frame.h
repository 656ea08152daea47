// What goes over the socket: a length (four bytes, little endian), then so many bytes of JSON. Descriptors travel with
// the first bytes of a frame. docs/serve.md lists the messages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "sys/fd.h"

namespace cordon::serve::socket {

constexpr int protocol = 1;
constexpr std::size_t largest_frame = 512U << 20;
constexpr std::size_t most_descriptors = 4;

struct Frame {
  Json body;
  std::vector<sys::Fd> descriptors;
};

Result<void> send_frame(const sys::Fd& connection, const Json& body, const std::vector<int>& descriptors);
/// Nothing: the other side ended the connection between two frames. A frame that is cut, too large or no JSON is an
/// error.
Result<std::optional<Frame>> receive_frame(const sys::Fd& connection, std::size_t largest);

/// JSON holds text only; bytes that are none travel as {"base64": …}.
Json exact(const std::string& bytes);
Result<std::string> from_exact(const Json& json);

}  // namespace cordon::serve::socket
