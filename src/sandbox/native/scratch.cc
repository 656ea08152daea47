#include "sandbox/native/scratch.h"

#include <sys/mount.h>

#include <span>

#include "sandbox/native/child.h"
#include "sandbox/native/mounts.h"
#include "sandbox/native/workspace.h"

namespace cordon::sandbox::native {

using namespace sys;

namespace {

struct Directory {
  const char* path;
  int mode;
};
constexpr Directory always[] = {{"/.host/proc/tmp", 01777}, {"/.host/proc/shm", 01777}, {"/.host/proc/home", 0700}};
constexpr Directory for_shared_root[] = {{"/.host/proc/mounts", 0755}};
constexpr Directory for_overlay[] = {
    {"/.host/proc/upper", 0755}, {"/.host/proc/work", 0755}, {"/.host/proc/lower", 0755}, {"/.host/proc/layers", 0755}};

bool make_directories(Child& child, std::span<const Directory> directories) {
  for (const Directory& directory : directories) {
    if (!child.ok(raw::mkdir(AT_FDCWD, directory.path, directory.mode), "mkdir", directory.path)) return false;
  }
  return true;
}

struct SessionPlace {
  const std::string* source;
  int prepared;
  const char* target;
  const char* lower;  // where its layers are, if it is a throwaway view
  const char* work;
  const char* options;
};

bool place_session_directory(Child& child, const std::string& source, int prepared, const char* target,
                             std::uint64_t attributes) {
  if (prepared >= 0) return attach(child, prepared, target, attributes);
  long directory = open_resolved(child, source.c_str());
  if (!child.ok(directory, "open session directory", source.c_str())) return false;
  bool bound = bind(child, static_cast<int>(directory), "", target, attributes);
  raw::close(directory);
  return bound;
}

/// The lower layer is attached where the upper one is made, in the memory that goes with the run.
bool cover_with_memory(Child& child, const SessionPlace& place) {
  for (const char* directory : {place.lower, place.work}) {
    if (!child.ok(raw::mkdir(AT_FDCWD, directory, 0755), "mkdir", directory)) return false;
  }
  if (!place_session_directory(child, *place.source, place.prepared, place.lower, guarded_read_only)) return false;
  return child.ok(raw::mount("overlay", place.target, "overlay", MS_NOSUID | MS_NODEV, place.options), "mount overlay",
                  place.target);
}

bool place_session_directory(Child& child, const SessionPlace& place) {
  if (child.plan.session_throwaway) return cover_with_memory(child, place);
  return place_session_directory(child, *place.source, place.prepared, place.target, guarded);
}

bool write_gitconfig(Child& child) {
  if (child.plan.gitconfig.empty()) return true;
  long fd = raw::open(AT_FDCWD, "/.host/proc/home/.gitconfig", O_WRONLY | O_CREAT | O_EXCL, 0644);
  if (!child.ok(fd, "create", "~/.gitconfig")) return false;
  long written = raw::write(fd, child.plan.gitconfig.data(), static_cast<long>(child.plan.gitconfig.size()));
  raw::close(fd);
  return child.ok(written, "write", "~/.gitconfig");
}

bool place_home(Child& child) {
  if (!child.plan.home_source.empty()) {
    return place_session_directory(child, {&child.plan.home_source, child.plan.home_tree, home_directory,
                                           "/.host/proc/home-lower", "/.host/proc/home-work",
                                           "userxattr,lowerdir=/.host/proc/home-lower,upperdir=/.host/proc/home,"
                                           "workdir=/.host/proc/home-work"});
  }
  return write_gitconfig(child) && bind(child, AT_FDCWD, "/.host/proc/home", home_directory, 0);
}

bool alias_home(Child& child) {
  const char* alias = child.plan.home_alias.c_str();
  if (!*alias) return true;
  return make_target(child, "", alias, true) && bind(child, AT_FDCWD, home_directory, alias, 0);
}

}  // namespace

bool mount_scratch(Child& child) {
  if (!mount_memory(child, scratch_root, child.plan.scratch_options.c_str())) return false;
  raw::call(SYS_umask, 0);
  const bool made =
      make_directories(child, always) && (!child.plan.skeleton_ready || make_directories(child, for_shared_root));
  raw::call(SYS_umask, 022);
  return made;
}

// The copies of the memory file system's directories inherit its nosuid and nodev.
bool place_scratch(Child& child) {
  if (child.plan.overlay && !make_directories(child, for_overlay)) return false;
  if (!make_mount_points(child)) return false;
  if (!bind(child, AT_FDCWD, "/.host/proc/shm", "/dev/shm", guarded | raw::mount_no_exec)) return false;
  if (child.plan.tmp_source.empty()) {
    if (!bind(child, AT_FDCWD, "/.host/proc/tmp", "/tmp", 0)) return false;
  } else if (!place_session_directory(child, {&child.plan.tmp_source, child.plan.tmp_tree, "/tmp",
                                              "/.host/proc/tmp-lower", "/.host/proc/tmp-work",
                                              "userxattr,lowerdir=/.host/proc/tmp-lower,upperdir=/.host/proc/tmp,"
                                              "workdir=/.host/proc/tmp-work"})) {
    return false;
  }
  return place_home(child) && alias_home(child);
}

}  // namespace cordon::sandbox::native
