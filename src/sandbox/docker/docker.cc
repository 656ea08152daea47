#include "sandbox/docker/docker.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/digest.h"
#include "sandbox/container/group.h"
#include "sandbox/container/pipes.h"
#include "sandbox/container/supervise.h"
#include "sandbox/docker/kept.h"
#include "sandbox/docker/request.h"
#include "sandbox/docker/streams.h"
#include "sandbox/native/id_mapped.h"
#include "sandbox/native/user_namespace.h"
#include "sys/file.h"
#include "sys/liveness.h"
#include "sys/raw_files.h"

namespace cordon::sandbox::docker {

namespace {

std::string mark_of(const std::string& state_directory) { return sha256(state_directory).hex().substr(0, 32); }

container::Identity own_identity() {
  if (::geteuid() == 0) return {native::unowned_id, native::unowned_id};
  return {::geteuid(), ::getegid()};
}

/// "UID" or "UID:GID" in numbers, neither of them root's.
Result<container::Identity> identity_in(const std::string& text) {
  unsigned uid = 0;
  unsigned gid = 0;
  char rest = 0;
  const int read = std::sscanf(text.c_str(), "%9u:%9u%c", &uid, &gid, &rest);
  const bool good = read == 2 || (read == 1 && text.find_first_not_of("0123456789") == std::string::npos);
  if (!good || uid == 0 || (read == 2 && gid == 0)) {
    return fail(Fault::invalid_input,
                "docker.user is '{}'; expected \"UID\" or \"UID:GID\" in numbers, and never root's 0", text);
  }
  return container::Identity{uid, read == 2 ? gid : uid};
}

/// The pump's thread may wait in a write to a pipe that nobody reads any more.
struct PipesClosedFirst {
  native::Launched& launched;
  ~PipesClosedFirst() { launched.pipes = {}; }
};

}  // namespace

/// One run from its stage to the container's removal, or to its own end in a container that is kept.
class DockerSandbox::Run {
 public:
  Run(const DockerSandbox& owner, const Profile& profile)
      : engine_(owner.engine_), state_(owner.options_.state_directory), profile_(profile) {}

  Result<void> run(Io& io, std::stop_token stop, RunReport& report) {
    if (profile_.image.empty()) return fail(Fault::internal, "the plan names no image");
    identity_ = profile_.image_user.empty() ? own_identity() : TRY(identity_in(profile_.image_user));
    container::Stage stage = TRY(container::Stage::create(state_));
    container::Layout layout = TRY(container::lay_out(profile_, stage, state_));
    CHECK_OK(add_own_places(stage, layout));
    if (may_be_kept(profile_)) {
      container::Called called;
      if (TRY(enter_kept(layout, called, report))) {
        container::supervise(layout, called, io, std::move(stop), report);
        return {};
      }
    }
    return run_once(stage, layout, io, std::move(stop), report);
  }

 private:
  static constexpr std::size_t control_place = 1;

  container::MountedBy mounted_by() const {
    return ::geteuid() == 0 ? container::MountedBy::us : container::MountedBy::engine;
  }

  Result<void> add_own_places(container::Stage& stage, container::Layout& layout) const {
    const std::vector<container::Place> own = {
        {stage.init(), container::inner_init, false, false, true},
        {stage.control(), container::inner_control, true, false, true},
        {TRY(stage.write("passwd", container::passwd_for(identity_))), "/etc/passwd", false, false, true},
        {TRY(stage.write("group", container::group_for(identity_))), "/etc/group", false, false, true},
        // Engines give copies of the host's.
        {TRY(stage.write("hosts", "127.0.0.1 localhost sandbox\n::1 localhost\n")), "/etc/hosts", false, false, true},
        {TRY(stage.write("resolv.conf", "")), "/etc/resolv.conf", false, false, true}};
    layout.places.insert(layout.places.begin(), own.begin(), own.end());
    // Nobody but us can change what is on the stage, and a kept container was made from another one.
    for (const container::Place& place : layout.places) {
      if (!place.ours) layout.command.places.push_back(TRY(container::place_as_seen(place, mounted_by())));
    }
    return {};
  }

