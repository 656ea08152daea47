#include "model/descriptor_name.h"

#include <charconv>
#include <filesystem>
#include <string>

namespace cordon {

std::optional<int> descriptor_number(std::string_view digits) {
  int number = 0;
  const char* last = digits.data() + digits.size();
  const auto [end, trouble] = std::from_chars(digits.data(), last, number);
  if (trouble != std::errc{} || end != last || number < 0) return std::nullopt;
  return number;
}

std::optional<int> descriptor_named(std::string_view path) {
  if (!path.starts_with("/") || path.find('\0') != std::string_view::npos) return std::nullopt;
  const std::string plain = std::filesystem::path(path).lexically_normal().string();
  const std::string_view name = std::string_view(plain).substr(plain.starts_with("//") ? 1 : 0);
  if (name == "/dev/stdin") return 0;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/"}) {
    if (name.starts_with(folder)) return descriptor_number(name.substr(folder.size()));
  }
  return std::nullopt;
}

}  // namespace cordon
