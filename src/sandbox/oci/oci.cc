#include "sandbox/oci/oci.h"

#include <unistd.h>

#include "sandbox/container/group.h"
#include "sandbox/container/supervise.h"
#include "sandbox/native/id_mapped.h"
#include "sandbox/native/user_namespace.h"
#include "sandbox/oci/runtime.h"
#include "sys/capture.h"
#include "sys/file.h"

namespace cordon::sandbox::oci {

namespace {

constexpr std::size_t most_trouble = 4096;
constexpr std::chrono::seconds patience_with_end{15};

const char* package_of(Runtime runtime) { return runtime == Runtime::gvisor ? "runsc" : name_of(runtime); }

/// What the runtime said about why it did not start the container; its own log goes to the same place.
std::string said(const native::Launched& launched) {
  std::string text(most_trouble, '\0');
  const ssize_t got = launched.pipes.error ? ::read(launched.pipes.error->get(), text.data(), text.size()) : 0;
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

/// The runtime writes it once the container runs, which may be after pid 1 has called.
Result<int> pid_in(const std::string& path, RuntimeProcess& process) {
  const auto deadline = std::chrono::steady_clock::now() + container::patience_with_start;
  while (std::chrono::steady_clock::now() < deadline) {
    const auto text = sys::read_file_if_exists(path, 32);
    const int pid = text && *text ? std::atoi((*text)->c_str()) : 0;
    if (pid > 0) return pid;
    if (process.wait(std::chrono::milliseconds(2))) break;
  }
  return fail(Fault::unavailable, "the runtime does not say which process it started");
}

}  // namespace

/// One run from its stage to the runtime's end.
class OciSandbox::Run {
 public:
  Run(OciSandbox& owner, const Profile& profile) : owner_(owner), profile_(profile) {}

  Result<void> run(Io& io, std::stop_token stop, RunReport& report) {
    container::Stage stage = TRY(container::Stage::create(owner_.state_directory_));
    container::Layout layout = TRY(container::lay_out(profile_, stage, owner_.state_directory_));
    container::Called called;
    RuntimeProcess process = TRY(prepare(stage, layout, called));
    auto started = start(stage, process, called);
    if (!started) {
      process.kill();
      process.wait(patience_with_end);
      owner_.remove(stage.id());
      return started;
    }
    container::supervise(layout, called, io, std::move(stop), report);
    if (!process.wait(patience_with_end)) {
      owner_.remove(stage.id());
      process.kill();
      process.wait(patience_with_end);
    }
    return {};
  }

 private:
  Result<RuntimeProcess> prepare(container::Stage& stage, container::Layout& layout, container::Called& called) {
    const bool root = ::geteuid() == 0;
    Bundle bundle{.runtime = owner_.runtime_, .identity = {}, .sources = {}, .cgroups_path = {}};
    // gVisor's users are its own kernel's: its 0 has no capability and is nobody on the host, whose files are opened by
    // a process beside it that id-mapped mounts would shut out.
    const bool mapped = root && owner_.runtime_ != Runtime::gvisor;
    if (mapped) bundle.identity = {native::unowned_id, native::unowned_id};
    if (root) bundle.cgroups_path = "/" + stage.id();
    bundle.processes_in_cgroup = root || (owner_.cgroups_ && owner_.cgroups_->limits_processes());
    std::vector<container::Place> places;
    CHECK_OK(make_root(TRY(stage.make_directory("rootfs")), owner_.root_tree_, bundle.identity, places));
    places.push_back({stage.init(), container::inner_init, false, false, true});
    places.push_back({stage.control(), container::inner_control, true, false, true});
    layout.places.insert(layout.places.begin(), places.begin(), places.end());

    RuntimeStart start{.argv = owner_.words("run"), .directory = stage.path(), .placements = {}, .input = {}};
    start.argv.insert(start.argv.end(), {"--bundle", stage.path(), "--pid-file", stage.path() + "/pid", stage.id()});
    start.input = profile_.input == Input::given ? native::InputKind::pipe : native::InputKind::null;
    native::Blueprint plan;
    native::choose_identity(plan);
    for (const container::Place& place : layout.places) {
      const std::string point = TRY(stage.make_mount_point(place.directory));
      bundle.sources.push_back(point);
      start.placements.push_back({place.source, point, -1});
      if (!mapped || place.ours) continue;
      trees_.push_back(TRY(native::id_mapped_tree(place.source, plan)));
      start.placements.back().prepared_tree = trees_.back().get();
    }
    TRY(stage.write("config.json", config_of(layout, bundle).dump()));
    return RuntimeProcess::start(start, called.launched);
  }

