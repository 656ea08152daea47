// Running code by an interpreter of the sandbox: started for the request, or before it.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "runner/artifacts.h"
#include "runner/embedded.h"
#include "runner/request.h"

namespace cordon::code::runner {

namespace {

using wire::Tag;
constexpr int request_fd = 3;  // where an interpreter that was started ahead reads what to run

std::int64_t now_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

struct Child {
  pid_t pid = -1;
  int request = -1;  // our end
};

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> list;
  for (const std::string& word : words) list.push_back(const_cast<char*>(word.c_str()));
  list.push_back(nullptr);
  return list;
}

struct Start {
  const std::vector<std::string>& words;
  const char* directory;
  bool output_is_errors = false;  // of a compiler: what it says is not the program's output
  int request = -1;               // becomes request_fd
  bool no_input = false;          // our own input carries requests
};

Child start(const Start& wanted) {
  std::vector<char*> list = pointers(wanted.words);
  const pid_t pid = ::fork();
  if (pid != 0) return {pid, -1};
  // One group, to be ended together.
  ::setpgid(0, 0);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  if (wanted.output_is_errors) ::dup2(2, 1);
  if (wanted.request >= 0) {
    if (wanted.request == request_fd)
      ::fcntl(request_fd, F_SETFD, 0);
    else
      ::dup2(wanted.request, request_fd);
  }
  if (wanted.no_input) {
    const int null = ::open("/dev/null", O_RDONLY);
    ::dup2(null, 0);
    ::close(null);
  }
  if (wanted.directory[0] && ::chdir(wanted.directory) != 0) {
    std::fprintf(stderr, "%s: %s\n", wanted.directory, std::strerror(errno));
    ::_exit(126);
  }
  ::execvp(list[0], list.data());
  const int error = errno;
  std::fprintf(stderr, "%s: %s\n", list[0], std::strerror(error));
  ::_exit(error == ENOENT ? 127 : 126);
}

/// Waits for it; nothing when the deadline comes first.
std::optional<int> wait_until(pid_t pid, std::int64_t deadline) {
  sigset_t child_died;
  ::sigemptyset(&child_died);
  ::sigaddset(&child_died, SIGCHLD);
  for (;;) {
    int status = 0;
    for (pid_t dead; (dead = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      if (dead == pid) return status;
    }
    const std::int64_t left = deadline - now_ms();
    if (left <= 0) return std::nullopt;
    const timespec span{static_cast<time_t>(left / 1000), static_cast<long>(left % 1000 * 1'000'000)};
    ::sigtimedwait(&child_died, nullptr, &span);
  }
}

void block_child_signal() {
  sigset_t child_died;
  ::sigemptyset(&child_died);
  ::sigaddset(&child_died, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &child_died, nullptr);
}

/// Nobody is to write between the records that follow.
void end_all_others(pid_t program) {
  ::kill(-program, SIGKILL);
  // Number two of its own pid namespace: then everybody else is the program's. Without such a namespace this would
  // reach strangers; there, number two is never ours.
  if (::getpid() == 2) ::kill(-1, SIGKILL);
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

void add_status(Reply& reply, std::optional<int> status) {
  if (!status) {
    reply.add(Tag::ended, "timeout");
  } else if (WIFEXITED(*status)) {
    reply.add(Tag::status, WEXITSTATUS(*status));
  } else {
    reply.add(Tag::status, -WTERMSIG(*status));
  }
}

bool write_code(const std::string& path, const std::string& code) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (file < 0) return false;
  write_fully(file, code);
  ::close(file);
  return true;
}

void replace_all(std::vector<std::string>& words, const std::string& path) {
  for (std::string& word : words) {
    if (word == "{boot}") word = python_boot_source();
    const std::size_t found = word.find("{}");
    if (found != std::string::npos && word.size() < 256) word.replace(found, 2, path);
  }
}

/// As the table of languages says.
std::vector<std::string> shell_command(const std::string& path) { return {"bash", "--norc", "--noprofile", path}; }

constexpr std::size_t most_fed = 4096;  // it reads a pipe byte by byte, and a pipe takes as much at once

/// A shell that opens its script, a pipe, and waits there for somebody to write it.
struct WaitingShell {
  pid_t pid = -1;
  bool has_pipe = false;
};

/// Nothing when it cannot be started so; then it is started for the request.
WaitingShell start_shell_ahead(const std::string& path) {
  ::mkdir(wire::code_directory, 0755);
  ::mkdir(wire::output_directory, 0755);
  WaitingShell shell;
  shell.has_pipe = ::mkfifo(path.c_str(), 0600) == 0;
  if (shell.has_pipe) shell.pid = start({shell_command(path), wire::output_directory}).pid;
  return shell;
}

bool fits(const Request& request) {
  return request.arguments.empty() && request.directory.empty() && request.code.size() <= most_fed &&
         request.command == shell_command("{}");
}

/// Its script, to be written; −1 when it is not what was asked for or does not come up: then it is ended.
int take_script(const WaitingShell& shell, const std::string& path, const Request& request) {
  if (shell.pid < 0) return -1;
  const std::int64_t patience = now_ms() + 1000;
  while (fits(request) && now_ms() < patience) {
    // Refused until the shell is there: only then may the name go.
    const int script = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    if (script >= 0) return script;
    siginfo_t ended{};
    if (::waitid(P_PID, static_cast<id_t>(shell.pid), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid != 0)
      break;
    const timespec moment{0, 200'000};
    ::nanosleep(&moment, nullptr);
  }
  ::kill(-shell.pid, SIGKILL);
  ::kill(shell.pid, SIGKILL);
  ::waitpid(shell.pid, nullptr, 0);
  return -1;
}

[[noreturn]] void give_up(Reply& reply, const std::string& trouble) {
  write_fully(2, trouble + "\n");
  reply.add(Tag::status, 126);
  reply.send();
  ::_exit(0);
}

/// An interpreter that waits for what to run on a socket.
Child start_ahead(bool stays) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return {};
  const std::vector<std::string> words = {"python3", "-I", "-B", "-X", "utf8", "-c", std::string(python_boot_source()),
                                          "--wait"};
  Child child = start({words, "", false, ends[1], stays});
  ::close(ends[1]);
  child.request = ends[0];
  return child;
}

void send_record(int socket, const std::string& value) {
  std::string message;
  wire::append(message, Tag::code, value);
  write_fully(socket, message);
}

/// What it runs, in the order in which the boot script reads it.
void hand_over(const Child& child, const Request& request) {
  send_record(child.request, request.code_name);
  send_record(child.request, request.code);
  send_record(child.request, request.directory.empty() ? wire::output_directory : request.directory);
  send_record(child.request, request.stay ? "stay" : "");
  send_record(child.request, std::to_string(request.arguments.size()));
  for (const std::string& argument : request.arguments) send_record(child.request, argument);
}

/// One answer of an interpreter that stays: its exit code. Nothing when it is gone or over its time.
std::optional<int> wait_for_answer(const Child& child, std::int64_t deadline) {
  bool asked_to_stop = false;
  for (;;) {
    pollfd ready{child.request, POLLIN, 0};
    const std::int64_t left = deadline - now_ms();
    if (left > 0 && ::poll(&ready, 1, static_cast<int>(std::min<std::int64_t>(left, 60'000))) > 0) {
      unsigned char code = 0;
      if (::read(child.request, &code, 1) == 1) return code;
      // It closed its end: it is dead or about to be.
      const timespec moment{0, 5'000'000};
      siginfo_t info{};
      for (int i = 0;
           i < 40 && ::waitid(P_PID, static_cast<id_t>(child.pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == 0;
           ++i) {
        ::nanosleep(&moment, nullptr);
      }
      return std::nullopt;
    }
    if (deadline - now_ms() > 0) continue;
    if (asked_to_stop) return std::nullopt;
    // It may still end by an exception, and live on.
    asked_to_stop = true;
    ::kill(-child.pid, SIGINT);
    deadline = now_ms() + 500;
  }
}

[[noreturn]] void serve(Child child) {
  GivenFiles given;
  for (;;) {
    Request request;
    if (!read_request(request)) {
      ::kill(-child.pid, SIGKILL);
      ::_exit(0);
    }
    request.stay = true;
    Reply reply(request.token);
    std::string trouble;
    if (!place_files(request, given, trouble)) give_up(reply, trouble);
    const std::int64_t deadline = now_ms() + static_cast<std::int64_t>(request.deadline_ms);
    hand_over(child, request);
    const auto code = wait_for_answer(child, deadline);
    const bool late = now_ms() >= deadline;
    if (late) reply.add(Tag::ended, "timeout");
    if (code) {
      if (!late) reply.add(Tag::status, *code);
    } else {
      int status = 0;
      const bool dead = ::waitpid(child.pid, &status, WNOHANG) == child.pid;
      end_all_others(child.pid);
      reply.add(Tag::ended, "lost");
      if (dead && !late) add_status(reply, status);
    }
    add_artifacts(request, given, reply);
    // The end of this call's error output.
    write_fully(2, request.token);
    reply.send();
    if (!code) ::_exit(0);
  }
}

}  // namespace

namespace {

[[noreturn]] void run_request(const WaitingShell& shell) {
  Request request;
  if (!read_request(request)) {
    if (shell.pid > 0) ::kill(-shell.pid, SIGKILL);
    ::_exit(65);
  }
  Reply reply(request.token);
  GivenFiles given;
  std::string trouble;
  if (!place_files(request, given, trouble)) give_up(reply, trouble);
  const std::string path = std::string(wire::code_directory) + "/" + request.code_name;
  const int script = take_script(shell, path, request);
  // The shell has its pipe open; by its name the script is a file, as ever.
  if (shell.has_pipe) ::unlink(path.c_str());
  if (!write_code(path, request.code)) give_up(reply, "cannot write the code to " + path);
  replace_all(request.compile, path);
  replace_all(request.command, path);
  ::setenv("CORDON_OUTPUT", wire::output_directory, 1);
  const std::int64_t deadline = now_ms() + static_cast<std::int64_t>(request.deadline_ms);
  std::optional<int> status = 0;
  pid_t last = -1;
  if (!request.compile.empty()) {
    last = start({request.compile, wire::code_directory, true}).pid;
    status = wait_until(last, deadline);
  }
  if (status && *status == 0) {
    if (script >= 0) {
      last = shell.pid;
      write_fully(script, request.code);
      ::close(script);
    } else {
      request.command.insert(request.command.end(), request.arguments.begin(), request.arguments.end());
      last =
          start({request.command, request.directory.empty() ? wire::output_directory : request.directory.c_str()}).pid;
    }
    // The program's alone, so that whoever writes to it sees its end.
    ::close(0);
    status = wait_until(last, deadline);
  }
  end_all_others(last);
  add_status(reply, status);
  add_artifacts(request, given, reply);
  reply.send();
  ::_exit(0);
}

}  // namespace

void run_program() {
  block_child_signal();
  tell_ready();
  run_request({});
}

void run_shell() {
  block_child_signal();
  ::setenv("CORDON_OUTPUT", wire::output_directory, 1);
  // A request that is there already says itself what to start.
  pollfd first{0, POLLIN, 0};
  WaitingShell shell;
  if (::poll(&first, 1, 0) == 0) shell = start_shell_ahead(std::string(wire::code_directory) + "/main.sh");
  tell_ready();
  run_request(shell);
}

void run_python(bool stays) {
  block_child_signal();
  ::setenv("CORDON_OUTPUT", wire::output_directory, 1);
  ::setenv("MPLBACKEND", "Agg", 0);
  Child child = start_ahead(stays);
  if (child.pid < 0) ::_exit(71);
  // A request that is there already is handed on at once: the interpreter then loads nothing that was not asked for.
  pollfd first[2] = {{child.request, POLLIN, 0}, {0, POLLIN, 0}};
  while (::poll(first, stays ? 1 : 2, -1) < 0 && errno == EINTR) {
  }
  char up = 0;
  if (first[0].revents != 0 && ::read(child.request, &up, 1) != 1) ::_exit(71);
  tell_ready();
  if (stays) serve(child);
  Request request;
  if (!read_request(request)) {
    ::kill(-child.pid, SIGKILL);
    ::_exit(65);
  }
  Reply reply(request.token);
  GivenFiles given;
  std::string trouble;
  if (!place_files(request, given, trouble)) give_up(reply, trouble);
  const std::int64_t deadline = now_ms() + static_cast<std::int64_t>(request.deadline_ms);
  hand_over(child, request);
  ::shutdown(child.request, SHUT_WR);
  ::close(0);
  const std::optional<int> status = wait_until(child.pid, deadline);
  end_all_others(child.pid);
  add_status(reply, status);
  add_artifacts(request, given, reply);
  reply.send();
  ::_exit(0);
}

}  // namespace cordon::code::runner
