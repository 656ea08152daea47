#include "sys/own_program.h"

#include <unistd.h>

#include <climits>

namespace cordon::sys {

Result<std::string> beside_own_program(std::string_view relative) {
  char path[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
  if (length <= 0) return fail(Fault::internal, "cannot tell where this program is");
  std::string place(path, static_cast<std::size_t>(length));
  place.erase(place.rfind('/') + 1);
  constexpr std::string_view inner = "/libexec/cordon/";
  if (place.ends_with(inner)) place.replace(place.size() - inner.size(), inner.size(), "/bin/");
  return place.append(relative);
}

}  // namespace cordon::sys
