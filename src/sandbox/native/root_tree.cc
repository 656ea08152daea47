#include "sandbox/native/root_tree.h"

#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "sandbox/native/child.h"
#include "sandbox/native/mounts.h"
#include "sys/directory.h"
#include "sys/file.h"

namespace cordon::sandbox::native {

using namespace sys;

namespace {

// On a merged /usr most of these are links and cost no mount.
constexpr const char* system_paths[] = {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};

// What programs read from /etc to work at all. Left out on purpose: everything that names users, hosts, mounts, keys or
// services of this machine, and gitconfig, npmrc, pip.conf, netrc, which may hold credentials.
constexpr const char* etc_names[] = {
    "alternatives", "crypto-policies", "fonts", "ld.so.cache", "locale.alias", "localtime", "matplotlibrc",
    "mime.types",   "os-release",      "pki",   "protocols",   "services",     "ssl",       "timezone",
};
constexpr std::string_view etc_prefixes[] = {"java-"};
// Smaller files are copied: that costs less than a mount.
constexpr off_t small = 128 * 1024;

/// The wanted names that only a look at the directory tells.
std::vector<std::string> found_by_prefix(const char* directory) {
  const auto opened = sys::Directory::open(directory);
  auto names = opened ? opened->list() : tl::make_unexpected(opened.error());
  if (!names) return {};
  std::erase_if(*names, [](const std::string& name) {
    return std::ranges::none_of(etc_prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
  });
  return *std::move(names);
}

void add_entry(RootTree& tree, const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return;
  RootTree::Entry entry{RootTree::Entry::Kind::file, path, ""};
  if (S_ISLNK(status.st_mode)) {
    std::error_code error;
    entry.kind = RootTree::Entry::Kind::link;
    entry.link = std::filesystem::read_symlink(path, error);
    if (error) return;
  } else if (S_ISDIR(status.st_mode)) {
    entry.kind = RootTree::Entry::Kind::directory;
  } else if (!S_ISREG(status.st_mode)) {
    return;
  } else if (status.st_size <= small && path != "/etc/ld.so.cache") {
    if (auto content = sys::read_file(path, small)) tree.files.push_back({path, *content});
    return;
  }
  tree.entries.push_back(std::move(entry));
}

RootTree::Generated passwd_file() {
  std::string user(user_name);
  return {"/etc/passwd", "root:x:0:0:root:/nonexistent:/usr/sbin/nologin\n" + user + ":x:1000:1000:" + user + ":" +
                             home_directory +
                             ":/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"};
}

}  // namespace

RootTree RootTree::discover() {
  RootTree tree;
  tree.directories = {"/etc", "/proc", "/dev",         "/dev/pts", "/dev/shm",   "/tmp",   "/var",
                      "/run", "/home", home_directory, "/root",    "/workspace", "/agent", "/.lower"};
  for (const char* path : system_paths) add_entry(tree, path);
  for (const char* name : etc_names) add_entry(tree, std::string("/etc/") + name);
  for (const std::string& name : found_by_prefix("/etc")) add_entry(tree, "/etc/" + name);
  tree.entries.push_back({Entry::Kind::link, "/var/tmp", "/tmp"});
  const std::vector<Generated> generated = {
      passwd_file(),
      {"/etc/group", std::string("root:x:0:\n") + user_name + ":x:1000:\nnogroup:x:65534:\n"},
      {"/etc/hosts", "127.0.0.1 localhost sandbox\n::1 localhost sandbox\n"},
      {"/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n"},
      {"/.empty", ""},
  };
  tree.files.insert(tree.files.end(), generated.begin(), generated.end());
  return tree;
}

namespace {

// Where the new root is built before it becomes the root: a directory that exists everywhere and holds nothing that the
// building needs. After the pivot it is uncovered again.
constexpr const char* building_site = "/proc";

bool start_building(Child& child) {
  if (!child.ok(raw::mount("", "/", "", MS_REC | MS_PRIVATE, nullptr), "make mounts private", "/")) return false;
  if (!mount_memory(child, building_site, "size=8m,nr_inodes=4096,mode=755")) return false;
  return child.ok(raw::call(SYS_chdir, raw::address(building_site)), "chdir", building_site);
}

/// One call makes everything read-only that was placed so far.
bool finish_building(Child& child) {
  std::uint64_t flags = guarded_read_only;
  if (child.plan.weakened.read_only()) flags &= ~raw::mount_read_only;
  if (child.plan.weakened.mount_flags()) flags &= ~guarded;
  if (!child.ok(raw::mkdir(AT_FDCWD, ".host", 0755), "mkdir", ".host")) return false;
  const raw::MountAttributes change{.set = flags};
  if (flags && !child.ok(raw::mount_setattr(AT_FDCWD, ".", raw::at_recursive, change), "mount_setattr", "/"))
    return false;
  const raw::MountAttributes writable{.clear = raw::mount_read_only};
  if (flags && !child.ok(raw::mount_setattr(AT_FDCWD, ".", 0, writable), "mount_setattr", "/")) return false;
  if (!child.ok(raw::call(SYS_pivot_root, raw::address("."), raw::address(".host")), "pivot_root")) return false;
  return child.ok(raw::call(SYS_chdir, raw::address("/")), "chdir", "/");
}

bool write_file(Child& child, const char* path, const std::string& content) {
  long fd = raw::open(AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644);
  if (!child.ok(fd, "create", path)) return false;
  long written = raw::write(fd, content.data(), static_cast<long>(content.size()));
  raw::close(fd);
  return child.ok(written, "write", path);
}

/// In the directory of the new root, relative to it.
bool place(Child& child, const RootTree::Entry& entry) {
  const char* path = entry.path.c_str() + 1;
  switch (entry.kind) {
    case RootTree::Entry::Kind::link:
      return child.ok(raw::symlink(entry.link.c_str(), AT_FDCWD, path), "symlink", path);
    case RootTree::Entry::Kind::directory:
      if (!child.ok(raw::mkdir(AT_FDCWD, path, 0755), "mkdir", path)) return false;
      break;
    case RootTree::Entry::Kind::file: {
      long fd = raw::open(AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644);
      if (!child.ok(fd, "create", path)) return false;
      raw::close(fd);
      break;
    }
  }
  return bind(child, AT_FDCWD, entry.path.c_str(), path, 0);
}

bool fill_root(Child& child) {
  for (const std::string& directory : child.plan.root_tree->directories) {
    const char* path = directory.c_str() + 1;
    if (!child.ok(raw::mkdir(AT_FDCWD, path, 0755), "mkdir", path)) return false;
  }
  for (const RootTree::Entry& entry : child.plan.root_tree->entries) {
    if (!place(child, entry)) return false;
  }
  for (const RootTree::Generated& file : child.plan.root_tree->files) {
    if (!write_file(child, file.path.c_str() + 1, file.content)) return false;
  }
  return true;
}

}  // namespace

bool build_root(Child& child) {
  if (!child.plan.skeleton_ready) {
    if (!start_building(child) || !fill_root(child) || !finish_building(child)) return false;
  }
  long host = raw::open(AT_FDCWD, "/.host", O_PATH | O_DIRECTORY);
  if (!child.ok(host, "open", "/.host")) return false;
  child.host = static_cast<int>(host);
  return true;
}

bool seal_root(Child& child) {
  raw::close(child.host);
  child.host = -1;
  if (child.plan.weakened.read_only()) return true;
  const raw::MountAttributes read_only{.set = raw::mount_read_only};
  return child.ok(raw::mount_setattr(AT_FDCWD, "/", 0, read_only), "make the root read-only", "/");
}

}  // namespace cordon::sandbox::native
