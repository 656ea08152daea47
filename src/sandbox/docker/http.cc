#include "sandbox/docker/http.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/text.h"

namespace cordon::sandbox::docker {

namespace {

constexpr std::size_t most_head = 64 * 1024;
constexpr std::size_t most_chunk_line = 1024;
constexpr std::size_t most_trailer_lines = 64;

using Deadline = std::chrono::steady_clock::time_point;

auto malformed(const char* what) {
  return fail(Fault::unavailable, "the container engine's answer is malformed: {}", what);
}

template <class Number>
std::optional<Number> number_in(std::string_view text, int base) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// False: nothing came in time.
Result<bool> wait_for(const sys::Fd& socket, short events, Deadline deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    if (left <= 0) return false;
    pollfd wanted{socket.get(), events, 0};
    const int ready = ::poll(&wanted, 1, static_cast<int>(std::min<long long>(left, 1'000'000)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return fail(Fault::internal, "poll: {}", std::strerror(errno));
  }
}

Result<void> send_all(const sys::Fd& socket, std::string_view bytes, Deadline deadline) {
  while (!bytes.empty()) {
    if (!TRY(wait_for(socket, POLLOUT, deadline))) {
      return fail(Fault::unavailable, "the container engine does not read what it is sent");
    }
    const ssize_t sent = ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (sent < 0) return fail(Fault::unavailable, "the container engine closed its socket: {}", std::strerror(errno));
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

Result<void> receive(const sys::Fd& socket, AnswerReader& reader, Deadline deadline) {
  char buffer[16384];
  for (;;) {
    if (!TRY(wait_for(socket, POLLIN, deadline))) {
      return fail(Fault::unavailable, "the container engine does not answer");
    }
    const ssize_t got = ::recv(socket.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return fail(Fault::unavailable, "the container engine's socket: {}", std::strerror(errno));
    if (got == 0) {
      if (TRY(reader.finish())) return {};
      return fail(Fault::unavailable, "the container engine closed its socket in the middle of an answer");
    }
    if (TRY(reader.feed({buffer, static_cast<std::size_t>(got)}))) return {};
  }
}

std::string head_of(const HttpClient::Ask& ask, std::string_view more) {
  return fmt::format("{} {} HTTP/1.1\r\nHost: engine\r\nUser-Agent: cordon\r\n{}\r\n", ask.method, ask.target, more);
}

}  // namespace

Result<void> AnswerReader::read_head(std::string_view head) {
  const std::string_view line = head.substr(0, head.find("\r\n"));
  const bool known = line.starts_with("HTTP/1.1 ") || line.starts_with("HTTP/1.0 ");
  const auto status = known && line.size() >= 12 ? number_in<int>(line.substr(9, 3), 10) : std::nullopt;
  if (!status || *status < 100 || *status > 599) return malformed("its first line is not HTTP");
  answer_.status = *status;
  std::optional<std::size_t> length;
  bool chunked = false;
  for (std::size_t at = line.size() + 2; at < head.size();) {
    const std::size_t end = std::min(head.find("\r\n", at), head.size());
    const std::string_view field = head.substr(at, end - at);
    at = end + 2;
    const std::size_t colon = field.find(':');
    if (colon == std::string_view::npos) return malformed("a line of its head has no colon");
    const std::string name = to_lower(field.substr(0, colon));
    const std::string value = to_lower(trim(field.substr(colon + 1)));
    if (name == "transfer-encoding") {
      if (value != "chunked") return malformed("an unknown transfer encoding");
      chunked = true;
    }
    if (name == "content-length") {
      const auto size = number_in<std::size_t>(value, 10);
      if (!size || (length && *length != *size)) return malformed("its length is no number");
      length = size;
    }
  }
  // Two ways to say where a body ends are two answers to different readers.
  if (chunked && length) return malformed("it has both a length and chunks");
  if (length && *length > most_body_) return malformed("it is too large");
  left_ = length.value_or(0);
  if (*status == 101) {
    state_ = State::upgraded;
  } else if (*status == 204 || *status == 304 || (length && *length == 0)) {
    state_ = State::done;
  } else {
    state_ = chunked ? State::chunk_size : length ? State::sized : State::until_close;
  }
  return {};
}

Result<void> AnswerReader::take(std::size_t bytes) {
  if (answer_.body.size() + bytes > most_body_) return malformed("it is too large");
  answer_.body.append(buffer_, 0, bytes);
  buffer_.erase(0, bytes);
  return {};
}

/// True when something was done and there may be more to do.
Result<bool> AnswerReader::step() {
  switch (state_) {
    case State::head: {
      const std::size_t end = buffer_.find("\r\n\r\n");
      if (end == std::string::npos) {
        if (buffer_.size() > most_head) return malformed("its head has no end");
        return false;
      }
      if (end > most_head) return malformed("its head is too long");
      const std::string head = buffer_.substr(0, end);
      buffer_.erase(0, end + 4);
      CHECK_OK(read_head(head));
      // 1xx but 101 only announces the answer.
      if (answer_.status < 200 && answer_.status != 101) state_ = State::head;
      return true;
    }
    case State::sized:
    case State::chunk: {
      const std::size_t now = std::min(left_, buffer_.size());
      if (now == 0) return false;
      CHECK_OK(take(now));
      left_ -= now;
      if (left_ == 0) state_ = state_ == State::sized ? State::done : State::chunk_end;
      return true;
    }
    case State::chunk_size: {
      const std::size_t end = buffer_.find("\r\n");
      if (end == std::string::npos) {
        if (buffer_.size() > most_chunk_line) return malformed("a chunk without a size");
        return false;
      }
      const auto size =
          number_in<std::size_t>(std::string_view(buffer_).substr(0, std::min(end, buffer_.find(';'))), 16);
      if (!size || *size > most_body_) return malformed("a chunk without a usable size");
      buffer_.erase(0, end + 2);
      left_ = *size;
      state_ = *size == 0 ? State::trailer : State::chunk;
      return true;
    }
    case State::chunk_end:
      if (buffer_.size() < 2) return false;
      if (!buffer_.starts_with("\r\n")) return malformed("a chunk longer than its size");
      buffer_.erase(0, 2);
      state_ = State::chunk_size;
      return true;
    case State::trailer: {
      const std::size_t end = buffer_.find("\r\n");
      if (end == std::string::npos) {
        if (buffer_.size() > most_chunk_line) return malformed("a trailer without an end");
        return false;
      }
      buffer_.erase(0, end + 2);
      if (end == 0) state_ = State::done;
      if (++trailer_lines_ > most_trailer_lines) return malformed("a trailer without an end");
      return true;
    }
    case State::until_close:
      if (buffer_.empty()) return false;
      CHECK_OK(take(buffer_.size()));
      return true;
    case State::upgraded:
    case State::done:
      return false;
  }
  return false;
}

Result<bool> AnswerReader::feed(std::string_view bytes) {
  buffer_.append(bytes);
  while (TRY(step())) {
  }
  return state_ == State::done || state_ == State::upgraded;
}

Result<bool> AnswerReader::finish() {
  if (state_ == State::until_close) state_ = State::done;
  return state_ == State::done;
}

Result<sys::Fd> HttpClient::connect() const {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  if (socket_.size() >= sizeof name.sun_path) return fail(Fault::invalid_input, "{}: too long a path", socket_);
  std::memcpy(name.sun_path, socket_.c_str(), socket_.size() + 1);
  sys::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (socket.get() < 0) return fail(Fault::unavailable, "socket: {}", std::strerror(errno));
  if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&name), sizeof name) != 0) {
    return fail(Fault::unavailable, "{}: {}", socket_, std::strerror(errno));
  }
  return socket;
}

Result<Answer> HttpClient::ask(const Ask& ask) const {
  const Deadline deadline = std::chrono::steady_clock::now() + ask.patience;
  const sys::Fd socket = TRY(connect());
  std::string more = "Connection: close\r\n";
  if (!ask.body.empty() || std::string_view(ask.method) == "POST") {
    more += fmt::format("Content-Type: application/json\r\nContent-Length: {}\r\n", ask.body.size());
  }
  CHECK_OK(send_all(socket, head_of(ask, more) + ask.body, deadline));
  AnswerReader reader(ask.most_body);
  CHECK_OK(receive(socket, reader, deadline));
  return reader.answer();
}

Result<Answer> HttpClient::upload(const Ask& ask, const char* type,
                                  const std::function<Result<void>(const Sink&)>& produce) const {
  const Deadline deadline = std::chrono::steady_clock::now() + ask.patience;
  const sys::Fd socket = TRY(connect());
  const std::string more = fmt::format("Connection: close\r\nContent-Type: {}\r\nTransfer-Encoding: chunked\r\n", type);
  CHECK_OK(send_all(socket, head_of(ask, more), deadline));
  auto produced = produce([&](std::string_view bytes) -> Result<void> {
    if (bytes.empty()) return {};
    CHECK_OK(send_all(socket, fmt::format("{:x}\r\n", bytes.size()), deadline));
    CHECK_OK(send_all(socket, bytes, deadline));
    return send_all(socket, "\r\n", deadline);
  });
  // Without its last chunk the engine takes none of it.
  CHECK_OK(produced);
  CHECK_OK(send_all(socket, "0\r\n\r\n", deadline));
  AnswerReader reader(ask.most_body);
  CHECK_OK(receive(socket, reader, deadline));
  return reader.answer();
}

Result<Hijacked> HttpClient::hijack(const Ask& ask) const {
  const Deadline deadline = std::chrono::steady_clock::now() + ask.patience;
  sys::Fd socket = TRY(connect());
  const std::string more =
      fmt::format("Connection: Upgrade\r\nUpgrade: tcp\r\nContent-Type: application/json\r\nContent-Length: {}\r\n",
                  ask.body.size());
  CHECK_OK(send_all(socket, head_of(ask, more) + ask.body, deadline));
  AnswerReader reader(ask.most_body);
  CHECK_OK(receive(socket, reader, deadline));
  if (!reader.upgraded()) {
    return fail(Fault::unavailable, "the container engine gives no streams: {} {}", reader.answer().status,
                reader.answer().body.substr(0, 300));
  }
  return Hijacked{std::move(socket), reader.rest()};
}

std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~").find(c) != std::string_view::npos;
    encoded += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return encoded;
}

}  // namespace cordon::sandbox::docker
