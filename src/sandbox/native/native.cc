#include "sandbox/native/native.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

#include "sandbox/native/cgroup.h"
#include "sandbox/native/collector.h"
#include "sandbox/native/draft.h"
#include "sandbox/native/launcher.h"
#include "sandbox/native/level.h"
#include "sandbox/native/monitor.h"
#include "sandbox/native/pid1_image.h"
#include "sandbox/native/violation_watch.h"
#include "sandbox/native/warm.h"
#include "sandbox/native/zygote.h"
#include "sandbox/network/keeper.h"
#include "sandbox/network/publisher.h"
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

/// A program that is started ahead says so when it is up. One that does not is shelved as well: whoever takes it waits.
void wait_for_first_byte(const Launched& launched) {
  if (!launched.pipes.output) return;
  constexpr int patience_ms = 10'000;
  pollfd first{launched.pipes.output->get(), POLLIN, 0};
  ::poll(&first, 1, patience_ms);
}

}  // namespace

/// Passes everything on and keeps the start of the error output, in which programs say what they were denied.
class RememberedErrors : public Io {
 public:
  explicit RememberedErrors(Io& io) : io_(io) {}
  void output(Stream stream, std::string_view bytes) override {
    if (stream == Stream::err && text_.size() < enough) text_.append(bytes.substr(0, enough - text_.size()));
    io_.output(stream, bytes);
  }
  std::optional<int> input_descriptor() override { return io_.input_descriptor(); }
  std::string_view input_text() override { return io_.input_text(); }
  WindowSize window_size() override { return io_.window_size(); }
  std::string_view text() const { return text_; }

 private:
  static constexpr std::size_t enough = 65536;
  Io& io_;
  std::string text_;
};

/// Placeholders stay until pid 1 is gone, and with it everybody who could put something in their place.
void sweep_once_gone(PlaceholderHold& hold, const sys::Fd& pid1) {
  constexpr int patience_ms = 1000;
  pollfd gone{pid1.get(), POLLIN, 0};
  // Without one it was waited for already.
  while (pid1.get() >= 0 && ::poll(&gone, 1, patience_ms) < 0 && errno == EINTR) continue;
  hold.sweep();
}

enum class Ordered { at_once, later };

struct NativeSandbox::State {
  Machine machine;
  std::unique_ptr<Cgroups> cgroups;
  bool dumpable = ::prctl(PR_GET_DUMPABLE) == 1;
  std::mutex lock;
  Ladder ladder;
  std::optional<Limits> limits_asked_for;  // last; most runs ask for the same
  std::unique_ptr<Zygote> zygote;
  // In this order, so that slots go before the zygote and everything is collected last.
  Collector collector;
  std::unique_ptr<WarmSlots> slots;

  explicit State(Machine given) : machine(std::move(given)), ladder(machine.ladder) {}

  Ladder current_ladder() {
    std::lock_guard guard(lock);
    return ladder;
  }
  Ladder ladder_for(const Profile& profile) {
    std::lock_guard guard(lock);
    limits_asked_for = profile.limits;
    return ladder;
  }
  std::optional<Limits> last_limits() {
    std::lock_guard guard(lock);
    return limits_asked_for;
  }
  Result<void> permit(const Profile& profile, Isolation& isolation);
  RunReport run(const Profile& profile, Io& io, std::stop_token stop, Begun* begun);
  std::optional<Slot> complete(const Profile& profile, Begun& begun);
  Result<Slot> start(const Profile& profile, RunReport& report, Ordered ordered);
  Result<void> begin(const Profile& profile, Ordered ordered, Slot& slot, LaunchTrouble& trouble);
  Result<void> finish(const Profile& profile, Ordered ordered, Slot& slot, LaunchTrouble& trouble);
  Result<void> attach(const Profile& profile, Slot& slot);
  void give_up(Slot slot);
  Result<void> send_orders(const Profile& profile, Slot& slot);
};

