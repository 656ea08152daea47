// Two directories that stand for the layers of an overlay, and what a kernel would have left in the upper one.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/clock.h"
#include "sandbox/preview/collect.h"
#include "sandbox/preview/store.h"

namespace cordon::sandbox::preview::testing {

namespace fs = std::filesystem;

class Stage {
 public:
  Stage() {
    std::string pattern = fs::temp_directory_path() / "cordon-preview-XXXXXX";
    root_ = ::mkdtemp(pattern.data());
    for (const char* name : {"upper", "work", "state"}) fs::create_directory(root_ / name);
    fs::permissions(root_ / "state", fs::perms::owner_all);
  }
  ~Stage() {
    std::error_code ignored;
    for (const auto& item : fs::recursive_directory_iterator(root_, ignored)) {
      if (item.is_directory(ignored) && !item.is_symlink(ignored)) fs::permissions(item, fs::perms::owner_all, ignored);
    }
    fs::remove_all(root_, ignored);
  }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  fs::path upper(const std::string& path = "") const { return root_ / "upper" / path; }
  fs::path work(const std::string& path = "") const { return root_ / "work" / path; }
  std::string state() const { return root_ / "state"; }

  static void write(const fs::path& path, const std::string& content, unsigned mode = 0644) {
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
    ::chmod(path.c_str(), mode);
  }
  static std::string read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  static bool whiteout(const fs::path& path) {
    fs::create_directories(path.parent_path());
    return ::mknod(path.c_str(), S_IFCHR | 0600, makedev(0, 0)) == 0;
  }
  static bool opaque(const fs::path& path) {
    fs::create_directories(path);
    return ::setxattr(path.c_str(), "user.overlay.opaque", "y", 1, 0) == 0;
  }

  Result<ChangeList> collect(const CollectLimits& limits = {}, std::vector<std::string> protected_paths = {},
                             const Sink& keep = {}) const {
    const sys::Fd upper_fd(::open(upper().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    const sys::Fd lower_fd(::open(work().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    return preview::collect(
        {.upper = upper_fd, .lower = lower_fd, .protected_paths = std::move(protected_paths), .begun_ns = begun_ns},
        limits, keep);
  }

  Result<Preview> keep(const Store& store, std::vector<std::string> protected_paths = {}) const {
    auto draft = TRY(store.begin());
    Preview preview{.workspace = work()};
    while (preview.workspace.ends_with('/')) preview.workspace.pop_back();
    preview.plan = Json::object();
    preview.result = Json::object();
    preview.list = TRY(collect({}, std::move(protected_paths), draft.sink()));
    CHECK_OK(store.keep(std::move(draft), preview, Store::Asked::dry));
    return preview;
  }

  std::int64_t begun_ns = INT64_MAX;

 private:
  fs::path root_;
};

}  // namespace cordon::sandbox::preview::testing
