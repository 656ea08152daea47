#include "sandbox/native/launcher.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sandbox/native/isolate.h"
#include "sandbox/native/passed_fd.h"
#include "sandbox/native/user_namespace.h"
#include "sandbox/native/zygote.h"

namespace cordon::sandbox::native {

namespace {

constexpr std::uint64_t clear_signal_handlers = 0x100000000ULL;  // CLONE_CLEAR_SIGHAND
constexpr std::uint64_t into_cgroup = 0x200000000ULL;            // CLONE_INTO_CGROUP
constexpr std::size_t stack_bytes = 128 * 1024;

/// A child that shares our memory must not run our signal handlers.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

struct Pair {
  sys::Fd first;
  sys::Fd second;
};

Result<Pair> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(Fault::unavailable, "pipe2: {}", std::strerror(errno));
  return Pair{sys::Fd(ends[0]), sys::Fd(ends[1])};
}

Result<Pair> make_control() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return fail(Fault::unavailable, "socketpair: {}", std::strerror(errno));
  }
  return Pair{sys::Fd(ends[0]), sys::Fd(ends[1])};
}

void never_block(const sys::Fd& fd) { ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK); }

Result<void> give_pipe(int end, const Blueprint& plan) {
  struct stat status {};
  if (::fstat(end, &status) != 0 || !S_ISFIFO(status.st_mode)) return fail(Fault::internal, "not a pipe");
  if (::fchown(end, plan.host_uid, plan.host_gid) != 0)
    return fail(Fault::unavailable, "fchown: {}", std::strerror(errno));
  return {};
}

/// The child's ends; they close here once it has its own copies.
struct ChildEnds {
  std::vector<sys::Fd> held;
  int hold(sys::Fd fd) {
    held.push_back(std::move(fd));
    return held.back().get();
  }
};

Result<void> open_streams(const LaunchRequest& request, Launched& launched, ChildEnds& ends) {
  Blueprint& plan = *request.blueprint;
  if (plan.tty) return {};
  if (request.input == InputKind::pipe) {
    Pair input = TRY(make_pipe());
    plan.input = ends.hold(std::move(input.first));
    never_block(input.second);
    launched.pipes.input = std::move(input.second);
  }
  Pair output = TRY(make_pipe());
  Pair error = TRY(make_pipe());
  plan.output = ends.hold(std::move(output.second));
  plan.error = ends.hold(std::move(error.second));
  // A program that opens /dev/stdout anew needs the right to. Pipes only: they are of this run, a device is
  // everybody's.
  if (plan.maps_written_by_launcher) {
    CHECK_OK(give_pipe(plan.output, plan));
    CHECK_OK(give_pipe(plan.error, plan));
    if (request.input == InputKind::pipe) CHECK_OK(give_pipe(plan.input, plan));
  }
  never_block(output.first);
  never_block(error.first);
  launched.pipes.output = std::move(output.first);
  launched.pipes.error = std::move(error.first);
  return {};
}

std::uint64_t clone_flags(const Blueprint& plan) {
  std::uint64_t flags = CLONE_VM | CLONE_PIDFD | clear_signal_handlers;
  if (!plan.ladder.namespaces || plan.skeleton_ready) return flags;
  flags |= CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
  if (plan.ladder.user_namespace) flags |= CLONE_NEWUSER;
  return flags;
}

std::uint64_t microseconds(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(time.tv_usec);
}

LaunchTrouble trouble_at(const char* step, int error);

/// Started from a zygote: the first child is gone at once, and what it cloned is our child as well.
Result<void> adopt_sibling(Launched& launched, LaunchTrouble& trouble) {
  ::waitpid(launched.pid, nullptr, __WALL);
  launched.pidfd.reset();
  const int pid = launched.notes.sibling;
  const int pidfd = pid > 0 ? static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)) : -1;
  if (pidfd < 0) {
    trouble = trouble_at(launched.notes.step ? launched.notes.step : "start from the zygote", launched.notes.error);
    return tl::make_unexpected(trouble.sentence);
  }
  launched.pid = pid;
  launched.pidfd = sys::Fd(pidfd);
  return {};
}

