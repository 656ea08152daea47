#include "sandbox/native/native.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>

#include "sandbox/native/cgroup.h"
#include "sandbox/native/draft.h"
#include "sandbox/native/launcher.h"
#include "sandbox/native/level.h"
#include "sandbox/native/monitor.h"
#include "sandbox/native/pid1_image.h"
#include "sys/landlock.h"

namespace cordon::sandbox::native {

namespace {

/// Descriptors 0 to 2 must be something, or the sandbox's own pipes would take their numbers.
void open_standard_descriptors() {
  for (int fd = 0; fd < 3; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
      [[maybe_unused]] int null = ::open("/dev/null", O_RDWR);
    }
  }
}

}  // namespace

struct NativeSandbox::State {
  Machine machine;
  std::unique_ptr<Cgroups> cgroups;
  bool dumpable = ::prctl(PR_GET_DUMPABLE) == 1;
  std::mutex ladder_lock;

  explicit State(Machine given) : machine(std::move(given)) {}

  RunReport run(const Profile& profile, Io& io, std::stop_token stop);
  Result<std::unique_ptr<Launched>> start(const Profile& profile, std::unique_ptr<Draft>& draft,
                                          std::unique_ptr<Cgroup>& cgroup, RunReport& report);
};

Result<std::unique_ptr<NativeSandbox>> NativeSandbox::open(Options options) {
  open_standard_descriptors();
  Machine machine{RootTree::discover(), TRY(make_pid1_image()), {}, options.weakened, options.state_directory};
  machine.ladder = highest_ladder(options.weakened);
  if (!options.state_directory.empty()) sweep_placeholders(options.state_directory);
  auto state = std::make_unique<State>(std::move(machine));
  if (!options.weakened.cgroup()) state->cgroups = find_cgroups();
  return std::unique_ptr<NativeSandbox>(new NativeSandbox(std::move(state)));
}

NativeSandbox::NativeSandbox(std::unique_ptr<State> state) : state_(std::move(state)) {}
NativeSandbox::~NativeSandbox() = default;

Isolation NativeSandbox::isolation() const {
  return describe_isolation(state_->machine.ladder, state_->cgroups.get(), state_->machine.weakened);
}

RunReport NativeSandbox::run(Clearance clearance, Io& io, std::stop_token stop) {
  return state_->run(clearance.profile(), io, std::move(stop));
}

/// Drafts and launches, one rung of the ladder lower whenever the machine refuses a step and the profile allows less.
Result<std::unique_ptr<Launched>> NativeSandbox::State::start(const Profile& profile, std::unique_ptr<Draft>& draft,
                                                              std::unique_ptr<Cgroup>& cgroup, RunReport& report) {
  for (;;) {
    report.isolation = describe_isolation(machine.ladder, cgroups.get(), machine.weakened);
    if (!allows(profile.require, report.isolation)) {
      return fail(Fault::denied, "this machine gives level {} and {} is required; missing: {}", report.isolation.level,
                  name_of(profile.require), fmt::join(report.isolation.missing, "; "));
    }
    draft = TRY(draft_surroundings(profile, machine));
    if (cgroups && !cgroup) cgroup = TRY(cgroups->create(profile.limits));
    LaunchTrouble trouble;
    LaunchRequest request{&draft->blueprint, profile.input == Input::given ? InputKind::pipe : InputKind::null,
                          cgroup ? cgroup->birth_descriptor() : -1};
    auto launched = launch(request, trouble);
    if (launched && cgroup) {
      // While the child works on its mounts; nothing of the program runs before the orders are sent.
      if (auto attached = cgroup->attach((*launched)->pid); !attached) {
        (*launched)->kill();
        (*launched)->reap(std::chrono::seconds(5));
        return tl::make_unexpected(attached.error());
      }
    }
    if (launched) {
      auto ready = (*launched)->wait_until_ready(draft->blueprint, trouble);
      if (dumpable && draft->blueprint.maps_written_by_launcher) ::prctl(PR_SET_DUMPABLE, 1);
      if (ready) return launched;
    }
    if (draft->placeholders) draft->placeholders->release();
    std::lock_guard guard(ladder_lock);
    if (trouble.step.empty() || !step_down(machine.ladder, trouble)) {
      return tl::make_unexpected(launched ? trouble.sentence : launched.error());
    }
  }
}

RunReport NativeSandbox::State::run(const Profile& profile, Io& io, std::stop_token stop) {
  RunReport report;
  const auto begin = std::chrono::steady_clock::now();
  if (!profile.program.shell_text && profile.program.argv.empty()) {
    report.outcome = Broken{{Fault::invalid_input, "there is no program to run"}};
    return report;
  }
  std::unique_ptr<Draft> draft;
  std::unique_ptr<Cgroup> cgroup;
  auto launched = start(profile, draft, cgroup, report);
  if (!launched) {
    if (launched.error().fault == Fault::denied)
      report.outcome = Refused{"sandbox.require", launched.error().sentence};
    else
      report.outcome = Broken{launched.error()};
    return report;
  }
  draft_command(profile, machine, *draft);
  auto sent = (*launched)->send_orders(
      encode_orders(profile, draft->arguments, draft->environment, draft->cwd, draft->order_flags));
  if (!sent) {
    (*launched)->kill();
    (*launched)->reap(std::chrono::seconds(5));
    report.outcome = Broken{sent.error()};
    return report;
  }
  Monitor(profile, **launched, cgroup.get(), io, std::move(stop)).watch(report);
  (*launched)->reap(std::chrono::seconds(5));
  if (draft->placeholders) report.quarantined = draft->placeholders->release();
  report.duration = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin);
  return report;
}

}  // namespace cordon::sandbox::native
