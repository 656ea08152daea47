#include "sandbox/container/layout.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "sandbox/native/draft.h"
#include "sandbox/native/root_tree.h"
#include "sandbox/native/session_dirs.h"
#include "sys/fd.h"

namespace cordon::sandbox::container {

namespace {

bool is_inside(std::string_view path, std::string_view directory) {
  return path.starts_with(directory) && path.size() > directory.size() && path[directory.size()] == '/';
}

sys::Fd open_strictly(int directory, const std::string& path, int flags, std::uint64_t resolve) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.resolve = resolve | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return sys::Fd(static_cast<int>(::syscall(SYS_openat2, directory, path.c_str(), &how, sizeof how)));
}

class Drafter {
 public:
  Drafter(const Profile& profile, const Stage& stage, const std::string& state_directory)
      : stage_(stage), state_directory_(state_directory) {
    layout_.profile = profile;
  }

  Result<Layout> draft() {
    CHECK_OK(check_offered(layout_.profile));
    if (!layout_.profile.program.shell_text && layout_.profile.program.argv.empty()) {
      return fail(Fault::invalid_input, "there is no program to run");
    }
    CHECK_OK(add_session());
    CHECK_OK(add_workspace());
    CHECK_OK(add_binds());
    CHECK_OK(make_mount_points());
    add_command();
    return std::move(layout_);
  }

 private:
  void add(Place place) { layout_.places.push_back(std::move(place)); }

  /// HOME and /tmp are directories of the host in every case, so that what they may hold is watched in every case.
  Result<void> add_session() {
    SessionDirectory& session = layout_.profile.session;
    if (session.path.empty()) session.path = stage_.path() + "/session";
    const auto directories = TRY(native::prepare_session(session, layout_.profile.workspace.path));
    home_ = session.home.empty() ? native::home_directory : session.home;
    add({directories.home, native::home_directory, true, true, false});
    if (home_ != native::home_directory) add({directories.home, home_, true, true, false});
    add({directories.temporary, "/tmp", true, true, false});
    return {};
  }

