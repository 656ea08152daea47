// Descriptors that the child hands to the launcher over the control socket before it becomes pid 1.
#pragma once

#include <sys/socket.h>

#include "sandbox/native/pid1/orders.h"
#include "sys/raw.h"

namespace cordon::sandbox::native {

enum class PassedFd : std::uint32_t { terminal = 100, listener, memory, proxy, network };

/// In the child.
inline long send_descriptor(int control, PassedFd what, int descriptor) {
  Report report{static_cast<ReportKind>(what), 0, 0, 0, 0, 0};
  iovec bytes{&report, sizeof report};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  *reinterpret_cast<int*>(CMSG_DATA(header)) = descriptor;
  return sys::raw::call(SYS_sendmsg, control, sys::raw::address(&message), MSG_NOSIGNAL);
}

}  // namespace cordon::sandbox::native