  Result<void> start(container::Stage& stage, RuntimeProcess& process, container::Called& called) {
    const bool gvisor = owner_.runtime_ == Runtime::gvisor;
    if (owner_.cgroups_) {
      Limits limits = profile_.limits;
      if (gvisor) limits.pids = 0;
      called.group = TRY(owner_.cgroups_->create(limits));
      // All of gVisor is in the group, of the others the container alone.
      if (gvisor) CHECK_OK(container::move_into(*called.group, process.pid()));
    }
    CHECK_OK(process.go());
    if (auto call = container::take_call(stage, process.pidfd().get(), called.launched); !call) {
      const std::string why = said(called.launched);
      return fail(call.error().fault, "{}: {}{}{}", name_of(owner_.runtime_), call.error().sentence,
                  why.empty() ? "" : "; it said: ", why);
    }
    const int pid = TRY(pid_in(stage.path() + "/pid", process));
    if (called.group && !gvisor) CHECK_OK(container::move_into(*called.group, pid));
    if (!called.group) {
      called.group = std::make_unique<container::ContainerGroup>(
          ::geteuid() == 0 ? pid : 0, [&owner = owner_, id = stage.id()] { owner.remove(id); });
    }
    if (!gvisor) called.launched.pid = pid;
    return {};
  }

  OciSandbox& owner_;
  const Profile& profile_;
  std::vector<sys::Fd> trees_;
};

OciSandbox::OciSandbox(Runtime runtime, std::string program, std::string state_directory)
    : runtime_(runtime),
      program_(std::move(program)),
      state_directory_(std::move(state_directory)),
      root_tree_(native::RootTree::discover()) {
  if (::geteuid() != 0) cgroups_ = native::find_cgroups();
}

Result<std::unique_ptr<OciSandbox>> OciSandbox::open(Runtime runtime, std::string state_directory) {
  auto program = find_program(runtime);
  if (!program) {
    return fail(Fault::unavailable, "the backend {} needs the program {}; install it: apt install {}", name_of(runtime),
                package_of(runtime), package_of(runtime));
  }
  native::sweep_placeholders(state_directory);
  std::unique_ptr<OciSandbox> made(new OciSandbox(runtime, *std::move(program), std::move(state_directory)));
  CHECK_OK(sys::ensure_private_directory(made->state_directory_ + "/" + name_of(runtime)));
  container::sweep_stages(made->state_directory_, [&made](const std::string& id) { made->remove(id); });
  return made;
}

std::vector<std::string> OciSandbox::words(const std::string& verb) const {
  std::vector<std::string> list = {program_, "--root", state_directory_ + "/" + name_of(runtime_)};
  if (runtime_ == Runtime::gvisor) {
    // A host's socket is reachable only where it is mounted, as everywhere else: pid 1 needs its own.
    list.insert(list.end(), {"--platform=ptrace", "--network=none", "--fsgofer-host-uds", "--oci-seccomp"});
    if (::geteuid() != 0) list.insert(list.end(), {"--rootless", "--ignore-cgroups"});
  }
  list.push_back(verb);
  return list;
}

void OciSandbox::remove(const std::string& id) const {
  sys::Question question{.argv = words("delete"), .environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}};
  question.argv.insert(question.argv.end(), {"--force", id});
  question.patience = std::chrono::seconds(20);
  static_cast<void>(sys::capture(question));
}

Isolation OciSandbox::isolation() const {
  Isolation isolation{.backend = name_of(runtime_), .level = "external", .missing = {}};
  const bool root = ::geteuid() == 0;
  if (runtime_ != Runtime::gvisor) isolation.missing.emplace_back("Landlock: files are held by mounts alone");
  const bool gvisor = runtime_ == Runtime::gvisor;
  if (root && !gvisor) isolation.missing.emplace_back("user namespace: its user is one that owns nothing");
  if (!root && !cgroups_) {
    isolation.missing.emplace_back("control groups: memory and processes are held by a watchdog and RLIMIT_NPROC only");
  } else if (!root) {
    for (std::string& phrase : cgroups_->missing()) isolation.missing.push_back(std::move(phrase));
  }
  if (!root && !gvisor) isolation.missing.emplace_back("a user other than 0 of its own user namespace");
  if (gvisor) isolation.missing.emplace_back("a user other than 0 of gVisor's own kernel");
  if (gvisor) isolation.missing.emplace_back("pids: processes are held by the memory limit alone");
  return isolation;
}

RunReport OciSandbox::run(Clearance clearance, Io& io, std::stop_token stop) {
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

}  // namespace cordon::sandbox::oci