  ContainerRequest request() const {
    return {.dialect = engine_.is_podman() ? Dialect::podman : Dialect::docker,
            .filter = {},
            .user = fmt::format("{}:{}", identity_.uid, identity_.gid),
            .arguments = {container::inner_control},
            .input = false,
            .mounts = {},
            .labels = {{state_label, mark_of(state_)}}};
  }

  /// Given by root, everything belongs to somebody whom the container's user is not.
  Result<void> put_in_place(container::Stage& stage, const std::vector<container::Place>& places,
                            ContainerRequest& request) const {
    native::Blueprint plan;
    native::choose_identity(plan);
    // Podman reads the file when the container is made, and the stage is there until then.
    request.filter = engine_.is_podman() ? TRY(stage.write("filter.json", filter_text())) : filter_text();
    for (const container::Place& place : places) {
      // Read-only holds for the mount itself, so nothing that is mounted below comes along.
      Mount mount{place.source, place.target, !place.writable, place.writable};
      if (plan.started_by_root && !place.ours) {
        mount.source = TRY(mount_guarded(stage, place, plan));
        // Docker, told to make it read-only, would do only that, and so take away nosuid and nodev. It is so already,
        // and pid 1 looks. Podman has flags of its own, among them these.
        mount.read_only = mount.read_only && engine_.is_podman();
      }
      CHECK_OK(check_mount(mount, request.dialect));
      request.mounts.push_back(std::move(mount));
    }
    if (engine_.is_podman()) share_temporary(request.mounts);
    return {};
  }

  /// With a read-only root Podman puts a directory in memory at /var/tmp, unless something is there. Where an image has
  /// a link there, that would cover /tmp.
  static void share_temporary(std::vector<Mount>& mounts) {
    const auto at = [&](const char* target) { return std::ranges::find(mounts, target, &Mount::target); };
    if (at("/tmp") == mounts.end() || at("/var/tmp") != mounts.end()) return;
    Mount mount = *at("/tmp");
    mount.target = "/var/tmp";
    mounts.push_back(std::move(mount));
  }

  static Result<std::string> mount_guarded(container::Stage& stage, const container::Place& place,
                                           const native::Blueprint& plan) {
    const sys::Fd tree = TRY(native::id_mapped_tree(place.source, plan));
    const sys::raw::MountAttributes guarded{.set = sys::raw::mount_no_suid | sys::raw::mount_no_dev |
                                                   (place.writable ? 0 : sys::raw::mount_read_only)};
    long done = sys::raw::mount_setattr(tree.get(), "", sys::raw::at_empty_path | sys::raw::at_recursive, guarded);
    std::string point = TRY(stage.make_mount_point(place.directory));
    if (done >= 0) done = sys::raw::move_mount(tree.get(), AT_FDCWD, point.c_str());
    if (done >= 0) return point;
    return fail(Fault::unavailable, "mount {}: {}", place.source, std::strerror(static_cast<int>(-done)));
  }

  Result<void> run_once(container::Stage& stage, container::Layout& layout, Io& io, std::stop_token stop,
                        RunReport& report) {
    ContainerRequest wanted = request();
    wanted.labels[owner_label] = sys::own_liveness();
    wanted.input = profile_.input == Input::given;
    CHECK_OK(put_in_place(stage, layout.places, wanted));
    const std::string id = TRY(engine_.create(stage.id(), body_of(layout, wanted)));
    auto ran = attend(id, stage, layout, io, std::move(stop), report);
    // Ended by itself it is removed by the engine; whatever else happened, it is removed here.
    if (ran && engine_.wait_until_removed(id)) return ran;
    const auto removed = engine_.remove(id);
    return ran ? removed : ran;  // what went wrong first is told; what could not be removed is swept
  }

