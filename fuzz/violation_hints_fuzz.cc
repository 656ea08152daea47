// Error output is written by the sandboxed program: any bytes must give bounded, printable hints.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "sandbox/native/violations.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto hints = cordon::sandbox::native::hints_in({reinterpret_cast<const char*>(data), size});
  if (hints.size() > 16) std::abort();
  for (const auto& hint : hints) {
    for (const char c : hint.claimed_path) {
      if (c < 0x20 || c > 0x7e) std::abort();
    }
  }
  return 0;
}
