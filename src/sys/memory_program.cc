#include "sys/memory_program.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace cordon::sys {

Result<Fd> memory_program(const char* name, std::string_view image) {
  constexpr unsigned executable = 0x10;  // MFD_EXEC, Linux 6.3
  constexpr unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  int number = static_cast<int>(::syscall(SYS_memfd_create, name, flags | executable));
  if (number < 0 && errno == EINVAL) number = static_cast<int>(::syscall(SYS_memfd_create, name, flags));
  if (number < 0) {
    return fail(Fault::unavailable, "memfd_create for {}: {} (is vm.memfd_noexec set to 2?)", name,
                std::strerror(errno));
  }
  Fd file(number);
  while (!image.empty()) {
    const ssize_t written = ::write(file.get(), image.data(), image.size());
    if (written < 0) return fail(Fault::unavailable, "write {} to memory: {}", name, std::strerror(errno));
    image.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fchmod(file.get(), 0111) != 0 ||
      ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return fail(Fault::unavailable, "seal {}: {}", name, std::strerror(errno));
  }
  return file;
}

}  // namespace cordon::sys
