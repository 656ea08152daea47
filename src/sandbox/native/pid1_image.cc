#include "sandbox/native/pid1_image.h"

#include "sys/memory_program.h"

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

Result<sys::Fd> make_pid1_image() { return sys::memory_program("cordon-pid1", {cordon_pid1_begin, cordon_pid1_end}); }

std::string_view pid1_program() {
  return {cordon_pid1_begin, static_cast<std::size_t>(cordon_pid1_end - cordon_pid1_begin)};
}

}  // namespace cordon::sandbox::native
