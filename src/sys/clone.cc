#include "sys/clone.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstring>
#include <utility>

#if defined(__x86_64__)
__asm__(R"(
.text
.globl cordon_clone3_call
.type cordon_clone3_call,@function
cordon_clone3_call:
  endbr64
  mov %rdx, %r8
  mov %rcx, %r9
  mov $435, %eax
  syscall
  test %rax, %rax
  jz 1f
  ret
1:
  xor %ebp, %ebp
  mov %r9, %rdi
  call *%r8
  mov $60, %eax
  mov $125, %edi
  syscall
  hlt
.size cordon_clone3_call, .-cordon_clone3_call
)");
#elif defined(__aarch64__)
__asm__(R"(
.text
.globl cordon_clone3_call
.type cordon_clone3_call,%function
cordon_clone3_call:
  mov x10, x2
  mov x11, x3
  mov x8, #435
  svc #0
  cbz x0, 1f
  ret
1:
  mov x29, #0
  mov x0, x11
  blr x10
  mov x8, #93
  mov x0, #125
  svc #0
  brk #0
.size cordon_clone3_call, .-cordon_clone3_call
)");
#endif

namespace cordon::sys {

namespace {
constexpr std::size_t guard_bytes = 65536;  // the largest page size of aarch64
}

Result<ChildStack> ChildStack::create(std::size_t bytes) {
  void* memory =
      ::mmap(nullptr, bytes + guard_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return fail(Fault::unavailable, "mmap of a child's stack: {}", std::strerror(errno));
  ::mprotect(memory, guard_bytes, PROT_NONE);
  return ChildStack(memory, bytes + guard_bytes);
}

ChildStack::ChildStack(ChildStack&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

ChildStack& ChildStack::operator=(ChildStack&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

ChildStack::~ChildStack() {
  if (memory_) ::munmap(memory_, bytes_);
}

std::uint64_t ChildStack::base() const { return reinterpret_cast<std::uint64_t>(memory_) + guard_bytes; }
std::uint64_t ChildStack::size() const { return bytes_ - guard_bytes; }

}  // namespace cordon::sys