LaunchTrouble trouble_at(const char* step, int error) {
  return {step, error, {Fault::unavailable, fmt::format("sandbox: {}: {}", step, std::strerror(error))}};
}

/// From the zygote or from nothing; what it is to do is in plan.entry.
Result<void> clone_child(Blueprint& plan, int cgroup, Launched& launched, LaunchTrouble& trouble) {
  // The stack must outlive the child's use of it, which ends with its exec.
  plan.stack.emplace_back(TRY(sys::ChildStack::create(stack_bytes)));
  if (plan.skeleton_ready) plan.stack.emplace_back(TRY(sys::ChildStack::create(stack_bytes)));
  plan.birth_cgroup = cgroup;
  int pidfd = -1;
  sys::CloneArguments arguments;
  arguments.flags = clone_flags(plan) | (cgroup >= 0 && !plan.skeleton_ready ? into_cgroup : 0);
  arguments.pidfd = reinterpret_cast<std::uint64_t>(&pidfd);
  arguments.stack = plan.stack.front().base();
  arguments.stack_size = plan.stack.front().size();
  arguments.cgroup = cgroup >= 0 ? static_cast<std::uint64_t>(cgroup) : 0;
  long pid;
  {
    SignalsBlocked blocked;
    pid = sys::cordon_clone3_call(&arguments, sizeof arguments,
                                  plan.skeleton_ready ? enter_zygote_and_clone : isolate_and_become_pid1, &plan.entry);
  }
  if (pid < 0) {
    trouble = trouble_at("clone3", static_cast<int>(-pid));
    return tl::make_unexpected(trouble.sentence);
  }
  launched.pid = static_cast<int>(pid);
  launched.pidfd = sys::Fd(pidfd);
  if (!plan.skeleton_ready) return {};
  return adopt_sibling(launched, trouble);
}

}  // namespace

Result<std::unique_ptr<Launched>> launch(const LaunchRequest& request, LaunchTrouble& trouble) {
  Blueprint& plan = *request.blueprint;
  auto launched = std::make_unique<Launched>();
  ChildEnds ends;
  CHECK_OK(open_streams(request, *launched, ends));
  Pair control = TRY(make_control());
  Pair go = TRY(make_pipe());
  plan.control = ends.hold(std::move(control.second));
  plan.launcher_control = control.first.get();
  plan.go = ends.hold(std::move(go.first));
  plan.launcher_go = go.second.get();
  launched->control = std::move(control.first);
  launched->notes.timed = plan.timed;
  launched->own_pid_namespace = plan.ladder.namespaces;

  launched->companion_notes.timed = plan.timed;
  plan.entry = {&plan, &launched->notes, &launched->companion_notes};
  CHECK_OK(clone_child(plan, request.cgroup, *launched, trouble));
  if (plan.skeleton_ready) return launched;
  if (plan.maps_written_by_launcher && !plan.skeleton_ready) {
    auto written = write_maps(launched->pid, plan);
    if (!written) {
      launched->kill();
      launched->reap(std::chrono::seconds(5));
      trouble = {"write id map", EPERM, written.error()};
      return tl::make_unexpected(written.error());
    }
    [[maybe_unused]] ssize_t told = ::write(go.second.get(), "g", 1);
  }
  return launched;
}

Result<std::unique_ptr<WaitingChild>> WaitingChild::start(std::unique_ptr<Blueprint> early, int cgroup) {
  std::unique_ptr<WaitingChild> waiting(new WaitingChild(std::move(early)));
  Blueprint& plan = *waiting->early_;
  auto launched = std::make_unique<Launched>();
  ChildEnds ends;
  CHECK_OK(open_streams({&plan, InputKind::pipe}, *launched, ends));
  Pair control = TRY(make_control());
  launched->control = std::move(control.first);
  // Not a pipe: the kernel would take it that who writes to one is about to sleep, and start the child only then.
  waiting->go_ = sys::Fd(::eventfd(0, EFD_CLOEXEC));
  if (waiting->go_.get() < 0) return fail(Fault::unavailable, "eventfd: {}", std::strerror(errno));
  waiting->given_ = {
      plan.input,         plan.output,           plan.error, ends.hold(std::move(control.second)), plan.pid1_image,
      waiting->go_.get(), plan.network_namespace};
  waiting->number(plan, InputKind::pipe);
  plan.entry = {&plan, &launched->notes, &launched->companion_notes, waiting->given_.data()};
  LaunchTrouble trouble;
  CHECK_OK(clone_child(plan, cgroup, *launched, trouble));
  waiting->launched_ = std::move(launched);
  return waiting;
}

