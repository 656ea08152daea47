#include "sandbox/network/proxy_image.h"

#include "sys/memory_program.h"

__asm__(
    ".section .rodata\n"
    ".globl cordon_proxy_begin\n"
    ".globl cordon_proxy_end\n"
    "cordon_proxy_begin:\n"
    ".incbin \"" CORDON_PROXY_PROGRAM
    "\"\n"
    "cordon_proxy_end:\n"
    ".previous\n");

extern "C" {
extern const char cordon_proxy_begin[];
extern const char cordon_proxy_end[];
}

namespace cordon::sandbox::network {

Result<sys::Fd> proxy_image() { return sys::memory_program("cordon-proxy", {cordon_proxy_begin, cordon_proxy_end}); }

}  // namespace cordon::sandbox::network
