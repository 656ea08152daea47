#include "sandbox/docker/docker.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/digest.h"
#include "sandbox/container/group.h"
#include "sandbox/container/supervise.h"
#include "sandbox/docker/request.h"
#include "sandbox/docker/streams.h"
#include "sandbox/native/id_mapped.h"
#include "sandbox/native/user_namespace.h"
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
    return fail(Fault::invalid_input, "docker.user is '{}'; expected \"UID\" or \"UID:GID\" in numbers, and never root's 0",
                text);
  }
  return container::Identity{uid, read == 2 ? gid : uid};
}

}  // namespace

/// One run from its stage to the container's removal.
class DockerSandbox::Run {
 public:
  Run(const DockerSandbox& owner, const Profile& profile) : owner_(owner), engine_(owner.engine_), profile_(profile) {}

  Result<void> run(Io& io, std::stop_token stop, RunReport& report) {
    if (profile_.image.empty()) return fail(Fault::internal, "the plan names no image");
    container::Stage stage = TRY(container::Stage::create(owner_.options_.state_directory));
    container::Layout layout = TRY(container::lay_out(profile_, stage, owner_.options_.state_directory));
    const ContainerRequest request = TRY(prepare(stage, layout));
    const std::string id = TRY(engine_.create(stage.id(), body_of(layout, request)));
    auto ran = attend(id, stage, layout, io, std::move(stop), report);
    // Ended by itself it is removed by the engine; whatever else happened, it is removed here.
    if (!ran || !engine_.wait_until_removed(id)) CHECK_OK(engine_.remove(id));
    return ran;
  }

 private:
  Result<ContainerRequest> prepare(container::Stage& stage, container::Layout& layout) {
    const container::Identity identity =
        profile_.image_user.empty() ? own_identity() : TRY(identity_in(profile_.image_user));
    std::vector<container::Place> own = {
        {stage.init(), container::inner_init, false, false, true},
        {stage.control(), container::inner_control, true, false, true},
        {TRY(stage.write("passwd", container::passwd_for(identity))), "/etc/passwd", false, false, true},
        {TRY(stage.write("group", container::group_for(identity))), "/etc/group", false, false, true}};
    layout.places.insert(layout.places.begin(), own.begin(), own.end());
    ContainerRequest request{.user = fmt::format("{}:{}", identity.uid, identity.gid),
                             .arguments = {container::inner_control},
                             .sources = {},
                             .labels = {{state_label, mark_of(owner_.options_.state_directory)},
                                        {owner_label, sys::own_liveness()}}};
    native::Blueprint plan;
    native::choose_identity(plan);
    for (const container::Place& place : layout.places) {
      layout.command.places.push_back(TRY(container::place_as_seen(place.source, place.target)));
      if (!plan.started_by_root || place.ours) {
        request.sources.push_back(place.source);
        continue;
      }
      // Given by root, it belongs to somebody whom the container's user is not.
      const sys::Fd tree = TRY(native::id_mapped_tree(place.source, plan));
      request.sources.push_back(TRY(stage.make_mount_point(place.directory)));
      const long moved = sys::raw::move_mount(tree.get(), AT_FDCWD, request.sources.back().c_str());
      if (moved < 0) {
        return fail(Fault::unavailable, "move_mount {}: {}", place.source, std::strerror(static_cast<int>(-moved)));
      }
    }
    return request;
  }

  Result<void> attend(const std::string& id, container::Stage& stage, container::Layout& layout, Io& io,
                      std::stop_token stop, RunReport& report) {
    const bool input = profile_.input == Input::given;
    container::Called called;
    const auto pump = TRY(StreamPump::start(
        TRY(engine_.attach(id, input ? Engine::WithInput::yes : Engine::WithInput::no)),
        input ? native::InputKind::pipe : native::InputKind::null, called.launched));
    CHECK_OK(engine_.start(id));
    CHECK_OK(container::take_call(stage, pump->ended(), called.launched));
    const auto state = TRY(engine_.inspect(id));
    if (!state) return fail(Fault::unavailable, "the container is gone before it was given orders");
    auto group = std::make_unique<container::ContainerGroup>(
        state->pid, [this, &id] { static_cast<void>(engine_.kill(id)); });
    const bool seen = group->visible();
    if (!seen) report.isolation.missing.emplace_back("what it uses: the engine's control groups are not seen from here");
    called.group = std::move(group);
    container::supervise(layout, called, io, std::move(stop), report);
    called.launched.pipes = {};
    return {};
  }

  const DockerSandbox& owner_;
  const Engine& engine_;
  const Profile& profile_;
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
      const auto owner = container.labels.find(owner_label);
      if (owner != container.labels.end() && !sys::is_alive(owner->second)) {
        static_cast<void>(engine_.remove(container.id));
      }
    }
  }
  container::sweep_stages(options_.state_directory, [](const std::string&) {});
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
  const auto begin = std::chrono::steady_clock::now();
  if (auto ran = Run(*this, clearance.profile()).run(io, std::move(stop), report); !ran) {
    report.outcome = container::unrun(ran.error());
  }
  report.duration = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin);
  return report;
}

}  // namespace cordon::sandbox::docker
