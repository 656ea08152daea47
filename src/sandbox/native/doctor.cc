#include "sandbox/native/doctor.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

#include "sandbox/native/cgroup.h"
#include "sandbox/native/draft.h"
#include "sandbox/native/launcher.h"
#include "sandbox/native/level.h"
#include "sandbox/native/pid1_image.h"
#include "sys/file.h"
#include "sys/landlock.h"
#include "sys/own_program.h"

namespace cordon::sandbox::native {

namespace {

/// All that start sandboxes, as a pattern of paths.
std::string own_programs() {
  const auto place = sys::beside_own_program("");
  const std::string bin = place ? *place : "/usr/bin/";
  return fmt::format("{{{}cordon,{}libexec/cordon/cordon-exec}}", bin, bin.substr(0, bin.rfind("bin/")));
}

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// Runs `attempt` in a child; the errno it ends with, 0 when it worked.
int in_child(const std::function<int()>& attempt) {
  const pid_t pid = ::fork();
  if (pid < 0) return errno;
  if (pid == 0) ::_exit(attempt());
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

int enter_user_namespace() {
  const uid_t uid = ::geteuid();
  if (::unshare(CLONE_NEWUSER) != 0) return errno;
  auto write = [](const char* path, const std::string& text) {
    const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
    return fd >= 0 && ::write(fd, text.data(), text.size()) >= 0;
  };
  if (!write("/proc/self/setgroups", "deny")) return errno;
  return write("/proc/self/uid_map", fmt::format("1000 {} 1\n", uid)) ? 0 : errno;
}

std::string user_namespace_fix() {
  if (first_line("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1") {
    return "AppArmor restricts user namespaces here (Ubuntu 23.10 and later). As root, write this to "
           "/etc/apparmor.d/cordon and "
           "run `apparmor_parser -r /etc/apparmor.d/cordon`:\n" +
           apparmor_profile(own_programs());
  }
  if (first_line("/proc/sys/kernel/unprivileged_userns_clone") == "0") {
    return "As root: sysctl -w kernel.unprivileged_userns_clone=1 (and write it to /etc/sysctl.d/)";
  }
  if (first_line("/proc/sys/user/max_user_namespaces") == "0")
    return "As root: sysctl -w user.max_user_namespaces=15000";
  return "In a container: start it with --security-opt seccomp=unconfined (Docker's filter refuses unshare), or let "
         "Cordon run at "
         "level L4 with --require L4";
}

Check check(std::string name, int error, std::string good, std::string fix) {
  Check result{std::move(name), error == 0, true, error == 0 ? std::move(good) : std::strerror(error), ""};
  if (error != 0) result.fix = std::move(fix);
  return result;
}

Check check_kernel() {
  const bool new_enough =
      in_child([] {
        return ::syscall(442 /* mount_setattr */, -1, "", 0, nullptr, 0) < 0 && errno == ENOSYS ? ENOSYS : 0;
      }) == 0;
  return {"kernel", new_enough, true, first_line("/proc/sys/kernel/osrelease"),
          new_enough ? "" : "Linux 5.12 or later is needed (mount_setattr)"};
}

Check check_user_namespace() {
  return check("user namespace", in_child(enter_user_namespace), "made, with an id map", user_namespace_fix());
}

Check check_mounts() {
  return check("mount namespace", in_child([] {
                 if (::geteuid() != 0) {
                   if (int error = enter_user_namespace()) return error;
                 }
                 if (::unshare(CLONE_NEWNS) != 0) return errno;
                 if (::mount("", "/", "", MS_REC | MS_PRIVATE, nullptr) != 0) return errno;
                 return ::mount("tmpfs", "/tmp", "tmpfs", 0, nullptr) == 0 ? 0 : errno;
               }),
               "a memory file system was mounted", user_namespace_fix());
}

Check check_landlock() {
  const int abi = sys::landlock_abi();
  Check result{"Landlock", abi > 0, false, abi > 0 ? fmt::format("ABI {}", abi) : "not there", ""};
  if (abi <= 0)
    result.fix = "Boot with lsm=landlock,… (Linux 5.13 or later with CONFIG_SECURITY_LANDLOCK)";
  else if (abi < 6)
    result.detail += "; ABI 6 (Linux 6.12) adds limits on signals and abstract sockets";
  return result;
}

Check check_cgroups() {
  auto cgroups = find_cgroups();
  Check result{"control groups", cgroups != nullptr, false, "memory and processes are limited", ""};
  if (cgroups) {
    auto missing = cgroups->missing();
    if (!missing.empty()) result.detail = fmt::format("partly: {}", fmt::join(missing, "; "));
    return result;
  }
  result.detail = "no group could be made below our own";
  result.fix =
      "With systemd: run in a delegated scope, `systemd-run --user --scope -p Delegate=yes COMMAND`. Without: as root, "
      "make a group in "
      "each hierarchy, chown it to the user, and start Cordon in it";
  return result;
}

Check check_pid1() {
  auto image = make_pid1_image();
  return {"pid 1 in memory", image.has_value(), true, image ? "sealed" : image.error().sentence,
          image ? "" : "As root: sysctl -w vm.memfd_noexec=0"};
}

/// Everything together, as a run would do it.
Check check_whole() {
  Check result{"sandbox", false, true, "", ""};
  auto image = make_pid1_image();
  if (!image) {
    result.detail = image.error().sentence;
    return result;
  }
  Machine machine{RootTree::discover(), std::move(*image), highest_ladder({}), {}, "", false};
  auto cgroups = find_cgroups();
  Ladder ladder = machine.ladder;
  for (;;) {
    auto draft = draft_surroundings(Profile{}, machine, ladder);
    LaunchTrouble trouble;
    auto launched = draft ? launch({&(*draft)->blueprint}, trouble) : tl::make_unexpected(draft.error());
    auto ready = launched ? (*launched)->wait_until_ready(trouble) : tl::make_unexpected(launched.error());
    if (ready) {
      (*launched)->control.reset();
      (*launched)->reap(std::chrono::seconds(5));
      const Isolation isolation = describe_isolation(ladder, cgroups.get(), {});
      result.works = true;
      result.detail = fmt::format("level {}", isolation.level);
      if (!isolation.missing.empty()) result.detail += fmt::format("; missing: {}", fmt::join(isolation.missing, "; "));
      return result;
    }
    result.detail = ready.error().sentence;
    if (trouble.step.empty() || !step_down(ladder, trouble)) return result;
  }
}

}  // namespace

std::string apparmor_profile(const std::string& program) {
  // A profile of its own and not "unconfined": since Ubuntu 26.04 unconfined programs are restricted, too.
  return fmt::format(
      "abi <abi/4.0>,\n"
      "include <tunables/global>\n"
      "profile cordon {} flags=(default_allow) {{\n"
      "  userns,\n"
      "}}\n",
      program);
}

std::vector<Check> examine() {
  return {check_kernel(),  check_user_namespace(), check_mounts(), check_landlock(),
          check_cgroups(), check_pid1(),           check_whole()};
}

}  // namespace cordon::sandbox::native