Result<std::unique_ptr<NativeSandbox>> NativeSandbox::open(Options options) {
  open_standard_descriptors();
  Machine machine{RootTree::discover(), TRY(make_pid1_image()), {}, options.weakened, options.state_directory, false};
  machine.ladder = highest_ladder(options.weakened);
  if (!options.state_directory.empty()) sweep_placeholders(options.state_directory);
  auto state = std::make_unique<State>(std::move(machine));
  if (!options.weakened.cgroup()) state->cgroups = find_cgroups();
  state->machine.processes_in_cgroup = state->cgroups && state->cgroups->limits_processes();
  return std::unique_ptr<NativeSandbox>(new NativeSandbox(std::move(state)));
}

NativeSandbox::NativeSandbox(std::unique_ptr<State> state) : state_(std::move(state)) {}
NativeSandbox::~NativeSandbox() = default;

Isolation NativeSandbox::isolation() const {
  return describe_isolation(state_->current_ladder(), state_->cgroups.get(), state_->machine.weakened);
}

RunReport NativeSandbox::run(Clearance clearance, Io& io, std::stop_token stop) {
  return state_->run(clearance.profile(), io, std::move(stop), nullptr);
}

/// A sandbox that has begun, for one profile.
class NativeSandbox::Begun : public Preparation {
 public:
  Begun(State& state, Profile profile, Slot slot)
      : state_(state), profile_(std::move(profile)), slot_(std::move(slot)) {}
  ~Begun() override {
    if (slot_) state_.give_up(*std::move(slot_));
  }
  /// Only for what it was made for.
  std::optional<Slot> take(const Profile& profile) {
    if (profile != profile_) return std::nullopt;
    return std::exchange(slot_, std::nullopt);
  }

 private:
  State& state_;
  Profile profile_;
  std::optional<Slot> slot_;
};

std::unique_ptr<Preparation> NativeSandbox::prepare(const Profile& profile) {
  State& state = *state_;
  // What is kept ready needs no preparation.
  if (state.slots && slot_key(profile)) return nullptr;
  Isolation isolation;
  if (!state.permit(profile, isolation)) return nullptr;
  Slot slot;
  LaunchTrouble trouble;
  if (!state.begin(profile, Ordered::later, slot, trouble)) {
    state.give_up(std::move(slot));
    return nullptr;
  }
  return std::make_unique<Begun>(state, profile, std::move(slot));
}

RunReport NativeSandbox::run_prepared(std::unique_ptr<Preparation> prepared, Clearance clearance, Io& io,
                                      std::stop_token stop) {
  return state_->run(clearance.profile(), io, std::move(stop), dynamic_cast<Begun*>(prepared.get()));
}

Result<void> NativeSandbox::warm_up(const Profile& profile, const WarmStock& stock) {
  State& state = *state_;
  if (!state.machine.processes_in_cgroup) {
    return fail(Fault::unavailable,
                "warm sandboxes share a user namespace, in which RLIMIT_NPROC would count them together: a pids "
                "control group is needed");
  }
  if (!state.zygote) state.zygote = TRY(Zygote::create(state.machine));
  if (state.dumpable) ::prctl(PR_SET_DUMPABLE, 1);
  if (!state.slots) {
    auto make = [&state](const Profile& wanted) -> Result<Slot> {
      RunReport report;
      if (!wanted.program.waits_for_input) return state.start(wanted, report, Ordered::later);
      Slot slot = TRY(state.start(wanted, report, Ordered::at_once));
      wait_for_first_byte(*slot.launched);
      return slot;
    };
    auto restock = [&state, count = stock.network_namespaces] {
      state.zygote->stock_network_namespaces(count);
      const Zygote::Groups groups{state.cgroups.get(), state.last_limits()};
      state.zygote->stock_begun(state.machine, state.current_ladder(), groups, count / 2);
      state.zygote->stock_network_namespaces(count);
    };
    state.slots = std::make_unique<WarmSlots>(make, restock);
  }
  state.slots->nudge(WarmSlots::Restock::now);
  if (stock.slots > 0) CHECK_OK(state.slots->keep(profile, stock.slots));
  state.slots->wait_until_full();
  return {};
}

void NativeSandbox::keep_ready_what_is_used(std::size_t count) {
  if (state_->slots) state_->slots->keep_what_is_used(count);
}

void NativeSandbox::wait_until_warm() {
  if (state_->slots) state_->slots->wait_until_full();
}

