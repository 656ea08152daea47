// Runs every probe in a process of its own and writes one line for each:
//   NAME <tab> OPEN|closed <tab> ERRNO <tab> note
// A probe that is killed (SIGSYS, a limit) is closed: the attacker got nothing.
#include "probe.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace cordon::attacks {

std::string Decoys::text(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::string("/nonexistent-decoy") : found->second;
}

int Decoys::number(const std::string& name) const { return atoi(text(name).c_str()); }

Answer answer(long result) { return {result >= 0, result >= 0 ? 0 : errno, {}}; }
Answer open_if(bool open, std::string note) { return {open, 0, std::move(note)}; }

Answer open_unless_denied(long result) {
  const int error = result >= 0 ? 0 : errno;
  const bool denied = error == EPERM || error == EACCES || error == ENOSYS;
  return {!denied, error, {}};
}

std::string content_of(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return {};
  std::string content;
  char block[4096];
  for (ssize_t got; content.size() < 1 << 20 && (got = read(fd, block, sizeof block)) > 0;)
    content.append(block, static_cast<size_t>(got));
  close(fd);
  return content;
}

Answer try_open(const std::string& path, int flags) {
  const int fd = open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
  const Answer result = answer(fd);
  if (fd >= 0) close(fd);
  return result;
}

int status_of(const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) return -1;
  if (child == 0) {
    execv(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child ? status : -1;
}

namespace {

constexpr int seconds_per_probe = 6;

std::vector<Probe> all_probes() {
  std::vector<Probe> all;
  for (const Probes group :
       {file_probes(), outside_probes(), protected_path_probes(), mode_bit_probes(), procfs_probes(), mount_probes(),
        namespace_probes(), process_probes(), identity_probes(), kernel_probes(), machine_probes(), terminal_probes(),
        network_probes(), ipc_probes(), resource_probes()})
    all.insert(all.end(), group.begin(), group.end());
  return all;
}

void report(const Probe& probe, const Answer& result) {
  const char* error = result.error == 0 ? "-" : strerrorname_np(result.error);
  printf("%s\t%s\t%s\t%s\n", probe.name, result.open ? "OPEN" : "closed", error != nullptr ? error : "?",
         result.note.c_str());
  fflush(stdout);
}

[[noreturn]] void attempt_in_child(const Probe& probe, const Decoys& decoys, int pipe_end) {
  // A group of its own: what a probe leaves running is ended with it.
  setpgid(0, 0);
  signal(SIGTTOU, SIG_IGN);
  // Where an attacker may do this it may also unmount /proc under the probes that come after.
  if (unshare(CLONE_NEWNS) == 0) mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  const Answer result = probe.attempt(decoys);
  const std::string line = std::to_string(result.open) + " " + std::to_string(result.error) + " " + result.note;
  const ssize_t written = write(pipe_end, line.data(), line.size());
  _exit(written == static_cast<ssize_t>(line.size()) ? 0 : 1);
}

Answer parse(const std::string& line) {
  Answer result{};
  int consumed = 0;
  int open = 0;
  if (sscanf(line.c_str(), "%d %d %n", &open, &result.error, &consumed) < 2) return {false, 0, "no answer"};
  result.open = open != 0;
  result.note = line.substr(static_cast<size_t>(consumed));
  return result;
}

std::string read_with_deadline(int fd) {
  std::string line;
  pollfd waiting{fd, POLLIN, 0};
  char block[512];
  while (poll(&waiting, 1, seconds_per_probe * 1000) > 0) {
    const ssize_t got = read(fd, block, sizeof block);
    if (got <= 0) break;
    line.append(block, static_cast<size_t>(got));
  }
  return line;
}

Answer attempt(const Probe& probe, const Decoys& decoys) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {false, errno, "no pipe"};
  const pid_t child = fork();
  if (child < 0) return {false, errno, "no fork"};
  if (child == 0) attempt_in_child(probe, decoys, ends[1]);
  close(ends[1]);
  const std::string line = read_with_deadline(ends[0]);
  close(ends[0]);
  kill(-child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  if (!line.empty()) return parse(line);
  if (WIFSIGNALED(status)) return {false, 0, std::string("killed by ") + sigabbrev_np(WTERMSIG(status))};
  return {false, 0, "no answer"};
}

bool selected(const char* name, const std::vector<std::string>& only) {
  return only.empty() || std::find(only.begin(), only.end(), name) != only.end();
}

}  // namespace
}  // namespace cordon::attacks

// Called again as `probe --whoami` by the setuid and file-capability probes: exit 42 when it has gained an id or a
// capability that the caller did not have.
static int whoami(uid_t user, gid_t group) {
  const std::string status = cordon::attacks::content_of("/proc/self/status");
  const size_t at = status.find("CapEff:\t");
  const bool capable = at != std::string::npos && strtoull(status.c_str() + at + 8, nullptr, 16) != 0;
  return geteuid() != user || getegid() != group || (capable && user != 0) ? 42 : 0;
}

int main(int argc, char** argv) {
  using namespace cordon::attacks;
  if (argc == 4 && strcmp(argv[1], "--whoami") == 0)
    return whoami(static_cast<uid_t>(atoi(argv[2])), static_cast<gid_t>(atoi(argv[3])));

  std::map<std::string, std::string> decoys;
  std::vector<std::string> only;
  bool list = false;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const size_t equals = argument.find('=');
    if (argument == "--list")
      list = true;
    else if (equals != std::string::npos)
      decoys[argument.substr(0, equals)] = argument.substr(equals + 1);
    else
      only.push_back(argument);
  }
  for (const Probe& probe : all_probes()) {
    if (!selected(probe.name, only)) continue;
    if (list)
      printf("%s\t%s\n", probe.name, probe.claim);
    else
      report(probe, attempt(probe, Decoys(decoys)));
  }
}
