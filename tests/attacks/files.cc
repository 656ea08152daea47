// A. What of the host's files can be read, written, linked or held.
#include <dirent.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include <cstdlib>
#include <cstring>

#include "probe.h"

namespace cordon::attacks {
namespace {

Answer create_and_remove(const std::string& path) {
  const Answer result = try_open(path, O_CREAT | O_EXCL | O_WRONLY);
  if (result.open) unlink(path.c_str());
  return result;
}

Answer list_directory(const std::string& path) {
  DIR* directory = opendir(path.c_str());
  if (directory == nullptr) return answer(-1);
  int entries = 0;
  while (readdir(directory) != nullptr) ++entries;
  closedir(directory);
  return open_if(entries > 2, std::to_string(entries - 2) + " entries");
}

/// The file is only in the host's root directory; whoever sees it has left the new root.
Answer host_marker_under(const std::string& root, const Decoys& decoys) {
  return try_open(root + "/" + decoys.text("marker"), O_RDONLY);
}

std::string upwards(int levels) {
  std::string path = ".";
  for (int i = 0; i < levels; ++i) path += "/..";
  return path;
}

Answer chroot_break(const Decoys&) {
  mkdir("cell", 0700);
  const Answer result = answer(chroot("cell"));
  if (!result.open) rmdir("cell");
  return result;
}

Answer link_neighbour(const Decoys& decoys) {
  const Answer result = answer(link((decoys.text("neighbour") + "/secret").c_str(), "hardlink"));
  unlink("hardlink");
  return result;
}

Answer make_node(mode_t type, dev_t device) {
  const Answer result = answer(mknod("node", type | 0600, device));
  unlink("node");
  return result;
}

Answer handle_of_cwd(file_handle* handle) {
  int mount = 0;
  handle->handle_bytes = 128;
  return answer(name_to_handle_at(AT_FDCWD, ".", handle, &mount, 0));
}

Answer open_by_handle(const Decoys&) {
  alignas(file_handle) char room[sizeof(file_handle) + 128];
  auto* handle = reinterpret_cast<file_handle*>(room);
  // Without the first call (denied on its own) a guessed handle is as good: inode 2 of the file system, as shocker did.
  if (!handle_of_cwd(handle).open) {
    memset(room, 0, sizeof room);
    handle->handle_bytes = 8;
    handle->handle_type = 1;
    memset(room + sizeof(file_handle), 2, 1);
  }
  const int mount = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int fd = open_by_handle_at(mount, handle, O_RDONLY);
  return fd < 0 && errno == ESTALE ? open_if(true, "ESTALE: only the guess was wrong") : answer(fd);
}

Answer name_to_handle(const Decoys&) {
  alignas(file_handle) char room[sizeof(file_handle) + 128];
  return handle_of_cwd(reinterpret_cast<file_handle*>(room));
}

// Not one of /etc: those that a sandbox makes itself are no host file.
constexpr const char* system_file = "/usr/bin/env";

Answer lease_on_system_file(const Decoys&) {
  const int fd = open(system_file, O_RDONLY | O_CLOEXEC);
  return answer(fd < 0 ? -1 : fcntl(fd, F_SETLEASE, F_RDLCK));
}

Answer lock_on_system_file(const Decoys&) {
  const int fd = open(system_file, O_RDONLY | O_CLOEXEC);
  return answer(fd < 0 ? -1 : flock(fd, LOCK_EX | LOCK_NB));
}

Answer reopen_for_writing(const Decoys&) {
  const int handle = open(system_file, O_PATH | O_CLOEXEC);
  if (handle < 0) return answer(-1);
  return try_open("/proc/self/fd/" + std::to_string(handle), O_RDWR);
}

struct stat stat_of(const char* path) {
  struct stat status {};
  return stat(path, &status) == 0 ? status : (struct stat){};
}

Answer ran_with_more(const char* program) {
  const int status = status_of({program, "--whoami", std::to_string(geteuid()), std::to_string(getegid())});
  if (status == -1 || !WIFEXITED(status)) return open_if(false, "did not run");
  return open_if(WEXITSTATUS(status) == 42, WEXITSTATUS(status) == 127 ? "not executable" : "");
}

Answer set_capability(const Decoys&) {
  const int fd = open("capable", O_CREAT | O_WRONLY | O_CLOEXEC, 0700);
  if (fd < 0) return answer(-1);
  const vfs_cap_data capability{VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE, {{1U << CAP_NET_RAW, 0}, {0, 0}}};
  const Answer result = answer(fsetxattr(fd, "security.capability", &capability, sizeof capability, 0));
  unlink("capable");
  return result;
}

Answer trusted_attribute(const Decoys&) {
  const int fd = open("attributed", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0) return answer(-1);
  const Answer result = answer(fsetxattr(fd, "trusted.overlay.opaque", "y", 1, 0));
  unlink("attributed");
  return result;
}

Answer inherited_descriptor(const Decoys&) {
  for (int fd = 3; fd < 1024; ++fd) {
    const int flags = fcntl(fd, F_GETFD);
    // The probe's own pipe is the only close-on-exec one; whatever came through exec is not.
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) return open_if(true, "fd " + std::to_string(fd));
  }
  return open_if(false);
}

Answer secret_in_environment(const Decoys&) {
  for (const char* name : {"CORDON_ATTACK_SECRET", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN"})
    if (getenv(name) != nullptr) return open_if(true, name);
  return open_if(false);
}

Answer loader_in_environment(const Decoys&) {
  for (const char* name :
       {"LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "BASH_ENV", "ENV", "NODE_OPTIONS", "PYTHONPATH", "PYTHONSTARTUP",
        "PERL5OPT", "RUBYOPT", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "PROMPT_COMMAND"})
    if (getenv(name) != nullptr) return open_if(true, name);
  return open_if(false);
}

Answer session_in_environment(const Decoys&) {
  for (const char* name : {"SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY",
                           "PULSE_SERVER", "DOCKER_HOST", "GPG_AGENT_INFO", "XDG_RUNTIME_DIR"})
    if (getenv(name) != nullptr) return open_if(true, name);
  return open_if(false);
}

Answer relative_path_search(const Decoys&) {
  const std::string path = getenv("PATH") != nullptr ? getenv("PATH") : "";
  const std::string framed = ":" + path + ":";
  const bool relative = framed.find("::") != std::string::npos || framed.find(":.") != std::string::npos;
  return open_if(relative && !path.empty(), path);
}

Answer device(const char* name) { return try_open(std::string("/dev/") + name, O_RDONLY); }

Answer unreachable_cwd(const Decoys&) {
  char path[4096];
  if (syscall(SYS_getcwd, path, sizeof path) < 0) return open_if(true, "no cwd");
  return open_if(path[0] != '/', path);
}

constexpr Probe probes[] = {
    {"write_etc", "cannot create a file in /etc",
     [](const Decoys&) { return create_and_remove("/etc/cordon-attack"); }},
    {"write_usr", "cannot create a file in /usr",
     [](const Decoys&) { return create_and_remove("/usr/cordon-attack"); }},
    {"write_bin", "cannot create a file in /usr/bin",
     [](const Decoys&) { return create_and_remove("/usr/bin/cordon-attack"); }},
    {"write_root_directory", "cannot create a file in /",
     [](const Decoys&) { return create_and_remove("/cordon-attack"); }},
    {"write_var", "cannot create a file in the host's /var/lib",
     [](const Decoys&) { return create_and_remove("/var/lib/cordon-attack"); }},
    {"read_ssh_key", "cannot read the user's ~/.ssh/id_rsa",
     [](const Decoys& d) { return try_open(d.text("home") + "/.ssh/id_rsa", O_RDONLY); }},
    {"read_aws_credentials", "cannot read the user's ~/.aws/credentials",
     [](const Decoys& d) { return try_open(d.text("home") + "/.aws/credentials", O_RDONLY); }},
    {"read_home_file", "cannot read any other file of the user's home",
     [](const Decoys& d) { return try_open(d.text("home") + "/SECRET", O_RDONLY); }},
    {"append_authorized_keys", "cannot append to the user's ~/.ssh/authorized_keys",
     [](const Decoys& d) { return try_open(d.text("home") + "/.ssh/authorized_keys", O_WRONLY | O_APPEND); }},
    {"write_home_bashrc", "cannot write the user's ~/.bashrc",
     [](const Decoys& d) { return try_open(d.text("home") + "/.bashrc", O_WRONLY | O_APPEND); }},
    {"read_shadow", "cannot read /etc/shadow", [](const Decoys&) { return try_open("/etc/shadow", O_RDONLY); }},
    {"read_gshadow", "cannot read /etc/gshadow", [](const Decoys&) { return try_open("/etc/gshadow", O_RDONLY); }},
    {"read_root_home", "cannot list /root", [](const Decoys&) { return list_directory("/root"); }},
    {"read_neighbour", "cannot read a directory beside the workspace",
     [](const Decoys& d) { return try_open(d.text("neighbour") + "/secret", O_RDONLY); }},
    {"read_neighbour_by_dots", "cannot read beside the workspace by ..",
     [](const Decoys&) { return try_open("../neighbour/secret", O_RDONLY); }},
    {"read_host_tmp", "cannot read the host's /tmp",
     [](const Decoys&) { return try_open("/tmp/cordon-host-secret", O_RDONLY); }},
    {"read_host_var_tmp", "cannot read the host's /var/tmp",
     [](const Decoys&) { return try_open("/var/tmp/cordon-host-secret", O_RDONLY); }},
    {"read_state_directory", "cannot read the sandbox's own state directory",
     [](const Decoys& d) { return list_directory(d.text("state")); }},
    {"see_host_root", "cannot see the host's root directory",
     [](const Decoys& d) { return host_marker_under("/", d); }},
    {"dots_above_root", "cannot climb above the root by ..",
     [](const Decoys& d) { return host_marker_under(upwards(64), d); }},
    {"chroot_break", "cannot call chroot", chroot_break},
    {"hardlink_neighbour", "cannot hard-link a file from beside the workspace", link_neighbour},
    {"mknod_character", "cannot make a character device",
     [](const Decoys&) { return make_node(S_IFCHR, makedev(1, 3)); }},
    {"mknod_block", "cannot make a block device", [](const Decoys&) { return make_node(S_IFBLK, makedev(7, 99)); }},
    {"use_planted_device", "cannot open a device node that lies in the workspace",
     [](const Decoys&) { return try_open("planted-device", O_RDONLY); }},
    {"run_planted_setuid", "gains no id from a setuid program in the workspace",
     [](const Decoys&) { return ran_with_more("./planted-setuid"); }},
    {"run_planted_setgid", "gains no id from a setgid program in the workspace",
     [](const Decoys&) { return ran_with_more("./planted-setgid"); }},
    {"run_planted_capable", "gains no capability from a program with file capabilities",
     [](const Decoys&) { return ran_with_more("./planted-capable"); }},
    {"run_system_setuid", "gains no id from a setuid program of the system",
     [](const Decoys&) { return ran_with_more("/usr/local/bin/cordon-planted-setuid"); }},
    {"set_file_capability", "cannot give a file capabilities", set_capability},
    {"set_trusted_attribute", "cannot set a trusted.* attribute", trusted_attribute},
    {"name_to_handle_at", "cannot make a file handle", name_to_handle},
    {"open_by_handle_at", "cannot open by file handle (shocker)", open_by_handle},
    {"lease_system_file", "cannot take a lease on a host file", lease_on_system_file},
    {"lock_system_file", "cannot flock a host file", lock_on_system_file},
    {"reopen_system_file", "cannot reopen an O_PATH handle of a host file for writing", reopen_for_writing},
    {"truncate_system_file", "cannot truncate a host file",
     [](const Decoys&) { return answer(truncate(system_file, stat_of(system_file).st_size)); }},
    {"chmod_system_file", "cannot chmod a host file",
     [](const Decoys&) { return answer(chmod(system_file, stat_of(system_file).st_mode & 07777)); }},
    {"chown_system_file", "cannot chown a host file",
     [](const Decoys&) { return answer(chown(system_file, stat_of(system_file).st_uid, static_cast<gid_t>(-1))); }},
    {"inherited_descriptor", "has no descriptor but 0, 1 and 2", inherited_descriptor},
    {"secret_in_environment", "sees no secret of the caller's environment", secret_in_environment},
    {"loader_in_environment", "inherits no variable that loads code", loader_in_environment},
    {"session_in_environment", "inherits no variable that names a session socket", session_in_environment},
    {"relative_path_search", "has no relative directory in PATH", relative_path_search},
    {"unreachable_cwd", "has a working directory inside the new root", unreachable_cwd},
    {"device_mem", "cannot open /dev/mem", [](const Decoys&) { return device("mem"); }},
    {"device_port", "cannot open /dev/port", [](const Decoys&) { return device("port"); }},
    {"device_kmsg", "cannot open /dev/kmsg", [](const Decoys&) { return device("kmsg"); }},
    {"device_disk", "cannot open the disk", [](const Decoys&) { return device("vda"); }},
    {"device_fuse", "cannot open /dev/fuse", [](const Decoys&) { return device("fuse"); }},
    {"device_kvm", "cannot open /dev/kvm", [](const Decoys&) { return device("kvm"); }},
    {"device_loop_control", "cannot open /dev/loop-control", [](const Decoys&) { return device("loop-control"); }},
    {"device_userfaultfd", "cannot open /dev/userfaultfd", [](const Decoys&) { return device("userfaultfd"); }},
    {"device_net_tun", "cannot open /dev/net/tun", [](const Decoys&) { return device("net/tun"); }},
    {"device_vsock", "cannot open /dev/vsock", [](const Decoys&) { return device("vsock"); }},
    {"device_input", "cannot open /dev/uinput", [](const Decoys&) { return device("uinput"); }},
};

}  // namespace

Probes file_probes() { return probes; }

}  // namespace cordon::attacks
