#include "sandbox/docker/streams.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace cordon::sandbox::docker {

namespace {

constexpr std::size_t head_bytes = 8;

struct Pipe {
  sys::Fd reading;
  sys::Fd writing;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(Fault::unavailable, "pipe2: {}", std::strerror(errno));
  return Pipe{sys::Fd(ends[0]), sys::Fd(ends[1])};
}

void never_block(const sys::Fd& fd) { ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK); }

}  // namespace

Result<void> FrameReader::feed(std::string_view bytes, const Take& take) {
  while (!bytes.empty()) {
    if (left_ > 0) {
      const std::size_t now = std::min<std::size_t>(left_, bytes.size());
      take(stream_, bytes.substr(0, now));
      left_ -= static_cast<std::uint32_t>(now);
      bytes.remove_prefix(now);
      continue;
    }
    const std::size_t missing = std::min(head_bytes - head_.size(), bytes.size());
    head_.append(bytes.substr(0, missing));
    bytes.remove_prefix(missing);
    if (head_.size() < head_bytes) return {};
    const auto byte = [&](std::size_t at) { return static_cast<std::uint32_t>(static_cast<unsigned char>(head_[at])); };
    if (byte(0) > 2 || byte(1) != 0 || byte(2) != 0 || byte(3) != 0) {
      return fail(Fault::unavailable, "the container engine's stream is malformed");
    }
    stream_ = byte(0) == 2 ? Stream::err : Stream::out;
    left_ = byte(4) << 24 | byte(5) << 16 | byte(6) << 8 | byte(7);
    head_.clear();
  }
  return {};
}

StreamPump::StreamPump(Hijacked connection, sys::Fd input, sys::Fd output, sys::Fd error, sys::Fd ended_reading,
                       sys::Fd ended_writing)
    : connection_(std::move(connection)),
      input_(std::move(input)),
      output_(std::move(output)),
      error_(std::move(error)),
      ended_reading_(std::move(ended_reading)),
      ended_writing_(std::move(ended_writing)) {}

Result<std::unique_ptr<StreamPump>> StreamPump::start(Hijacked connection, native::InputKind input,
                                                      native::Launched& launched) {
  Pipe output = TRY(make_pipe());
  Pipe error = TRY(make_pipe());
  Pipe ended = TRY(make_pipe());
  sys::Fd input_reading(-1);
  if (input == native::InputKind::pipe) {
    Pipe given = TRY(make_pipe());
    never_block(given.writing);
    launched.pipes.input = std::move(given.writing);
    input_reading = std::move(given.reading);
  } else {
    ::shutdown(connection.socket.get(), SHUT_WR);
  }
  never_block(output.reading);
  never_block(error.reading);
  launched.pipes.output = std::move(output.reading);
  launched.pipes.error = std::move(error.reading);
  std::unique_ptr<StreamPump> pump(new StreamPump(std::move(connection), std::move(input_reading),
                                                  std::move(output.writing), std::move(error.writing),
                                                  std::move(ended.reading), std::move(ended.writing)));
  pump->thread_ = std::jthread([&made = *pump] { made.work(); });
  return pump;
}

StreamPump::~StreamPump() {
  ::shutdown(connection_.socket.get(), SHUT_RDWR);
  // A write to a pipe that nobody reads ends with its reader; the launcher's ends are closed or drained before.
  if (thread_.joinable()) thread_.join();
}

/// A reader that went away is no reason to stop: the container must not be held up by a full socket.
void StreamPump::deliver(Stream stream, std::string_view bytes) {
  sys::Fd& into = stream == Stream::out ? output_ : error_;
  while (!bytes.empty() && into.get() >= 0) {
    const ssize_t written = ::write(into.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0)
      into = sys::Fd(-1);
    else
      bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

bool StreamPump::take_output() {
  char buffer[65536];
  const ssize_t got = ::recv(connection_.socket.get(), buffer, sizeof buffer, 0);
  if (got < 0 && errno == EINTR) return true;
  if (got <= 0) return false;
  const auto take = [this](Stream stream, std::string_view bytes) { deliver(stream, bytes); };
  return frames_.feed({buffer, static_cast<std::size_t>(got)}, take).has_value();
}

bool StreamPump::send_input() {
  char buffer[65536];
  const ssize_t got = ::read(input_.get(), buffer, sizeof buffer);
  if (got < 0 && errno == EINTR) return true;
  if (got <= 0) {
    ::shutdown(connection_.socket.get(), SHUT_WR);
    return false;
  }
  for (std::string_view rest(buffer, static_cast<std::size_t>(got)); !rest.empty();) {
    const ssize_t sent = ::send(connection_.socket.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return false;
    rest.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void StreamPump::work() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, nullptr);  // a pipe without a reader is told by the write itself
  const auto take = [this](Stream stream, std::string_view bytes) { deliver(stream, bytes); };
  bool open = frames_.feed(connection_.first, take).has_value();
  while (open) {
    pollfd wanted[2] = {{connection_.socket.get(), POLLIN, 0}, {input_.get(), POLLIN, 0}};
    if (::poll(wanted, 2, -1) < 0) continue;
    if (wanted[0].revents != 0) open = take_output();
    if (open && wanted[1].revents != 0 && !send_input()) input_ = sys::Fd(-1);
  }
  output_ = sys::Fd(-1);
  error_ = sys::Fd(-1);
  input_ = sys::Fd(-1);
  ended_writing_ = sys::Fd(-1);
}

}  // namespace cordon::sandbox::docker
