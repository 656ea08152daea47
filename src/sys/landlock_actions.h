// Test support: one action for every Landlock right, tried in a prepared directory.
#pragma once

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "sys/landlock.h"
#include "sys/seccomp_child.h"

namespace cordon::sys {

/// 0, or the errno with which it failed.
inline int errno_of(long result) { return result < 0 ? errno : 0; }

inline int try_open(const char* path, int flags) {
  const int file = ::open(path, flags | O_CLOEXEC, 0600);
  const int error = errno_of(file);
  if (file >= 0) ::close(file);
  return error;
}

inline int try_execute(const char* path) {
  const pid_t child = ::vfork();
  if (child == 0) {
    ::execl(path, path, nullptr);
    ::_exit(errno == EACCES ? 113 : 114);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WEXITSTATUS(status) == 113 ? EACCES : WEXITSTATUS(status);
}

struct LandlockAction {
  const char* name;
  std::uint64_t right;
  std::function<int()> attempt;  // the working directory is the prepared one
  int denied = EACCES;
};

/// Every attempt can be made once, in this order, whatever became of the ones before.
inline std::vector<LandlockAction> landlock_actions() {
  using namespace landlock;
  return {
      {"execute", execute, [] { return try_execute("./program"); }},
      {"write a file", write_file, [] { return try_open("file", O_WRONLY); }},
      {"read a file", read_file, [] { return try_open("file", O_RDONLY); }},
      {"list a directory", read_directory, [] { return try_open("directory", O_RDONLY | O_DIRECTORY); }},
      {"remove a directory", remove_directory, [] { return errno_of(::rmdir("empty")); }},
      {"remove a file", remove_file, [] { return errno_of(::unlink("victim")); }},
      // Device 0:0 marks a deletion in overlays and may be made by anybody.
      {"make a character device", make_character_device,
       [] { return errno_of(::mknod("character", S_IFCHR | 0600, makedev(0, 0))); }},
      {"make a directory", make_directory, [] { return errno_of(::mkdir("made", 0700)); }},
      {"make a regular file", make_regular, [] { return errno_of(::mknod("regular", S_IFREG | 0600, 0)); }},
      {"make a socket", make_socket, [] { return errno_of(::mknod("socket", S_IFSOCK | 0600, 0)); }},
      {"make a fifo", make_fifo, [] { return errno_of(::mkfifo("fifo", 0600)); }},
      // Without the capability the answer is EPERM, but only if Landlock did not say EACCES before.
      {"make a block device", make_block_device,
       [] {
         const int error = errno_of(::mknod("block", S_IFBLK | 0600, makedev(7, 99)));
         return error == EPERM ? 0 : error;
       }},
      {"make a symlink", make_symlink, [] { return errno_of(::symlink("file", "symlink")); }},
      {"move to another directory", refer, [] { return errno_of(::rename("from/moved", "to/moved")); }, EXDEV},
      {"truncate a file", truncate, [] { return errno_of(::truncate("file", 0)); }},
  };
}

/// Makes a directory with all that the actions need and enters it. Returns its name.
inline std::string prepare_landlock_directory() {
  char name[] = "/tmp/cordon-landlock-XXXXXX";
  if (::mkdtemp(name) == nullptr || ::chdir(name) != 0) return {};
  for (const char* directory : {"directory", "empty", "from", "to"}) ::mkdir(directory, 0700);
  for (const char* file : {"file", "victim", "from/moved"}) try_open(file, O_CREAT | O_WRONLY);
  std::filesystem::copy_file("/bin/true", "program");
  return name;
}

/// The same work as whoever we are and, if that is root, as an unprivileged user too.
inline std::vector<ChildReport> as_each_user(const std::function<std::string()>& work) {
  std::vector<ChildReport> reports{in_child(work)};
  if (::geteuid() != 0) return reports;
  reports.push_back(in_child([&]() -> std::string {
    if (::setresgid(65534, 65534, 65534) != 0 || ::setresuid(65534, 65534, 65534) != 0) return "cannot become a user";
    ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    return work();
  }));
  return reports;
}

}  // namespace cordon::sys
