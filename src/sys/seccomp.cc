#include "sys/seccomp.h"

#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

namespace cordon::sys {

namespace {

/// The new listener's number, or 0 without one, or -1 and errno.
long set_filter(std::span<const sock_filter> program, unsigned long flags) {
  sock_fprog description{static_cast<unsigned short>(program.size()), const_cast<sock_filter*>(program.data())};
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &description);
}

tl::unexpected<Error> load_failed(std::size_t instructions) {
  return fail(Fault::unavailable, "seccomp: the kernel refused a filter of {} instructions: {}", instructions,
              std::strerror(errno));
}

}  // namespace

SeccompAnswer SeccompAnswer::decode(std::uint32_t returned) {
  switch (returned & SECCOMP_RET_ACTION_FULL) {
    case SECCOMP_RET_ALLOW:
      return allow();
    case SECCOMP_RET_ERRNO:
      return fail_with(static_cast<int>(returned & SECCOMP_RET_DATA));
    case SECCOMP_RET_KILL_PROCESS:
      return kill_process();
    case SECCOMP_RET_USER_NOTIF:
      return notify();
    default:
      return {Kind::other};
  }
}

std::uint32_t SeccompAnswer::encode() const {
  switch (kind) {
    case Kind::allow:
      return SECCOMP_RET_ALLOW;
    case Kind::error:
      return SECCOMP_RET_ERRNO | (static_cast<std::uint32_t>(error) & SECCOMP_RET_DATA);
    case Kind::notify:
      return SECCOMP_RET_USER_NOTIF;
    case Kind::kill_process:
    case Kind::other:
      break;
  }
  return SECCOMP_RET_KILL_PROCESS;
}

Result<void> install_filter(std::span<const sock_filter> program) {
  if (set_filter(program, 0) != 0) return load_failed(program.size());
  return {};
}

Result<Fd> install_filter_with_listener(std::span<const sock_filter> program) {
  // With WAIT_KILLABLE_RECV (Linux 5.19) a signal can't restart a call that is being answered, again and again.
  long listener = set_filter(program, SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);
  if (listener < 0 && errno == EINVAL) listener = set_filter(program, SECCOMP_FILTER_FLAG_NEW_LISTENER);
  if (listener < 0) return load_failed(program.size());
  return Fd(static_cast<int>(listener));
}

Result<std::optional<SeccompNotification>> receive_notification(int listener) {
  seccomp_notif notification{};  // the kernel refuses one that is not zero
  if (::ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &notification) != 0) {
    if (errno == ENOENT || errno == EINTR) return std::nullopt;
    return fail(Fault::unavailable, "seccomp listener: cannot receive: {}", std::strerror(errno));
  }
  return SeccompNotification{notification.id, notification.pid, notification.data};
}

bool still_waiting(int listener, std::uint64_t id) { return ::ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0; }

Result<void> refuse_call(int listener, std::uint64_t id, int error) {
  seccomp_notif_resp response{};
  response.id = id;
  response.error = -error;
  // The caller may have died while we answered: nobody is left to refuse.
  if (::ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response) != 0 && errno != ENOENT) {
    return fail(Fault::unavailable, "seccomp listener: cannot answer: {}", std::strerror(errno));
  }
  return {};
}

std::string read_text_of(int pid, std::uint64_t address, std::size_t limit) {
  constexpr std::uint64_t page = 4096;
  std::string text;
  // Page by page: one that is not there must not take the readable ones before it along.
  while (text.size() < limit) {
    const std::uint64_t start = address + text.size();
    std::array<char, page> buffer;
    const std::size_t wanted = std::min<std::size_t>(limit - text.size(), page - start % page);
    const iovec here{buffer.data(), wanted};
    const iovec there{reinterpret_cast<void*>(start), wanted};
    const ssize_t got = ::process_vm_readv(pid, &here, 1, &there, 1, 0);
    if (got <= 0) break;
    const std::size_t length = ::strnlen(buffer.data(), static_cast<std::size_t>(got));
    text.append(buffer.data(), length);
    if (length < wanted) break;
  }
  return text;
}

}  // namespace cordon::sys
