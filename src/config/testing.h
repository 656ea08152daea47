// A workspace, home and state directory of a test's own.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "config/load.h"

namespace cordon {
extern const char* const source_directory;  // defined by cmake/Layer.cmake
}

namespace cordon::config {

class Room {
 public:
  Room() {
    std::string pattern = (std::filesystem::temp_directory_path() / "cordon-config-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    for (const char* part : {"work", "home", "state"}) std::filesystem::create_directories(root_ / part);
    std::filesystem::permissions(root_ / "state", std::filesystem::perms::owner_all);
  }
  ~Room() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  std::string workspace() const { return (root_ / "work").string(); }
  std::string home() const { return (root_ / "home").string(); }
  std::string state() const { return (root_ / "state").string(); }
  std::string path(const std::string& name) const { return (root_ / name).string(); }

  Sources sources() const {
    return {.workspace = workspace(),
            .home = home(),
            .user_file = home() + "/.config/cordon/config.json5",
            .extra_files = extra_,
            .state_dir = state(),
            .engine_sockets = {}};
  }

  /// Below the workspace.
  void write(const std::string& name, std::string_view text) const { write_at(workspace() + "/" + name, text); }
  void write_user_file(std::string_view text) const { write_at(home() + "/.config/cordon/config.json5", text); }
  void write_extra(const std::string& name, std::string_view text) {
    write_at(path(name), text);
    extra_.push_back(path(name));
  }
  void write_at(const std::string& file, std::string_view text) const {
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }

  /// Trusts both workspace files as they are now.
  void trust_all() const {
    const auto previews = preview_trust(sources());
    ASSERT_TRUE(previews) << previews.error().sentence;
    for (const TrustPreview& preview : *previews) ASSERT_TRUE(trust(sources(), preview, SystemClock().now()));
  }

  /// A file of tests/config/data.
  static std::string data(const std::string& name) {
    std::ifstream file(std::string(source_directory) + "/tests/config/data/" + name, std::ios::binary);
    EXPECT_TRUE(file) << name;
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::filesystem::path root_;
  std::vector<std::string> extra_;
};

}  // namespace cordon::config