  Result<void> add_workspace() {
    Workspace& workspace = layout_.profile.workspace;
    if (workspace.access == WorkspaceAccess::none) return {};
    struct stat status {};
    if (::stat(workspace.path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
      return fail(Fault::invalid_input, "workspace {} is not a directory", workspace.path);
    }
    if (workspace.access == WorkspaceAccess::overlay) return add_copy();
    const bool writable = workspace.access == WorkspaceAccess::rw;
    Workspace guarded = workspace;
    if (!writable) guarded.protected_paths.clear();
    if (!guarded.protected_paths.empty() || !guarded.hidden_paths.empty()) {
      layout_.placeholders.emplace(TRY(native::PlaceholderHold::take(guarded, state_directory_)));
    }
    for (const std::string& target : {workspace.path, std::string(writable ? "/workspace" : "/agent")}) {
      if (is_taken(target)) continue;
      add({workspace.path, target, writable, true, false});
      if (layout_.placeholders) CHECK_OK(add_protected(target, writable));
    }
    return {};
  }

  /// Each directory on the way is a mount too, so that none can be moved away.
  Result<void> add_protected(const std::string& target, bool writable) {
    const std::string& base = layout_.profile.workspace.path;
    std::set<std::string> held;
    for (const native::ProtectedPath& path : layout_.placeholders->paths()) {
      for (const std::string& ancestor : path.ancestors) {
        if (writable && held.insert(ancestor).second)
          add({base + "/" + ancestor, target + "/" + ancestor, true, true, false});
      }
      if (path.hidden) {
        add({TRY(empty(path.directory)), target + "/" + path.path, false, path.directory, true});
      } else {
        add({base + "/" + path.path, target + "/" + path.path, false, path.directory, false});
      }
    }
    return {};
  }

  /// Container runtimes have no common word for an overlay, and some have none.
  Result<void> add_copy() {
    Workspace& workspace = layout_.profile.workspace;
    const std::string copy = TRY(stage_.make_directory("workspace"));
    CHECK_OK(copy_tree(workspace.path, copy, workspace.hidden_paths, layout_.profile.limits));
    workspace.upper = copy;  // so that it is watched
    add({copy, workspace.path, true, true, false});
    if (!is_taken("/workspace")) add({copy, "/workspace", true, true, false});
    return {};
  }

  Result<std::string> empty(bool directory) {
    std::string& path = directory ? empty_directory_ : empty_file_;
    if (path.empty()) path = directory ? TRY(stage_.make_directory("nothing")) : TRY(stage_.write("empty", ""));
    return path;
  }

  Result<void> add_binds() {
    for (const Bind& bind : layout_.profile.binds) {
      struct stat status {};
      if (!bind.source.starts_with("/") || !bind.target.starts_with("/")) {
        return fail(Fault::invalid_input, "bind {}:{} needs absolute paths", bind.source, bind.target);
      }
      if (::lstat(bind.source.c_str(), &status) != 0) {
        return fail(Fault::invalid_input, "bind {}: {}", bind.source, std::strerror(errno));
      }
      add({bind.source, bind.target, bind.access == Bind::Access::rw, S_ISDIR(status.st_mode), false});
    }
    return {};
  }

  bool is_taken(const std::string& target) const {
    return std::ranges::any_of(layout_.places, [&](const Place& place) { return place.target == target; });
  }

  /// A target inside HOME or /tmp needs something to be mounted on, which a runtime would make as root. Everything in
  /// there is the sandbox's: no link of its making is followed.
  Result<void> make_mount_points() {
    for (std::size_t i = 0; i < layout_.places.size(); ++i) {
      const Place& place = layout_.places[i];
      for (std::size_t j = i; j-- > 0;) {
        const Place& below = layout_.places[j];
        if (!is_inside(place.target, below.target)) continue;
        const bool of_session = below.source.starts_with(layout_.profile.session.path);
        if (of_session)
          CHECK_OK(make_point(below.source, place.target.substr(below.target.size() + 1), place.directory));
        break;
      }
    }
    return {};
  }

  static Result<void> make_point(const std::string& directory, const std::string& path, bool is_directory) {
    const sys::Fd root(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    for (std::size_t slash = path.find('/');; slash = path.find('/', slash + 1)) {
      const std::string part = path.substr(0, slash);
      const bool last = slash == std::string::npos;
      const sys::Fd there = open_strictly(root.get(), part, O_PATH, RESOLVE_BENEATH);
      if (there.get() < 0 && errno != ENOENT) {
        return fail(Fault::conflict, "the session's own files are in the way of {}: {} (cordon sandbox recreate)", path,
                    std::strerror(errno));
      }
      if (there.get() < 0) {
        const std::size_t cut = part.rfind('/');
        const sys::Fd parent = open_strictly(root.get(), cut == std::string::npos ? "." : part.substr(0, cut),
                                             O_PATH | O_DIRECTORY, RESOLVE_BENEATH);
        const char* name = part.c_str() + (cut == std::string::npos ? 0 : cut + 1);
        const int made = last && !is_directory
                             ? ::openat(parent.get(), name, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0644)
                             : ::mkdirat(parent.get(), name, 0755);
        if (made < 0) return fail(Fault::unavailable, "{} in {}: {}", part, directory, std::strerror(errno));
        if (made > 0) ::close(made);
      }
      if (last) return {};
    }
  }

  void add_command() {
    const Profile& profile = layout_.profile;
    native::Command& command = layout_.command;
    command.arguments = native::arguments_of(profile);
    command.environment = native::environment_of(profile, home_, "/tmp");
    command.cwd = !profile.cwd.empty()                                ? profile.cwd
                  : profile.workspace.access != WorkspaceAccess::none ? profile.workspace.path
                                                                      : home_;
    command.flags = native::order_linger;
  }

  const Stage& stage_;
  const std::string& state_directory_;
  Layout layout_;
  std::string home_;
  std::string empty_file_;
  std::string empty_directory_;
};

}  // namespace

Result<void> check_offered(const Profile& profile) {
  const auto native_alone = [](std::string_view what) {
    return fail(Fault::unavailable, "{} is given by the native backend alone: use --backend native", what);
  };
  const Workspace& workspace = profile.workspace;
  if (profile.tty) return native_alone("a terminal of its own");
  if (profile.network == Network::rules) return native_alone("the network, host by host,");
  if (!profile.published.empty()) return native_alone("a published port");
  if (workspace.handed_over || !workspace.upper.empty() || profile.session.throwaway) return native_alone("a preview");
  return {};
}

Result<Layout> lay_out(const Profile& profile, const Stage& stage, const std::string& state_directory) {
  return Drafter(profile, stage, state_directory).draft();
}

std::string passwd_for(const Identity& identity) {
  const std::string root = identity.uid == 0 ? "" : "root:x:0:0:root:/nonexistent:/usr/sbin/nologin\n";
  return fmt::format("{0}{1}:x:{2}:{3}:{1}:{4}:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
                     root, native::user_name, identity.uid, identity.gid, native::home_directory);
}

std::string group_for(const Identity& identity) {
  const std::string root = identity.gid == 0 ? "" : "root:x:0:\n";
  return fmt::format("{}{}:x:{}:\nnogroup:x:65534:\n", root, native::user_name, identity.gid);
}

std::vector<std::string> masked_paths() {
  return {"/proc/acpi", "/proc/asound", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list",
          "/proc/timer_stats", "/proc/sched_debug", "/proc/scsi", "/proc/kallsyms", "/proc/kpagecount",
          "/proc/kpageflags", "/proc/vmallocinfo", "/proc/pagetypeinfo", "/proc/cmdline", "/proc/config.gz",
          "/proc/interrupts", "/proc/iomem", "/proc/ioports", "/proc/kmsg", "/proc/modules", "/proc/driver",
          "/proc/bus", "/proc/sys/kernel/random/boot_id",
          // All of it: the machine's devices, and the control groups of everybody.
          "/sys"};
}

std::vector<std::string> read_only_paths() { return {"/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"}; }

Result<std::string> place_as_seen(const Place& place, MountedBy by) {
  const sys::Fd there = open_strictly(AT_FDCWD, place.source, O_PATH, 0);
  struct stat status {};
  if (there.get() < 0 || ::fstat(there.get(), &status) != 0) {
    return fail(Fault::conflict, "{}: a symbolic link is on the way, or it is gone ({})", place.source,
                std::strerror(errno));
  }
  unsigned long flags = place.writable ? 0 : native::place_read_only;
  if (by == MountedBy::us) flags |= native::place_no_suid | native::place_no_dev;
  return fmt::format("{} {} {} {}", status.st_dev, status.st_ino, flags, place.target);
}

}  // namespace cordon::sandbox::container