  Result<void> attend(const std::string& id, container::Stage& stage, container::Layout& layout, Io& io,
                      std::stop_token stop, RunReport& report) {
    const bool input = profile_.input == Input::given;
    container::Called called;
    const auto pump =
        TRY(StreamPump::start(TRY(engine_.attach(id, input ? Engine::WithInput::yes : Engine::WithInput::no)),
                              input ? native::InputKind::pipe : native::InputKind::null, called.launched));
    const PipesClosedFirst closed{called.launched};
    CHECK_OK(engine_.start(id));
    CHECK_OK(container::take_call(stage, pump->ended(), called.launched));
    const auto state = TRY(engine_.inspect(id));
    if (!state) return fail(Fault::unavailable, "the container is gone before it was given orders");
    CHECK_OK(check_limits(*state));
    called.group = group_of(id, state->pid, report);
    container::supervise(layout, called, io, std::move(stop), report);
    return {};
  }

  /// Engines without control groups (without root, where groups are of version 1) drop limits and go on.
  Result<void> check_limits(const ContainerState& state) const {
    const bool memory = state.memory_bytes > 0 && state.memory_bytes <= memory_of(profile_.limits);
    const bool processes = state.processes > 0 && state.processes <= processes_of(profile_.limits);
    if (memory && processes) return {};
    return fail(
        Fault::unavailable,
        "the container engine does not limit {}: its control groups cannot; let root start it, or use --backend "
        "native",
        memory ? "processes" : "memory");
  }

  std::unique_ptr<native::Cgroup> group_of(const std::string& id, int pid, RunReport& report) const {
    auto group = std::make_unique<container::ContainerGroup>(pid, [this, id] { static_cast<void>(engine_.kill(id)); });
    if (!group->visible()) {
      report.isolation.missing.emplace_back("what it uses: the engine's control groups are not seen from here");
    }
    return group;
  }

  /// False: there is one, made of something else (this run was granted more, say), and this run has its own.
  Result<bool> enter_kept(container::Layout& layout, container::Called& called, RunReport& report) {
    const KeptPlace place = TRY(KeptPlace::enter(profile_.session.path));
    const std::string wanted = made_of(layout, request());
    auto kept = place.noted();
    if (kept && kept->made_of != wanted && place.call()) return false;
    const bool answers = kept && kept->made_of == wanted && container::take_call(place.call(), called.launched);
    if (!answers) {
      // Whatever the engine still has of an earlier one is not reached by anybody any more, and ends by itself.
      kept = TRY(make_kept(place, layout, wanted));
      CHECK_OK(container::take_call(place.call(), called.launched));
    }
    if (layout.placeholders) CHECK_OK(layout.placeholders->also_for(sys::liveness_of(kept->pid)));
    called.group = group_of(kept->id, kept->pid, report);
    const auto input = profile_.input == Input::given ? native::InputKind::pipe : native::InputKind::null;
    const container::ProgramEnds ends = TRY(container::make_pipes(input, identity_, called.launched));
    CHECK_OK(called.launched.send_descriptors(native::order_streams,
                                              {ends.input.get(), ends.output.get(), ends.error.get()}));
    layout.command.flags |= native::order_subreaper;
    return true;
  }

  Result<KeptPlace::Noted> make_kept(const KeptPlace& place, const container::Layout& layout,
                                     const std::string& made_of) const {
    // What it is made from must be in place only until it is made.
    container::Stage stage = TRY(container::Stage::create(state_));
    std::vector<container::Place> places = layout.places;
    places[control_place].source = stage.control();
    ContainerRequest wanted = request();
    wanted.labels[key_label] = profile_.session.path;
    wanted.labels[maker_label] = sys::own_liveness();
    for (const std::uint64_t time : {profile_.kept.idle_ms, profile_.kept.age_ms}) {
      wanted.arguments.push_back(std::to_string(time));
    }
    CHECK_OK(put_in_place(stage, places, wanted));
    const std::string id = TRY(engine_.create(stage.id(), body_of(layout, wanted)));
    auto made = start_kept(id, stage, place, made_of);
    if (!made) static_cast<void>(engine_.remove(id));
    return made;
  }

