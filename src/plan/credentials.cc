#include <fnmatch.h>

#include <algorithm>
#include <filesystem>

#include "plan/profile.h"

namespace cordon::plan {

namespace {

namespace fs = std::filesystem;

constexpr const char* credential_names[] = {".env",
                                            ".env.*",
                                            ".npmrc",
                                            ".pypirc",
                                            ".netrc",
                                            "_netrc",
                                            ".git-credentials",
                                            ".aws",
                                            ".ssh",
                                            ".gnupg",
                                            ".kube",
                                            ".docker",
                                            "*.pem",
                                            "*.key",
                                            "*.p12",
                                            "*.pfx",
                                            "*.jks",
                                            "*.keystore",
                                            "id_rsa*",
                                            "id_ecdsa*",
                                            "id_ed25519*",
                                            "*.kdbx",
                                            ".vault-token",
                                            ".htpasswd",
                                            "*.ovpn",
                                            "*credentials*",
                                            "*secrets*.y*ml",
                                            "*secrets*.json",
                                            "service-account*.json",
                                            "terraform.tfstate*",
                                            ".terraformrc"};
constexpr const char* harmless_names[] = {"*.example", "*.sample", "*.template", "*.pub", "*.md"};

constexpr int deepest = 4;
constexpr std::size_t most_entries = 20'000;
constexpr std::size_t most_found = 200;

bool matches(const std::string& name, const auto& patterns) {
  return std::ranges::any_of(patterns, [&](const char* pattern) { return ::fnmatch(pattern, name.c_str(), 0) == 0; });
}

}  // namespace

std::vector<std::string> credential_files(const std::string& directory) {
  std::vector<std::string> found;
  std::size_t seen = 0;
  std::error_code error;
  fs::recursive_directory_iterator item(directory, fs::directory_options::skip_permission_denied, error);
  for (; !error && item != fs::recursive_directory_iterator() && ++seen < most_entries && found.size() < most_found;
       item.increment(error)) {
    const std::string name = item->path().filename();
    const bool is_credential = matches(name, credential_names) && !matches(name, harmless_names);
    if (is_credential) found.push_back(item->path().lexically_relative(directory));
    if (is_credential || name == "node_modules" || name == ".git" || item.depth() >= deepest) {
      item.disable_recursion_pending();
    }
  }
  return found;
}

}  // namespace cordon::plan