Result<void> NativeSandbox::State::permit(const Profile& profile, Isolation& isolation) {
  isolation = describe_isolation(current_ladder(), cgroups.get(), machine.weakened);
  if (allows(profile.require, isolation)) return {};
  return fail(Fault::denied, "this machine gives level {} and {} is required; missing: {}", isolation.level,
              name_of(profile.require), fmt::join(isolation.missing, "; "));
}

Result<void> NativeSandbox::State::attach(const Profile& profile, Slot& slot) {
  if (cgroups && !slot.cgroup) slot.cgroup = TRY(cgroups->create(profile.limits));
  if (!slot.cgroup) return {};
  return slot.launched->send_doors(TRY(slot.cgroup->doors()));
}

Result<void> NativeSandbox::State::send_orders(const Profile& profile, Slot& slot) {
  Draft& draft = *slot.draft;
  draft_command(profile, machine, draft);
  return slot.launched->send_orders(
      encode_orders(profile, {draft.arguments, draft.environment, draft.cwd, {}, draft.order_flags}));
}

/// The child works on its mounts when this returns. Into its control groups first, then the orders: nothing of the
/// program runs outside of them.
Result<void> NativeSandbox::State::begin(const Profile& profile, Ordered ordered, Slot& slot, LaunchTrouble& trouble) {
  slot.draft = TRY(draft_surroundings(profile, machine, ladder_for(profile)));
  Blueprint& plan = slot.draft->blueprint;
  const InputKind input = profile.input == Input::given ? InputKind::pipe : InputKind::null;
  std::optional<Zygote::Begun> begun;
  if (zygote && plan.ladder.user_namespace && zygote->fits(plan)) {
    begun = zygote->take_begun(plan);
    if (!begun) zygote->prepare(plan);
  }
  if (begun) {
    slot.cgroup = std::move(begun->cgroup);
    slot.launched = WaitingChild::become(std::move(begun->child), plan, input);
    // It mounts meanwhile; nothing is started before its orders.
    if (slot.cgroup) CHECK_OK(slot.cgroup->limit(profile.limits));
  } else {
    if (cgroups && !slot.cgroup && cgroups->born_into()) slot.cgroup = TRY(cgroups->create(profile.limits));
    slot.launched = TRY(launch({&plan, input, slot.cgroup ? slot.cgroup->birth_descriptor() : -1}, trouble));
  }
  if (plan.skeleton_ready && !begun && slots && ordered == Ordered::at_once) slots->nudge(WarmSlots::Restock::now);
  if (begun) return {};  // in its groups since it waits
  auto attached = attach(profile, slot);
  if (!attached) slot.launched->kill();
  if (slot.cgroup) slot.cgroup->prepare_to_read();
  return attached;
}

/// The child reads its orders when it is done with its mounts.
Result<void> NativeSandbox::State::finish(const Profile& profile, Ordered ordered, Slot& slot, LaunchTrouble& trouble) {
  if (ordered == Ordered::at_once) (void)send_orders(profile, slot);
  auto ready = slot.launched->wait_until_ready(trouble);
  if (dumpable && slot.draft->blueprint.started_by_root) ::prctl(PR_SET_DUMPABLE, 1);
  return ready;
}

void NativeSandbox::State::give_up(Slot slot) {
  if (slot.launched) {
    slot.launched->kill();
    slot.launched->reap(std::chrono::seconds(5));
  }
  if (slot.draft && slot.draft->placeholders) slot.draft->placeholders->release();
  collector.take(std::move(slot), Collector::When::now);
}

/// One rung of the ladder lower whenever the machine refuses a step and the profile allows less.
Result<Slot> NativeSandbox::State::start(const Profile& profile, RunReport& report, Ordered ordered) {
  for (;;) {
    Slot slot;
    CHECK_OK(permit(profile, report.isolation));
    LaunchTrouble trouble;
    auto started = begin(profile, ordered, slot, trouble);
    if (started) started = finish(profile, ordered, slot, trouble);
    if (started) return slot;
    give_up(std::move(slot));
    std::lock_guard guard(lock);
    if (trouble.step.empty() || !step_down(ladder, trouble)) return tl::make_unexpected(started.error());
  }
}

