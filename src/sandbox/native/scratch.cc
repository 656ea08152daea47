#include "sandbox/native/scratch.h"

#include "sandbox/native/child.h"
#include "sandbox/native/mounts.h"
#include "sandbox/native/workspace.h"

namespace cordon::sandbox::native {

using namespace sys;

namespace {

bool make_directories(Child& child) {
  struct Directory {
    const char* path;
    int mode;
  };
  constexpr Directory directories[] = {{"/.scratch/tmp", 01777}, {"/.scratch/shm", 01777}, {"/.scratch/home", 0700},
                                       {"/.scratch/upper", 0755}, {"/.scratch/work", 0755}, {"/.scratch/mounts", 0755}};
  for (const Directory& directory : directories) {
    if (!child.ok(raw::mkdir(AT_FDCWD, directory.path, directory.mode), "mkdir", directory.path)) return false;
  }
  return true;
}

bool place_session_directory(Child& child, const std::string& source, int prepared, const char* target) {
  if (prepared >= 0) return attach(child, prepared, target, guarded);
  long directory = open_resolved(child, source.c_str());
  if (!child.ok(directory, "open session directory", source.c_str())) return false;
  bool bound = bind(child, static_cast<int>(directory), "", target, guarded);
  raw::close(directory);
  return bound;
}

bool write_gitconfig(Child& child) {
  if (child.plan.gitconfig.empty()) return true;
  long fd = raw::open(AT_FDCWD, "/.scratch/home/.gitconfig", O_WRONLY | O_CREAT | O_EXCL, 0644);
  if (!child.ok(fd, "create", "~/.gitconfig")) return false;
  long written = raw::write(fd, child.plan.gitconfig.data(), static_cast<long>(child.plan.gitconfig.size()));
  raw::close(fd);
  return child.ok(written, "write", "~/.gitconfig");
}

}  // namespace

bool place_scratch(Child& child) {
  if (!mount_memory(child, "/.scratch", child.plan.scratch_options.c_str())) return false;
  raw::call(SYS_umask, 0);
  bool made = make_directories(child);
  raw::call(SYS_umask, 022);
  if (!made || !make_mount_points(child)) return false;
  if (!bind(child, AT_FDCWD, "/.scratch/shm", "/dev/shm", guarded | raw::mount_no_exec)) return false;
  if (child.plan.tmp_source.empty()) {
    if (!bind(child, AT_FDCWD, "/.scratch/tmp", "/tmp", guarded)) return false;
  } else if (!place_session_directory(child, child.plan.tmp_source, child.plan.tmp_tree, "/tmp")) {
    return false;
  }
  if (!child.plan.home_source.empty()) {
    return place_session_directory(child, child.plan.home_source, child.plan.home_tree, home_directory);
  }
  return write_gitconfig(child) && bind(child, AT_FDCWD, "/.scratch/home", home_directory, guarded);
}

}  // namespace cordon::sandbox::native
