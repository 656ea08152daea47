// A9. A file with a setuid or setgid bit that the sandbox leaves behind would run with its owner's id on the host: no
// call may set one, whatever way the mode is handed over.
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>

#include <cstring>

#include "probe.h"

namespace cordon::attacks {
namespace {

constexpr const char* file = "mode-bits";
constexpr mode_t setuid = 04700;
constexpr mode_t setgid = 02710;

Answer bit_is_set(const char* path) {
  struct stat status {};
  if (stat(path, &status) != 0) return answer(-1);
  const bool set = (status.st_mode & 06000) != 0;
  unlink(path);
  return open_if(set);
}

/// The call's own errno is the interesting one when it failed and no bit is there.
Answer after(long result) {
  const int error = result < 0 ? errno : 0;
  Answer found = bit_is_set(file);
  if (!found.open) found.error = error;
  return found;
}

int fresh_file() {
  unlink(file);
  return open(file, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0700);
}

Answer by_chmod(mode_t mode) {
  close(fresh_file());
  return after(syscall(SYS_chmod, file, mode));
}

Answer by_openat2() {
  unlink(file);
  open_how how{};
  how.flags = O_CREAT | O_WRONLY | O_CLOEXEC;
  how.mode = setuid;
  return after(syscall(SYS_openat2, AT_FDCWD, file, &how, sizeof how));
}

Answer by_temporary_file() {
  unlink(file);
  const long fd = syscall(SYS_openat, AT_FDCWD, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, setuid);
  if (fd < 0) return answer(fd);
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  return after(linkat(AT_FDCWD, path.c_str(), AT_FDCWD, file, AT_SYMLINK_FOLLOW));
}

Answer by_mkdir() {
  rmdir("mode-directory");
  struct stat status {};
  const long made = syscall(SYS_mkdir, "mode-directory", 02700);
  if (made < 0) return answer(made);
  const long changed = syscall(SYS_chmod, "mode-directory", 02700);
  const int error = changed < 0 ? errno : 0;
  const bool set = stat("mode-directory", &status) == 0 && (status.st_mode & 06000) != 0;
  rmdir("mode-directory");
  return {set, error, {}};
}

constexpr int fchmodat2_number = 452;

constexpr Probe probes[] = {
    {"setuid_by_chmod", "cannot set a setuid bit by chmod", [](const Decoys&) { return by_chmod(setuid); }},
    {"setgid_by_chmod", "cannot set a setgid bit by chmod", [](const Decoys&) { return by_chmod(setgid); }},
    {"setuid_by_chmod_high_bits", "cannot hide a setuid bit behind high bits of the mode",
     [](const Decoys&) {
       close(fresh_file());
       return after(syscall(SYS_chmod, file, 0xffffffff00000000UL | setuid));
     }},
    {"setuid_by_fchmod", "cannot set a setuid bit by fchmod",
     [](const Decoys&) { return after(syscall(SYS_fchmod, fresh_file(), setuid)); }},
    {"setuid_by_fchmodat", "cannot set a setuid bit by fchmodat",
     [](const Decoys&) {
       close(fresh_file());
       return after(syscall(SYS_fchmodat, AT_FDCWD, file, setuid));
     }},
    {"setuid_by_fchmodat2", "cannot set a setuid bit by fchmodat2",
     [](const Decoys&) {
       close(fresh_file());
       return after(syscall(fchmodat2_number, AT_FDCWD, file, setuid, 0));
     }},
    {"setuid_by_open", "cannot create a setuid file by open",
     [](const Decoys&) {
       unlink(file);
       return after(syscall(SYS_open, file, O_CREAT | O_WRONLY, setuid));
     }},
    {"setuid_by_openat", "cannot create a setuid file by openat",
     [](const Decoys&) {
       unlink(file);
       return after(syscall(SYS_openat, AT_FDCWD, file, O_CREAT | O_WRONLY, setuid));
     }},
    {"setuid_by_openat2", "cannot create a setuid file by openat2", [](const Decoys&) { return by_openat2(); }},
    {"setuid_by_temporary_file", "cannot create a setuid file by O_TMPFILE",
     [](const Decoys&) { return by_temporary_file(); }},
    {"setuid_by_creat", "cannot create a setuid file by creat",
     [](const Decoys&) {
       unlink(file);
       return after(syscall(SYS_creat, file, setuid));
     }},
    {"setuid_by_mknod", "cannot create a setuid file by mknod",
     [](const Decoys&) {
       unlink(file);
       return after(syscall(SYS_mknod, file, S_IFREG | setuid, 0));
     }},
    {"setuid_by_mknodat", "cannot create a setuid file by mknodat",
     [](const Decoys&) {
       unlink(file);
       return after(syscall(SYS_mknodat, AT_FDCWD, file, S_IFREG | setuid, 0));
     }},
    {"setgid_on_directory", "cannot make a setgid directory", [](const Decoys&) { return by_mkdir(); }},
};

}  // namespace

Probes mode_bit_probes() { return probes; }

}  // namespace cordon::attacks