  Result<KeptPlace::Noted> start_kept(const std::string& id, container::Stage& stage, const KeptPlace& place,
                                      const std::string& made_of) const {
    const sys::Fd listener = TRY(place.listen());
    native::Launched launched;
    CHECK_OK(engine_.start(id));
    CHECK_OK(container::take_call(stage, -1, launched));
    CHECK_OK(launched.send_descriptors(native::order_listen, {listener.get()}));
    const auto message = TRY(launched.receive());
    const auto state = TRY(engine_.inspect(id));
    if (!message || message->report.kind != native::ReportKind::started || !state || state->pid <= 0) {
      return fail(Fault::unavailable, "the container that would be kept ended at once");
    }
    CHECK_OK(check_limits(*state));
    const KeptPlace::Noted made{id, state->pid, made_of};
    CHECK_OK(place.note(made));
    return made;
  }

  const Engine& engine_;
  const std::string& state_;
  const Profile& profile_;
  container::Identity identity_;
};

Result<std::unique_ptr<DockerSandbox>> DockerSandbox::open(Options options) {
  Engine engine = TRY(Engine::find(options.sockets));
  native::sweep_placeholders(options.state_directory);
  std::unique_ptr<DockerSandbox> made(new DockerSandbox(std::move(options), std::move(engine)));
  made->sweep();
  return made;
}

void DockerSandbox::sweep() const {
  const auto left = engine_.list(fmt::format("{}={}", state_label, mark_of(options_.state_directory)));
  if (left) {
    for (const ListedContainer& container : *left) {
      const auto gone = [&](const char* label) {
        const auto mark = container.labels.find(label);
        return mark != container.labels.end() && !sys::is_alive(mark->second);
      };
      // One that is kept and runs ends by itself; one that never ran was left by who would have started it.
      if (gone(owner_label) || (!container.running && gone(maker_label))) {
        static_cast<void>(engine_.remove(container.id));
      }
    }
  }
  container::sweep_stages(options_.state_directory, [](const std::string&) {});
}

Result<std::vector<Kept>> DockerSandbox::kept() const {
  std::vector<Kept> list;
  for (const ListedContainer& container :
       TRY(engine_.list(fmt::format("{}={}", state_label, mark_of(options_.state_directory))))) {
    const auto session = container.labels.find(key_label);
    if (container.running && session != container.labels.end()) list.push_back({container.id, session->second});
  }
  return list;
}

Result<void> DockerSandbox::end(const Kept& kept) const {
  CHECK_OK(engine_.remove(kept.id));
  return engine_.wait_until_removed(kept.id);
}

Isolation DockerSandbox::isolation() const {
  return {.backend = "docker",
          .level = "external",
          .missing = {"Landlock: files are held by mounts alone",
                      "user namespace: unless the engine remaps users, its user is the same one outside"}};
}

RunReport DockerSandbox::run(Clearance clearance, Io& io, std::stop_token stop) {
  RunReport report;
  report.isolation = isolation();
  if (clearance.profile().report_violations) report.isolation.missing.emplace_back("reports of refused calls");
  if (clearance.profile().network == Network::rules) {
    report.isolation.missing.emplace_back("the network rules: this backend has no network at all");
  }
  const auto begin = std::chrono::steady_clock::now();
  if (auto ran = Run(*this, clearance.profile()).run(io, std::move(stop), report); !ran) {
    report.outcome = container::unrun(ran.error());
  }
  report.duration = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin);
  return report;
}

}  // namespace cordon::sandbox::docker
