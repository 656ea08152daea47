// System calls without errno, locks or memory: for code that runs in a child which shares memory with its parent (vfork
// style), and for pid 1 of a sandbox, which has no C library. The result is the kernel's: a value, or −errno.
#pragma once

#include <sys/syscall.h>

#include <cstdint>

namespace cordon::sys::raw {

#if defined(__x86_64__)
__attribute__((always_inline)) inline long call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                                                long f = 0) {
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__)
__attribute__((always_inline)) inline long call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                                                long f = 0) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
}
#else
#error "Cordon's sandbox knows x86_64 and aarch64"
#endif

inline long address(const void* pointer) { return reinterpret_cast<long>(pointer); }

}  // namespace cordon::sys::raw
