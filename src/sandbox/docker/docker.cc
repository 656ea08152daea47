#include "sandbox/docker/docker.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/digest.h"
#include "sandbox/container/group.h"
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
    container::Stage stage = TRY(container::Stage::create(state_));
    container::Layout layout = TRY(container::lay_out(profile_, stage, state_));
    if (!may_be_kept(profile_)) return run_once(stage, layout, io, std::move(stop), report);
    ContainerRequest request = TRY(prepare(stage, layout, {TRY(calls_directory()), inner_calls, false, true, true}));
    const std::string id = TRY(kept_container(layout, request));
    if (!id.empty()) return run_inside(id, request, stage, layout, io, std::move(stop), report);
    // The kept one is made of something else (this run was granted more, say): this run has its own.
    layout.places.erase(layout.places.begin(), layout.places.begin() + own_places);
    layout.command.places.clear();
    return run_once(stage, layout, io, std::move(stop), report);
  }

 private:
  static constexpr int own_places = 4;

  Result<std::string> calls_directory() const {
    const std::string path = state_ + "/calls/" + kept_name(profile_.session.path);
    CHECK_OK(sys::ensure_private_directory(path));
    // Its user looks for one name in there, and cannot list others.
    if (::chmod(path.c_str(), 0711) != 0) return fail(Fault::unavailable, "chmod {}: {}", path, std::strerror(errno));
    return path;
  }

  Result<ContainerRequest> prepare(container::Stage& stage, container::Layout& layout, container::Place calls) {
    const container::Identity identity =
        profile_.image_user.empty() ? own_identity() : TRY(identity_in(profile_.image_user));
    const auto file = [&](const char* name, const std::string& content) -> Result<std::string> {
      const std::string path = stage.path() + "/" + name;
      return ::access(path.c_str(), F_OK) == 0 ? path : stage.write(name, content);
    };
    const std::vector<container::Place> own = {
        {stage.init(), container::inner_init, false, false, true},
        std::move(calls),
        {TRY(file("passwd", container::passwd_for(identity))), "/etc/passwd", false, false, true},
        {TRY(file("group", container::group_for(identity))), "/etc/group", false, false, true}};
    static_assert(own_places == 4);
    layout.places.insert(layout.places.begin(), own.begin(), own.end());
    // Nobody but us can change what is on the stage, and a kept container was made from another one.
    for (const container::Place& place : layout.places) {
      if (!place.ours) layout.command.places.push_back(TRY(container::place_as_seen(place.source, place.target)));
    }
    return ContainerRequest{.user = fmt::format("{}:{}", identity.uid, identity.gid),
                            .arguments = {container::inner_control},
                            .sources = {},
                            .labels = {{state_label, mark_of(state_)}}};
  }

  /// Given by root, everything belongs to somebody whom the container's user is not.
  Result<void> put_in_place(container::Stage& stage, const container::Layout& layout, ContainerRequest& request) {
    native::Blueprint plan;
    native::choose_identity(plan);
    for (const container::Place& place : layout.places) {
      if (!plan.started_by_root || place.ours) {
        request.sources.push_back(place.source);
        continue;
      }
      const sys::Fd tree = TRY(native::id_mapped_tree(place.source, plan));
      request.sources.push_back(TRY(stage.make_mount_point(place.directory)));
      const long moved = sys::raw::move_mount(tree.get(), AT_FDCWD, request.sources.back().c_str());
      if (moved < 0) {
        return fail(Fault::unavailable, "move_mount {}: {}", place.source, std::strerror(static_cast<int>(-moved)));
      }
    }
    return {};
  }

  Result<void> run_once(container::Stage& stage, container::Layout& layout, Io& io, std::stop_token stop,
                        RunReport& report) {
    ContainerRequest request =
        TRY(prepare(stage, layout, {stage.control(), container::inner_control, true, false, true}));
    request.labels[owner_label] = sys::own_liveness();
    CHECK_OK(put_in_place(stage, layout, request));
    const std::string id = TRY(engine_.create(stage.id(), body_of(layout, request)));
    auto ran = attend(
        id, [&] { return engine_.attach(id, with_input()); }, stage, layout, io, std::move(stop), report);
    // Ended by itself it is removed by the engine; whatever else happened, it is removed here.
    if (!ran || !engine_.wait_until_removed(id)) CHECK_OK(engine_.remove(id));
    return ran;
  }

  /// Empty: there is one, made of something else.
  Result<std::string> kept_container(const container::Layout& layout, ContainerRequest request) {
    const std::string wanted = made_of(layout, request);
    const auto kept = TRY(find_kept(engine_, profile_.session.path));
    if (kept) return kept->made_of == wanted ? kept->id : std::string();
    // What it is made from must be in place only until it is made.
    container::Stage stage = TRY(container::Stage::create(state_));
    request.labels[key_label] = profile_.session.path;
    request.labels[drift_label] = wanted;
    request.arguments = {std::to_string(kept_idle_seconds), std::to_string(kept_life_seconds)};
    CHECK_OK(put_in_place(stage, layout, request));
    auto made = engine_.create(kept_name(profile_.session.path), body_of(layout, request));
    if (!made) return std::string();  // somebody else is making it at this moment
    if (auto started = engine_.start(*made); !started) {
      static_cast<void>(engine_.remove(*made));
      return tl::make_unexpected(started.error());
    }
    return made;
  }

  Result<void> run_inside(const std::string& id, const ContainerRequest& request, container::Stage& stage,
                          container::Layout& layout, Io& io, std::stop_token stop, RunReport& report) {
    const std::string call = state_ + "/calls/" + kept_name(profile_.session.path) + "/" + stage.id();
    if (::link(stage.control().c_str(), call.c_str()) != 0) {
      return fail(Fault::unavailable, "link {}: {}", call, std::strerror(errno));
    }
    layout.command.flags |= native::order_subreaper;
    const bool input = profile_.input == Input::given;
    const Json body = {
        {"AttachStdin", input}, {"AttachStdout", true},
        {"AttachStderr", true}, {"Tty", false},
        {"User", request.user}, {"Cmd", {container::inner_init, fmt::format("{}/{}", inner_calls, stage.id())}}};
    auto start = [&]() -> Result<Hijacked> { return engine_.start_exec(TRY(engine_.create_exec(id, body))); };
    auto ran = attend(id, start, stage, layout, io, std::move(stop), report);
    ::unlink(call.c_str());
    return ran;
  }

  Engine::WithInput with_input() const {
    return profile_.input == Input::given ? Engine::WithInput::yes : Engine::WithInput::no;
  }

  Result<void> attend(const std::string& id, const std::function<Result<Hijacked>()>& connect, container::Stage& stage,
                      container::Layout& layout, Io& io, std::stop_token stop, RunReport& report) {
    const bool input = profile_.input == Input::given;
    container::Called called;
    const auto pump = TRY(
        StreamPump::start(TRY(connect()), input ? native::InputKind::pipe : native::InputKind::null, called.launched));
    const PipesClosedFirst closed{called.launched};
    CHECK_OK(engine_.start(id));  // one that runs already stays as it is
    CHECK_OK(container::take_call(stage, pump->ended(), called.launched));
    const auto state = TRY(engine_.inspect(id));
    if (!state) return fail(Fault::unavailable, "the container is gone before it was given orders");
    const bool kept = state->labels.contains(key_label);
    if (kept && layout.placeholders) CHECK_OK(layout.placeholders->also_for(sys::liveness_of(state->pid)));
    auto group =
        std::make_unique<container::ContainerGroup>(state->pid, [this, &id] { static_cast<void>(engine_.kill(id)); });
    if (!group->visible()) {
      report.isolation.missing.emplace_back("what it uses: the engine's control groups are not seen from here");
    }
    called.group = std::move(group);
    container::supervise(layout, called, io, std::move(stop), report);
    return {};
  }

  const Engine& engine_;
  const std::string& state_;
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

Result<std::vector<Kept>> DockerSandbox::kept() const {
  std::vector<Kept> list;
  for (const ListedContainer& container :
       TRY(engine_.list(fmt::format("{}={}", state_label, mark_of(options_.state_directory))))) {
    const auto session = container.labels.find(key_label);
    const auto made = container.labels.find(drift_label);
    if (!container.running || session == container.labels.end() || made == container.labels.end()) continue;
    list.push_back({container.id, session->second, made->second});
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
