#include "sandbox/native/user_namespace.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sandbox/native/child.h"
#include "sys/clone.h"

namespace cordon::sandbox::native {

using namespace sys;

void choose_identity(Blueprint& blueprint) {
  const bool root = ::geteuid() == 0;
  blueprint.host_uid = root ? unowned_id : ::geteuid();
  blueprint.host_gid = root ? unowned_id : ::getegid();
  blueprint.started_by_root = root;
  blueprint.maps_written_by_launcher = root && blueprint.ladder.user_namespace;
  blueprint.uid_map = fmt::format("{} {} 1\n", inner_id, blueprint.host_uid);
  blueprint.gid_map = fmt::format("{} {} 1\n", inner_id, blueprint.host_gid);
}

namespace {

Result<void> write_proc(int pid, const char* name, const std::string& text) {
  const std::string path = fmt::format("/proc/{}/{}", pid, name);
  Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.get() < 0 || ::write(file.get(), text.data(), text.size()) < 0) {
    return fail(Fault::unavailable, "write {}: {}", path, std::strerror(errno));
  }
  return {};
}

bool write_own(Child& child, const char* path, const std::string& text) {
  long fd = raw::open(AT_FDCWD, path, O_WRONLY);
  if (!child.ok(fd, "open", path)) return false;
  long written = raw::write(fd, text.data(), static_cast<long>(text.size()));
  raw::close(fd);
  return child.ok(written, "write id map", path);
}

/// After a change of uid without a user namespace: the mounts to come still need what was kept.
long raise_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2] = {};
  long result = raw::call(SYS_capget, raw::address(&header), raw::address(sets));
  if (result < 0) return result;
  for (auto& set : sets) set.effective = set.permitted;
  return raw::call(SYS_capset, raw::address(&header), raw::address(sets));
}

/// Keeps a user namespace until the launcher has opened it, and never longer than the launcher lives.
void wait_to_be_killed(void* launcher) {
  raw::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // It may have died before that.
  if (raw::call(SYS_getppid) != *static_cast<const pid_t*>(launcher)) return;
  for (;;) raw::call(SYS_pause);
}

}  // namespace

Result<void> write_maps(int pid, const Blueprint& blueprint) {
  CHECK_OK(write_proc(pid, "uid_map", blueprint.uid_map));
  return write_proc(pid, "gid_map", blueprint.gid_map);
}

Result<Fd> mapping_namespace(std::uint32_t owner_uid, std::uint32_t owner_gid, const Blueprint& blueprint) {
  ChildStack stack = TRY(ChildStack::create(16384));
  CloneArguments arguments;
  arguments.flags = CLONE_NEWUSER | CLONE_VM;
  arguments.stack = stack.base();
  arguments.stack_size = stack.size();
  pid_t launcher = ::getpid();
  long pid = cordon_clone3_call(&arguments, sizeof arguments, wait_to_be_killed, &launcher);
  if (pid < 0)
    return fail(Fault::unavailable, "clone3 of a user namespace for an id-mapped mount: {}",
                std::strerror(static_cast<int>(-pid)));
  const int child = static_cast<int>(pid);
  auto written = write_proc(child, "uid_map", fmt::format("{} {} 1\n", owner_uid, blueprint.host_uid));
  if (written) written = write_proc(child, "gid_map", fmt::format("{} {} 1\n", owner_gid, blueprint.host_gid));
  Fd opened(::open(fmt::format("/proc/{}/ns/user", child).c_str(), O_RDONLY | O_CLOEXEC));
  const int error = errno;
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, __WALL);
  if (!written) return tl::make_unexpected(written.error());
  if (opened.get() < 0) return fail(Fault::unavailable, "open a user namespace: {}", std::strerror(error));
  return opened;
}

bool become_user(Child& child) {
  const Blueprint& plan = child.plan;
  if (plan.skeleton_ready) return true;  // it entered as that user
  if (plan.ladder.user_namespace && !plan.maps_written_by_launcher) {
    return write_own(child, "/proc/self/setgroups", "deny") && write_own(child, "/proc/self/uid_map", plan.uid_map) &&
           write_own(child, "/proc/self/gid_map", plan.gid_map);
  }
  if (plan.ladder.user_namespace) {
    char byte;
    long got = raw::call(SYS_read, plan.go, raw::address(&byte), 1);
    if (!child.ok(got == 1 ? 0 : -EPIPE, "wait for id maps")) return false;
  }
  if (!plan.ladder.user_namespace && !plan.started_by_root) return true;
  const long id = plan.ladder.user_namespace ? inner_id : plan.host_uid;
  const long group = plan.ladder.user_namespace ? inner_id : plan.host_gid;
  // Without a user namespace the capabilities are needed for the mounts and survive until drop_capabilities.
  raw::prctl(8 /* PR_SET_KEEPCAPS */, 1);
  if (!child.ok(raw::call(SYS_setgroups, 0, 0), "setgroups")) return false;
  if (!child.ok(raw::call(SYS_setresgid, group, group, group), "setresgid")) return false;
  if (!child.ok(raw::call(SYS_setresuid, id, id, id), "setresuid")) return false;
  return plan.ladder.user_namespace || child.ok(raise_capabilities(), "capset");
}

}  // namespace cordon::sandbox::native
