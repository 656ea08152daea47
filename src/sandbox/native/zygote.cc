#include "sandbox/native/zygote.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "sandbox/native/child.h"
#include "sandbox/native/filter.h"
#include "sandbox/native/isolate.h"
#include "sandbox/native/user_namespace.h"
#include "sys/clone.h"

namespace cordon::sandbox::native {

using namespace sys;

namespace {

constexpr std::size_t stack_bytes = 64 * 1024;

/// Memory shared with the child that builds the root.
struct Building {
  const Blueprint* blueprint;
  ChildNotes notes;
  int told[2] = {-1, -1};  // the child writes one byte when it is done
  pid_t launcher = ::getpid();
};

void build_and_wait(void* argument) {
  auto* building = static_cast<Building*>(argument);
  Child child(*building->blueprint, building->notes);
  raw::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The launcher may have died before that.
  if (raw::call(SYS_getppid) != building->launcher) return;
  const bool built = become_user(child) && build_shared_root(*building->blueprint, building->notes);
  raw::write(building->told[1], built ? "1" : "0", 1);
  for (;;) raw::call(SYS_pause);
}

/// Started by root, the uid of the launcher means nothing in there: everything is done as the sandbox's user.
bool become_inner_user(Child& child) {
  if (!child.plan.started_by_root) return true;
  return child.ok(raw::call(SYS_setgroups, 0, 0), "setgroups") &&
         child.ok(raw::call(SYS_setresgid, inner_id, inner_id, inner_id), "setresgid") &&
         child.ok(raw::call(SYS_setresuid, inner_id, inner_id, inner_id), "setresuid");
}

struct NetworkRequest {
  int user_namespace;
  int proc;
  long result = -1;
};

/// Shares our table of files, so that what it opens is ours.
void open_network_namespace(void* argument) {
  auto* request = static_cast<NetworkRequest*>(argument);
  request->result = raw::call(SYS_setns, request->user_namespace, CLONE_NEWUSER);
  if (request->result == 0) request->result = raw::call(SYS_unshare, CLONE_NEWNET);
  if (request->result == 0) request->result = raw::open(request->proc, "self/ns/net", O_RDONLY);
  for (;;) raw::call(SYS_exit, 0);
}

Result<Fd> open_namespace(int pid, const char* name) {
  Fd fd(::open(fmt::format("/proc/{}/ns/{}", pid, name).c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) return fail(Fault::unavailable, "open the zygote's {} namespace: {}", name, std::strerror(errno));
  return fd;
}

/// The first directory of every path on the host, so that a workspace can appear at its own path.
void add_first_directories(RootTree& tree) {
  std::error_code error;
  for (const auto& item : std::filesystem::directory_iterator("/", error)) {
    const std::string path = item.path();
    auto taken = [&](const RootTree::Entry& entry) { return entry.path == path; };
    if (!item.is_directory(error) || item.is_symlink(error) || std::ranges::any_of(tree.entries, taken)) continue;
    if (path == "/sys" || path == "/boot" || path == "/lost+found") continue;
    if (std::ranges::find(tree.directories, path) == tree.directories.end()) tree.directories.push_back(path);
  }
}

}  // namespace

Result<std::unique_ptr<Zygote>> Zygote::create(const Machine& machine) {
  RootTree tree = machine.root_tree;
  add_first_directories(tree);
  Blueprint blueprint;
  blueprint.ladder = machine.ladder;
  blueprint.weakened = machine.weakened;
  blueprint.root_tree = &tree;
  choose_identity(blueprint);

  int go[2];
  Building building{&blueprint, {}};
  if (::pipe2(go, O_CLOEXEC) != 0) return fail(Fault::unavailable, "pipe2: {}", std::strerror(errno));
  Fd go_read(go[0]);
  Fd go_write(go[1]);
  if (::pipe2(building.told, O_CLOEXEC) != 0) return fail(Fault::unavailable, "pipe2: {}", std::strerror(errno));
  Fd told_read(building.told[0]);
  Fd told_write(building.told[1]);
  blueprint.go = go_read.get();

  ChildStack stack = TRY(ChildStack::create(stack_bytes));
  CloneArguments arguments;
  arguments.flags = CLONE_VM | CLONE_NEWUSER | CLONE_NEWNS;
  arguments.stack = stack.base();
  arguments.stack_size = stack.size();
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const long pid = cordon_clone3_call(&arguments, sizeof arguments, build_and_wait, &building);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) return fail(Fault::unavailable, "clone3 of a zygote: {}", std::strerror(static_cast<int>(-pid)));

