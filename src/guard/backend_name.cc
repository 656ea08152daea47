#include <algorithm>

#include "guard/backend.h"

namespace cordon::guard {

Result<std::string> backend_named(const std::string& name) {
  static constexpr const char* names[] = {"auto", "native", "docker", "gvisor", "runc"};
  const bool known = name.empty() || std::ranges::any_of(names, [&](const char* one) { return name == one; });
  if (known) return name;
  return fail(Fault::invalid_input, "there is no backend '{}'; there are: auto, native, docker, gvisor and runc", name);
}

}  // namespace cordon::guard