WaitingChild::~WaitingChild() {
  if (!launched_) return;
  launched_->kill();
  launched_->reap(std::chrono::seconds(5));
}

bool WaitingChild::alive() const { return launched_->alive(); }

void WaitingChild::number(Blueprint& plan, InputKind input) {
  plan.input = input == InputKind::pipe ? static_cast<int>(waiting_input) : -1;
  plan.output = waiting_output;
  plan.error = waiting_error;
  plan.control = waiting_control;
  plan.pid1_image = waiting_image;
  plan.network_namespace = waiting_network;
  plan.launcher_control = plan.launcher_go = plan.go = -1;
}

std::unique_ptr<Launched> WaitingChild::become(std::unique_ptr<WaitingChild> waiting, Blueprint& plan,
                                               InputKind input) {
  number(plan, input);
  std::unique_ptr<Launched> launched = std::move(waiting->launched_);
  if (input != InputKind::pipe) launched->pipes.input.reset();
  waiting->early_->entry.blueprint = &plan;
  // Should it be dead, its control socket says so.
  ::eventfd_write(waiting->go_.get(), 1);
  plan.waited_with = std::shared_ptr<WaitingChild>(std::move(waiting));
  return launched;
}

Result<std::optional<PidOneMessage>> Launched::receive() {
  PidOneMessage message{};
  iovec bytes{&message.report, sizeof message.report};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &bytes;
  header.msg_iovlen = 1;
  header.msg_control = space;
  header.msg_controllen = sizeof space;
  ssize_t got;
  do {
    got = ::recvmsg(control->get(), &header, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got == 0 || (got < 0 && errno == ECONNRESET)) return std::optional<PidOneMessage>();
  if (got != static_cast<ssize_t>(sizeof message.report)) {
    return fail(Fault::internal, "control socket of the sandbox: {}", got < 0 ? std::strerror(errno) : "cut message");
  }
  if (cmsghdr* passed = CMSG_FIRSTHDR(&header); passed && passed->cmsg_type == SCM_RIGHTS) {
    message.descriptor = sys::Fd(*reinterpret_cast<int*>(CMSG_DATA(passed)));
  }
  return std::optional<PidOneMessage>(std::move(message));
}

Result<void> Launched::wait_until_ready(LaunchTrouble& trouble) {
  for (;;) {
    auto message = TRY(receive());
    if (!message) break;
    if (message->report.kind == ReportKind::ready) return {};
    const auto kind = static_cast<std::uint32_t>(message->report.kind);
    if (kind == static_cast<std::uint32_t>(PassedFd::terminal)) terminal = std::move(message->descriptor);
    if (kind == static_cast<std::uint32_t>(PassedFd::listener)) listener = std::move(message->descriptor);
    if (kind == static_cast<std::uint32_t>(PassedFd::memory)) memory = std::move(message->descriptor);
    if (kind == static_cast<std::uint32_t>(PassedFd::proxy)) proxy = std::move(message->descriptor);
    if (kind == static_cast<std::uint32_t>(PassedFd::network)) network = std::move(message->descriptor);
  }
  reap(std::chrono::seconds(5));
  const ChildNotes& told = notes.step ? notes : companion_notes;
  const char* step = told.step ? told.step : "pid 1 did not come up";
  trouble = trouble_at(step, told.error);
  if (told.object[0]) {
    trouble.sentence.sentence = fmt::format("sandbox: {} {}: {}", step, told.object, std::strerror(told.error));
  }
  return tl::make_unexpected(trouble.sentence);
}

Result<void> Launched::send_orders(const std::string& orders) {
  std::size_t sent = 0;
  while (sent < orders.size()) {
    ssize_t count = ::send(control->get(), orders.data() + sent, orders.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(Fault::internal, "send orders to the sandbox: {}", std::strerror(errno));
    sent += static_cast<std::size_t>(count);
  }
  return {};
}

Result<void> Launched::send_doors(const std::vector<sys::Fd>& doors) {
  if (doors.empty()) return {};
  std::vector<int> numbers;
  for (const sys::Fd& door : doors) numbers.push_back(door.get());
  return send_descriptors(order_enter, numbers);
}

Result<void> Launched::send_descriptors(OrderFlags purpose, const std::vector<int>& descriptors) {
  if (descriptors.size() > most_doors) return fail(Fault::internal, "{} descriptors at once", descriptors.size());
  Orders orders{};
  orders.magic = orders_magic;
  orders.flags = purpose;
  iovec bytes{&orders, sizeof orders};
  alignas(cmsghdr) char space[CMSG_SPACE(most_doors * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
  std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size() * sizeof(int));
  ssize_t sent;
  do {
    sent = ::sendmsg(control->get(), &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent != static_cast<ssize_t>(sizeof orders)) {
    return fail(Fault::internal, "send descriptors to the sandbox: {}", std::strerror(errno));
  }
  return {};
}

void Launched::ask_to_end() {
  if (control) ::shutdown(control->get(), SHUT_WR);
}

void Launched::kill() {
  if (pidfd) ::syscall(SYS_pidfd_send_signal, pidfd->get(), SIGKILL, nullptr, 0);
}

bool Launched::alive() const {
  if (!pidfd) return false;
  pollfd ended{pidfd->get(), POLLIN, 0};
  return ::poll(&ended, 1, 0) == 0;
}

bool Launched::reap(std::chrono::milliseconds patience) {
  if (!pidfd) return true;
  pollfd ended{pidfd->get(), POLLIN, 0};
  int ready;
  do {
    ready = ::poll(&ended, 1, static_cast<int>(patience.count()));
  } while (ready < 0 && errno == EINTR);
  if (ready <= 0) return false;
  if (ours_to_reap) {
    siginfo_t info{};
    rusage usage{};
    constexpr int by_pidfd = 3;  // P_PIDFD
    ::syscall(SYS_waitid, by_pidfd, pidfd->get(), &info, WEXITED | __WALL, &usage);
    cpu_us = microseconds(usage.ru_utime) + microseconds(usage.ru_stime);
    peak_rss_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  }
  pidfd.reset();
  return true;
}

std::string encode_orders(const Profile& profile, const Command& command) {
  const std::vector<std::string>& arguments = command.arguments;
  const std::vector<std::string>& environment = command.environment;
  std::string strings;
  auto add = [&](const std::string& text) {
    // A NUL would end the string for the program anyway: whatever follows must not become another argument.
    strings.append(text.c_str());
    strings.push_back('\0');
  };
  add(command.cwd);
  add(profile.program.shell_text ? "/bin/bash" : arguments.front());
  std::string search = "/usr/local/bin:/usr/bin:/bin";
  for (const std::string& variable : environment) {
    if (variable.starts_with("PATH=")) search = variable.substr(5);
  }
  add(search);
  for (const std::string& argument : arguments) add(argument);
  for (const std::string& variable : environment) add(variable);
  for (const std::string& place : command.places) add(place);

  Orders orders{};
  orders.magic = orders_magic;
  orders.flags = command.flags;
  orders.bytes = static_cast<std::uint32_t>(strings.size());
  orders.arguments = static_cast<std::uint32_t>(arguments.size());
  orders.variables = static_cast<std::uint32_t>(environment.size());
  orders.places = static_cast<std::uint32_t>(command.places.size());
  if (profile.program.expected) {
    const FileIdentity& expected = *profile.program.expected;
    orders.flags |= order_compare;
    orders.expected_device = expected.device;
    orders.expected_inode = expected.inode;
    orders.expected_size = expected.size;
    orders.expected_mtime_ns = expected.mtime_ns;
    orders.expected_ctime_ns = expected.ctime_ns;
    if (expected.content) {
      orders.flags |= order_compare_content;
      std::memcpy(orders.expected_content, expected.content->bytes().data(), sizeof orders.expected_content);
    }
  }
  std::string message(reinterpret_cast<const char*>(&orders), sizeof orders);
  return message + strings;
}

}  // namespace cordon::sandbox::native