/// Nothing when it did not come up: the ordinary start then says why, or finds another way.
std::optional<Slot> NativeSandbox::State::complete(const Profile& profile, Begun& begun) {
  std::optional<Slot> slot = begun.take(profile);
  LaunchTrouble trouble;
  if (!slot || finish(profile, Ordered::at_once, *slot, trouble)) return slot;
  give_up(*std::move(slot));
  return std::nullopt;
}

RunReport NativeSandbox::State::run(const Profile& profile, Io& io, std::stop_token stop, Begun* begun) {
  RunReport report;
  const auto begin = std::chrono::steady_clock::now();
  auto unrun = [&](const Error& error) {
    if (error.fault == Fault::denied)
      report.outcome = Refused{"sandbox.require", error.sentence};
    else
      report.outcome = Broken{error};
    return std::move(report);
  };
  if (!profile.program.shell_text && profile.program.argv.empty()) {
    return unrun({Fault::invalid_input, "there is no program to run"});
  }
  std::unique_ptr<network::Publisher> publisher;
  if (!profile.published.empty()) {
    auto opened = network::Publisher::open(profile.published);
    if (!opened) return unrun(opened.error());
    publisher = *std::move(opened);
  }
  std::optional<Slot> slot;
  if (begun) slot = complete(profile, *begun);
  if (slot) {
    report.isolation = describe_isolation(slot->draft->blueprint.ladder, cgroups.get(), machine.weakened);
  } else if (slots && (slot = slots->take(profile))) {
    if (auto permitted = permit(profile, report.isolation); !permitted) return unrun(permitted.error());
    // A slot that died while it waited is no reason to fail.
    if (profile.program.waits_for_input ? !slot->launched->alive() : !send_orders(profile, *slot)) slot.reset();
  }
  if (!slot) {
    auto started = start(profile, report, Ordered::at_once);
    if (!started) return unrun(started.error());
    slot = std::move(*started);
  }
  std::unique_ptr<ViolationWatch> violations;
  if (slot->launched->listener) {
    const bool own = slot->draft->blueprint.ladder.namespaces;
    violations = std::make_unique<ViolationWatch>(std::move(*slot->launched->listener),
                                                  own ? FilterOptions::namespaced() : FilterOptions::strict());
  }
  std::unique_ptr<network::Keeper> keeper;
  if (slot->launched->proxy) {
    const Limits& limits = profile.limits;
    network::KeeperOptions options{std::move(*slot->launched->proxy),
                                   profile.network_rules,
                                   {limits.connections, limits.network_bytes, limits.connection_ms}};
    keeper = std::make_unique<network::Keeper>(std::move(options), io);
  }
  if (publisher && slot->launched->network) {
    if (auto led = publisher->start(*slot->launched->network); !led) return unrun(led.error());
  }
  RememberedErrors remembered(io);
  Io& streams = violations ? static_cast<Io&>(remembered) : io;
  Monitor(profile, *slot->launched, slot->cgroup.get(), streams, std::move(stop)).watch(report);
  if (keeper) report.contacts = keeper->finish();
  if (violations) report.violations = violations->finish(remembered.text());
  if (slot->launched->memory) io.left(std::move(*slot->launched->memory));
  if (auto& placeholders = slot->draft->placeholders) {
    if (placeholders->watches()) slot->launched->reap(std::chrono::seconds(1));
    report.quarantined = placeholders->quarantine();
    // Not swept here: while its mounts are there that waits for the kernel, and there is a record to be written.
    const int pid1 = slot->launched->pidfd ? ::fcntl(slot->launched->pidfd->get(), F_DUPFD_CLOEXEC, 3) : -1;
    auto held = std::make_shared<std::pair<PlaceholderHold, sys::Fd>>(*std::move(placeholders), sys::Fd(pid1));
    auto errand = collector.send([held] { sweep_once_gone(held->first, held->second); });
    report.holding = std::shared_ptr<void>(nullptr, [errand](void*) { errand->finish(); });
  }
  // Who keeps sandboxes ready lives on: there is time. Who runs one command waits for this at its end.
  collector.take(*std::move(slot), slots ? Collector::When::soon : Collector::When::now);
  if (slots) slots->nudge(WarmSlots::Restock::soon);
  report.duration = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin);
  return report;
}

}  // namespace cordon::sandbox::native
