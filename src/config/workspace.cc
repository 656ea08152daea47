#include "config/workspace.h"

#include <filesystem>

namespace cordon::config {

namespace fs = std::filesystem;

bool is_marked_workspace(const std::string& directory) {
  std::error_code ignored;
  const fs::path at = directory;
  return fs::is_regular_file(at / "SANDBOX.md", ignored) || fs::is_directory(at / ".cordon", ignored) ||
         fs::exists(at / ".git", ignored);
}

std::string nearest_workspace(const std::string& cwd) {
  for (fs::path at = cwd;; at = at.parent_path()) {
    if (is_marked_workspace(at.string())) return at.string();
    if (at == at.parent_path()) return cwd;
  }
}

}  // namespace cordon::config
