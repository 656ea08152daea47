#include "guard/secrets.h"

#include "base/text.h"

namespace cordon::guard {

namespace {

bool sounds_secret(std::string_view name) {
  const std::string lower = to_lower(name);
  for (const char* word : {"token", "secret", "password", "passwd", "key", "credential", "auth"}) {
    if (lower.find(word) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

std::vector<audit::KnownSecret> secrets_in(const Variables& variables) {
  std::vector<audit::KnownSecret> secrets;
  for (const auto& [name, value] : variables) {
    if (sounds_secret(name)) secrets.push_back({name, value});
  }
  return secrets;
}

}  // namespace cordon::guard
