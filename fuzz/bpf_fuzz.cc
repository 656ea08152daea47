// Any bytes as a BPF program and a call: the evaluator must answer or refuse, never read outside, never hang.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "sys/bpf.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  seccomp_data call{};
  const std::size_t head = std::min(size, sizeof(call));
  std::memcpy(&call, data, head);
  std::vector<sock_filter> program((size - head) / sizeof(sock_filter));
  if (!program.empty()) std::memcpy(program.data(), data + head, program.size() * sizeof(sock_filter));
  (void)cordon::sys::evaluate(program, call);
  return 0;
}
