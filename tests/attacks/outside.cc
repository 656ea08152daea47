// A67. Every way to change what lies outside the workspace and belongs to the user: each is a Landlock right of its
// own, and where there is no mount namespace (level L4) nothing else holds it. All decoys of these lie in HOME/outside.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <cstring>

#include "probe.h"

namespace cordon::attacks {
namespace {

std::string at(const Decoys& decoys, const char* name) { return decoys.text("home") + "/outside/" + name; }

Answer make_directory(const Decoys& decoys) {
  const Answer result = answer(mkdir(at(decoys, "made").c_str(), 0700));
  rmdir(at(decoys, "made").c_str());
  return result;
}

Answer make_file(const Decoys& decoys) {
  // mknod, since open would also ask for the right to write it.
  const Answer result = answer(mknod(at(decoys, "made").c_str(), S_IFREG | 0600, 0));
  unlink(at(decoys, "made").c_str());
  return result;
}

Answer make_link(const Decoys& decoys) {
  const Answer result = answer(symlink("/", at(decoys, "made").c_str()));
  unlink(at(decoys, "made").c_str());
  return result;
}

Answer make_fifo(const Decoys& decoys) {
  const Answer result = answer(mkfifo(at(decoys, "made").c_str(), 0600));
  unlink(at(decoys, "made").c_str());
  return result;
}

Answer make_socket(const Decoys& decoys) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  strncpy(to.sun_path, at(decoys, "made").c_str(), sizeof to.sun_path - 1);
  const Answer result = answer(bind(fd, reinterpret_cast<sockaddr*>(&to), sizeof to));
  unlink(at(decoys, "made").c_str());
  return result;
}

Answer remove_file(const Decoys& decoys) {
  const Answer result = answer(unlink(at(decoys, "removable").c_str()));
  if (result.open) try_open(at(decoys, "removable"), O_CREAT | O_WRONLY);
  return result;
}

Answer remove_directory(const Decoys& decoys) {
  const Answer result = answer(rmdir(at(decoys, "empty").c_str()));
  if (result.open) mkdir(at(decoys, "empty").c_str(), 0700);
  return result;
}

/// From one directory into another: the right to "refer".
Answer move_in(const Decoys& decoys) {
  const Answer result = answer(rename(at(decoys, "removable").c_str(), "stolen"));
  if (result.open) rename("stolen", at(decoys, "removable").c_str());
  return result;
}

Answer truncate_file(const Decoys& decoys) { return answer(truncate(at(decoys, "removable").c_str(), 0)); }

Answer run_program(const Decoys& decoys) {
  const int status = status_of({at(decoys, "program"), "--list"});
  return open_if(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

constexpr Probe probes[] = {
    {"outside_write", "cannot write a file of the home",
     [](const Decoys& d) { return try_open(at(d, "removable"), O_WRONLY); }},
    {"outside_read", "cannot read a file of the home",
     [](const Decoys& d) { return try_open(at(d, "removable"), O_RDONLY); }},
    {"outside_list", "cannot list a directory of the home",
     [](const Decoys& d) { return try_open(at(d, ""), O_RDONLY | O_DIRECTORY); }},
    {"outside_make_directory", "cannot make a directory in the home", make_directory},
    {"outside_make_file", "cannot make a file in the home", make_file},
    {"outside_make_symlink", "cannot make a symlink in the home", make_link},
    {"outside_make_fifo", "cannot make a FIFO in the home", make_fifo},
    {"outside_make_socket", "cannot make a socket in the home", make_socket},
    {"outside_remove_file", "cannot remove a file of the home", remove_file},
    {"outside_remove_directory", "cannot remove a directory of the home", remove_directory},
    {"outside_move", "cannot move a file out of the home", move_in},
    {"outside_truncate", "cannot truncate a file of the home", truncate_file},
    {"outside_execute", "cannot run a program of the home", run_program},
};

}  // namespace

Probes outside_probes() { return probes; }

}  // namespace cordon::attacks
