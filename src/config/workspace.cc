#include "config/workspace.h"

#include <filesystem>

namespace cordon::config {

namespace fs = std::filesystem;

std::string nearest_workspace(const std::string& cwd) {
  std::error_code ignored;
  for (fs::path at = cwd;; at = at.parent_path()) {
    if (fs::is_regular_file(at / "SANDBOX.md", ignored) || fs::is_directory(at / ".cordon", ignored) ||
        fs::exists(at / ".git", ignored)) {
      return at.string();
    }
    if (at == at.parent_path()) return cwd;
  }
}

}  // namespace cordon::config