  const int child = static_cast<int>(pid);
  Result<std::unique_ptr<Zygote>> result = fail(Fault::internal, "zygote");
  auto finish = [&]() -> Result<std::unique_ptr<Zygote>> {
    if (blueprint.maps_written_by_launcher) {
      CHECK_OK(write_maps(child, blueprint));
      [[maybe_unused]] ssize_t told = ::write(go_write.get(), "g", 1);
    }
    char byte = '0';
    if (::read(told_read.get(), &byte, 1) != 1 || byte != '1') {
      return fail(Fault::unavailable, "zygote: {} {}: {}", building.notes.step ? building.notes.step : "?",
                  building.notes.object, std::strerror(building.notes.error));
    }
    Fd user = TRY(open_namespace(child, "user"));
    Fd mounts = TRY(open_namespace(child, "mnt"));
    return std::unique_ptr<Zygote>(new Zygote(tree, std::move(user), std::move(mounts)));
  };
  result = finish();
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, __WALL);
  return result;
}

bool Zygote::fits(const Blueprint& blueprint) const {
  for (const PlacedTree& tree : blueprint.trees) {
    for (const std::string& target : tree.targets) {
      const std::string top = target.substr(0, target.find('/', 1));
      if (top != "/tmp" && std::ranges::find(root_tree_.directories, top) == root_tree_.directories.end()) return false;
      // Beneath these, something is mounted that a directory of ours would cover.
      if (top == "/etc" || top == "/dev" || top == "/proc" || top == "/var") return false;
    }
  }
  return true;
}

void Zygote::enter_here(Blueprint& blueprint) {
  blueprint.skeleton_ready = true;
  blueprint.root_tree = &root_tree_;
  blueprint.zygote_user = user_.get();
  blueprint.zygote_mounts = mounts_.get();
}

void Zygote::give_network(Blueprint& blueprint) {
  std::lock_guard guard(lock_);
  if (networks_.empty()) return;
  blueprint.pooled_network.push_back(std::move(networks_.back()));
  networks_.pop_back();
  blueprint.network_namespace = blueprint.pooled_network.back().get();
}

void Zygote::prepare(Blueprint& blueprint) {
  enter_here(blueprint);
  give_network(blueprint);
}

std::optional<Zygote::Begun> Zygote::take_begun(Blueprint& blueprint) {
  // Made by root, it would need descriptors that are there only now: of id-mapped mounts. Its filter is the ordinary
  // one.
  if (blueprint.tty || blueprint.started_by_root || blueprint.filter_has_listener) return std::nullopt;
  std::lock_guard guard(lock_);
  while (!begun_.empty()) {
    Begun begun = std::move(begun_.back());
    begun_.pop_back();
    if (!begun.child->alive()) continue;
    enter_here(blueprint);
    return begun;
  }
  return std::nullopt;
}

