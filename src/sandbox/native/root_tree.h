// Which files of the host make up the root of a sandbox: an allowlist. Nothing of anybody's home is on it.
#pragma once

#include <string>
#include <vector>

namespace cordon::sandbox::native {

class Child;

/// What the host has of the allowlist, looked up once.
struct RootTree {
  struct Entry {
    enum class Kind { directory, file, link } kind;
    std::string path;  // absolute, inside as on the host
    std::string link;  // target of a symbolic link that is copied
  };
  struct Generated {
    std::string path;
    std::string content;
  };
  std::vector<std::string> directories;  // made empty, outermost first
  std::vector<Entry> entries;
  std::vector<Generated> files;

  static RootTree discover();
};

constexpr const char* user_name = "sandboxuser";
constexpr const char* home_directory = "/home/sandboxuser";

/// In the child: a new file system becomes the root, filled from the allowlist, with the host's files at /.host for as
/// long as they are needed.
bool build_root(Child& child);
/// In the child: nothing of the host is needed any more, its files may go; the root becomes read-only.
bool seal_root(Child& child);

}  // namespace cordon::sandbox::native
