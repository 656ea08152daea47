#include "serve/socket/frame.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/digest.h"
#include "base/text.h"
#include "sys/file.h"

namespace cordon::serve::socket {

namespace {

constexpr std::size_t header_bytes = 4;

Result<void> send_all(const sys::Fd& connection, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(connection.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return fail(Fault::unavailable, "send: {}", sys::errno_text(errno));
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

/// False at the end of the stream, before the first byte.
Result<bool> receive_all(const sys::Fd& connection, char* into, std::size_t count) {
  std::size_t got = 0;
  while (got < count) {
    const ssize_t more = ::recv(connection.get(), into + got, count - got, 0);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) return fail(Fault::unavailable, "recv: {}", sys::errno_text(errno));
    if (more == 0 && got == 0) return false;
    if (more == 0) return fail(Fault::unavailable, "the connection ended within a message");
    got += static_cast<std::size_t>(more);
  }
  return true;
}

/// The first bytes, with which descriptors come.
Result<ssize_t> receive_with_descriptors(const sys::Fd& connection, char* into, std::size_t count,
                                         std::vector<sys::Fd>& descriptors) {
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int) * most_descriptors)] = {};
  iovec part{into, count};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  ssize_t got = 0;
  do {
    got = ::recvmsg(connection.get(), &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return fail(Fault::unavailable, "recvmsg: {}", sys::errno_text(errno));
  for (cmsghdr* item = CMSG_FIRSTHDR(&message); item != nullptr; item = CMSG_NXTHDR(&message, item)) {
    if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t passed = (item->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < passed; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(item) + i * sizeof(int), sizeof number);
      descriptors.emplace_back(number);
    }
  }
  if ((message.msg_flags & MSG_CTRUNC) != 0) return fail(Fault::invalid_input, "too many descriptors");
  return got;
}

}  // namespace

Result<void> send_frame(const sys::Fd& connection, const Json& body, const std::vector<int>& descriptors) {
  const std::string text = body.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > largest_frame || descriptors.size() > most_descriptors) {
    return fail(Fault::invalid_input, "the message is too large");
  }
  std::string bytes(header_bytes, '\0');
  for (std::size_t i = 0; i < header_bytes; ++i) bytes[i] = static_cast<char>(text.size() >> (8 * i) & 0xff);
  bytes += text;
  std::size_t sent = 0;
  if (!descriptors.empty()) {
    alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int) * most_descriptors)] = {};
    iovec part{bytes.data(), bytes.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = space;
    message.msg_controllen = CMSG_SPACE(sizeof(int) * descriptors.size());
    cmsghdr* item = CMSG_FIRSTHDR(&message);
    item->cmsg_level = SOL_SOCKET;
    item->cmsg_type = SCM_RIGHTS;
    item->cmsg_len = CMSG_LEN(sizeof(int) * descriptors.size());
    std::memcpy(CMSG_DATA(item), descriptors.data(), sizeof(int) * descriptors.size());
    ssize_t first = 0;
    do {
      first = ::sendmsg(connection.get(), &message, MSG_NOSIGNAL);
    } while (first < 0 && errno == EINTR);
    if (first < 0) return fail(Fault::unavailable, "sendmsg: {}", sys::errno_text(errno));
    sent = static_cast<std::size_t>(first);
  }
  return send_all(connection, std::string_view(bytes).substr(sent));
}

Result<std::optional<Frame>> receive_frame(const sys::Fd& connection, std::size_t largest) {
  Frame frame;
  char header[header_bytes];
  const ssize_t first = TRY(receive_with_descriptors(connection, header, sizeof header, frame.descriptors));
  if (first == 0) return std::optional<Frame>();
  const auto got = static_cast<std::size_t>(first);
  if (got < sizeof header && !TRY(receive_all(connection, header + got, sizeof header - got))) {
    return fail(Fault::unavailable, "the connection ended within a message");
  }
  std::size_t length = 0;
  for (std::size_t i = 0; i < header_bytes; ++i) {
    length |= static_cast<std::size_t>(static_cast<unsigned char>(header[i])) << (8 * i);
  }
  if (length > largest) return fail(Fault::invalid_input, "a message of {} bytes is too large", length);
  // Room is made as bytes come: what a header claims costs nothing.
  constexpr std::size_t step = 1U << 20;
  std::string text;
  while (text.size() < length) {
    const std::size_t had = text.size();
    text.resize(std::min(length, had + step));
    if (!TRY(receive_all(connection, text.data() + had, text.size() - had))) {
      return fail(Fault::unavailable, "the connection ended within a message");
    }
  }
  frame.body = Json::parse(text, nullptr, false);
  if (!frame.body.is_object()) return fail(Fault::invalid_input, "a message that is no JSON object");
  return std::optional<Frame>(std::move(frame));
}

Json exact(const std::string& bytes) {
  if (is_utf8(bytes)) return bytes;
  return {{"base64", to_base64(bytes)}};
}

Result<std::string> from_exact(const Json& json) {
  if (json.is_string()) return json.get<std::string>();
  if (json.is_object() && json.contains("base64") && json["base64"].is_string()) {
    if (auto bytes = from_base64(json["base64"].get<std::string>())) return *std::move(bytes);
  }
  return fail(Fault::invalid_input, "a text is expected");
}

}  // namespace cordon::serve::socket
