#include "sandbox/native/pid1_image.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

__asm__(
    ".section .rodata\n"
    ".globl cordon_pid1_begin\n"
    ".globl cordon_pid1_end\n"
    "cordon_pid1_begin:\n"
    ".incbin \"" CORDON_PID1_PROGRAM
    "\"\n"
    "cordon_pid1_end:\n"
    ".previous\n");

extern "C" {
extern const char cordon_pid1_begin[];
extern const char cordon_pid1_end[];
}

namespace cordon::sandbox::native {

Result<sys::Fd> make_pid1_image() {
  constexpr unsigned executable = 0x10;  // MFD_EXEC, Linux 6.3
  constexpr unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  int number = static_cast<int>(::syscall(SYS_memfd_create, "cordon-pid1", flags | executable));
  if (number < 0 && errno == EINVAL) number = static_cast<int>(::syscall(SYS_memfd_create, "cordon-pid1", flags));
  if (number < 0) {
    return fail(Fault::unavailable, "memfd_create for pid 1 of a sandbox: {} (is vm.memfd_noexec set to 2?)",
                std::strerror(errno));
  }
  sys::Fd image(number);
  for (const char* cursor = cordon_pid1_begin; cursor < cordon_pid1_end;) {
    ssize_t written = ::write(image.get(), cursor, static_cast<std::size_t>(cordon_pid1_end - cursor));
    if (written < 0) return fail(Fault::unavailable, "write pid 1 of a sandbox to memory: {}", std::strerror(errno));
    cursor += written;
  }
  // Not readable: executing what one may not read makes a process non-dumpable from its first instruction.
  if (::fchmod(image.get(), 0111) != 0 ||
      ::fcntl(image.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return fail(Fault::unavailable, "seal pid 1 of a sandbox: {}", std::strerror(errno));
  }
  return image;
}

std::string_view pid1_program() {
  return {cordon_pid1_begin, static_cast<std::size_t>(cordon_pid1_end - cordon_pid1_begin)};
}

}  // namespace cordon::sandbox::native