Result<Zygote::Begun> Zygote::begin(const Machine& machine, const Ladder& ladder, const Groups& groups) {
  auto early = std::make_unique<Blueprint>();
  early->ladder = ladder;
  early->weakened = machine.weakened;
  early->pid1_image = machine.pid1_image.get();
  early->filter = payload_filter(FilterOptions::namespaced());
  early->scratch_options = scratch_options(groups.likely.value_or(Limits{}));
  choose_identity(*early);
  prepare(*early);
  if (early->network_namespace < 0) return fail(Fault::unavailable, "no network namespace is in stock");
  Begun begun;
  if (groups.from != nullptr) begun.cgroup = TRY(groups.from->create_unlimited());
  if (begun.cgroup && groups.likely) CHECK_OK(begun.cgroup->limit(*groups.likely));
  if (begun.cgroup) begun.cgroup->prepare_to_read();
  begun.child = TRY(WaitingChild::start(std::move(early), begun.cgroup ? begun.cgroup->birth_descriptor() : -1));
  if (begun.cgroup) CHECK_OK(begun.child->send_doors(TRY(begun.cgroup->doors())));
  return begun;
}

void Zygote::stock_begun(const Machine& machine, const Ladder& ladder, const Groups& groups, std::size_t count) {
  // What is switched off for a test is switched off for the sandbox that the test made.
  if (machine.weakened.any() || ::geteuid() == 0 || !ladder.user_namespace) return;
  for (;;) {
    {
      std::lock_guard guard(lock_);
      if (begun_.size() >= count) return;
    }
    auto begun = begin(machine, ladder, groups);
    if (!begun) return;
    std::lock_guard guard(lock_);
    begun_.push_back(std::move(*begun));
  }
}

Result<Fd> Zygote::make_network_namespace() const {
  Fd proc(::open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC));
  NetworkRequest request{user_.get(), proc.get()};
  ChildStack stack = TRY(ChildStack::create(16384));
  CloneArguments arguments;
  arguments.flags = CLONE_VM | CLONE_FILES;
  arguments.stack = stack.base();
  arguments.stack_size = stack.size();
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const long pid = cordon_clone3_call(&arguments, sizeof arguments, open_network_namespace, &request);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0)
    return fail(Fault::unavailable, "clone3 for a network namespace: {}", std::strerror(static_cast<int>(-pid)));
  ::waitpid(static_cast<int>(pid), nullptr, __WALL);
  if (request.result < 0) {
    return fail(Fault::unavailable, "network namespace: {}", std::strerror(static_cast<int>(-request.result)));
  }
  return Fd(static_cast<int>(request.result));
}

void Zygote::stock_network_namespaces(std::size_t count) {
  for (;;) {
    {
      std::lock_guard guard(lock_);
      if (networks_.size() >= count) return;
    }
    auto made = make_network_namespace();
    if (!made) return;
    std::lock_guard guard(lock_);
    networks_.push_back(std::move(*made));
  }
}

void enter_zygote_and_clone(void* entry) {
  auto* given = static_cast<ChildEntry*>(entry);
  const Blueprint& plan = *given->blueprint;
  Child child(plan, *given->notes);
  child.done("clone");
  if (child.ok(raw::call(SYS_setns, plan.zygote_user, CLONE_NEWUSER), "enter the zygote's user namespace") &&
      child.ok(raw::call(SYS_setns, plan.zygote_mounts, CLONE_NEWNS), "enter the zygote's mount namespace") &&
      become_inner_user(child)) {
    child.done("enter zygote");
    // A sibling: the launcher is its parent and collects it.
    CloneArguments arguments;
    arguments.flags = CLONE_VM | CLONE_PARENT | CLONE_PARENT_SETTID | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC |
                      CLONE_NEWUTS | CLONE_NEWCGROUP;
    arguments.parent_tid = reinterpret_cast<std::uint64_t>(&given->notes->sibling);
    arguments.stack = plan.stack.back().base();
    arguments.stack_size = plan.stack.back().size();
    if (plan.birth_cgroup >= 0) {
      arguments.flags |= 0x200000000ULL;  // CLONE_INTO_CGROUP
      arguments.cgroup = static_cast<std::uint64_t>(plan.birth_cgroup);
    }
    child.ok(cordon_clone3_call(&arguments, sizeof arguments, isolate_and_become_pid1, entry), "clone3");
  }
  for (;;) raw::call(SYS_exit, 0);
}

}  // namespace cordon::sandbox::native
