// Runs one command in a sandbox (by default the native one) and prints the report as JSON: for tests and manual trials,
// without judging, approval or record.
//
//   sandbox_run [options] -- PROGRAM ARG…      or      sandbox_run [options] --shell TEXT      or      sandbox_run
//   --doctor
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>

#include "base/digest.h"
#include "base/json.h"
#include "sandbox/docker/docker.h"
#include "sandbox/native/doctor.h"
#include "sandbox/native/native.h"
#include "sandbox/oci/oci.h"
#include "sys/file.h"
#include "tests/support/unrecorded_clearance.h"

namespace cordon {
namespace {

using sandbox::native::Options;

const char* usage_text =
    "sandbox_run [--backend native|runc|crun|gvisor|docker] [--socket S] [--image ID] [--workspace DIR --access "
    "none|ro|rw|overlay] [--upper DIR] [--protect REL]… [--hide REL]…\n"
    "  [--bind SRC:DST:ro|rw]… [--cwd DIR] [--env K=V]… [--session DIR [--idle MS --life MS]] [--home DIR] [--git-name "
    "N --git-email E] "
    "[--state DIR]\n"
    "  [--wall MS] [--cpu MS] [--memory BYTES] [--pids N] [--file BYTES] [--disk BYTES] [--inodes N] [--files N]\n"
    "  [--output BYTES] [--output-kill BYTES] [--cpus X] [--network none|loopback] [--reach RULE]… [--publish PORT]… "
    "[--stdin TEXT | --stdin-inherit]\n"
    "  [--expect FILE] [--tty] [--violations] [--require L0..L4] [--without LAYER]… [--repeat N] [--first-memory "
    "BYTES] [--first-disk BYTES] [--warm N] [--raw] "
    "[--prepared for-it|for-another|in-vain] "
    "(--shell TEXT | -- "
    "PROGRAM "
    "ARG…)\n"
    "LAYER: seccomp landlock cgroup capabilities rlimits proc userns namespaces readonly mountflags masks protected "
    "init fds pdeathsig\n"
    "--raw passes output through as it comes and prints the report on fd 3 if that is open, else nothing; the exit\n"
    "status is the command's (124 timeout, 125 broken, 137 killed otherwise).\n";

[[noreturn]] void usage(const std::string& trouble) {
  std::fprintf(stderr, "sandbox_run: %s\n%s", trouble.c_str(), usage_text);
  std::exit(2);
}

struct Arguments {
  Profile profile;
  Options options;
  std::string backend = "native";
  std::string socket = "/run/docker.sock";
  std::string stdin_text;
  bool stdin_inherit = false;
  bool raw = false;
  int repeat = 1;
  std::uint64_t first_memory = 0;  // of the first of several runs
  std::uint64_t first_disk = 0;
  std::string prepared;  // a place is prepared: for this run, for one that may write, or for none
  int warm = 0;          // 1: from a zygote; more: that many slots and one
};

void weaken(sandbox::Weakened& weakened, const std::string& layer) {
  using namespace sandbox;
  static const std::map<std::string, std::function<void(Weakened&)>> layers = {
      {"seccomp", [](Weakened& w) { w.allow(WithoutSeccomp{}); }},
      {"landlock", [](Weakened& w) { w.allow(WithoutLandlock{}); }},
      {"scopes", [](Weakened& w) { w.allow(WithoutLandlockScopes{}); }},
      {"cgroup", [](Weakened& w) { w.allow(WithoutCgroup{}); }},
      {"capabilities", [](Weakened& w) { w.allow(WithoutCapabilityDrop{}); }},
      {"rlimits", [](Weakened& w) { w.allow(WithoutResourceLimits{}); }},
      {"proc", [](Weakened& w) { w.allow(WithoutFreshProc{}); }},
      {"userns", [](Weakened& w) { w.allow(WithoutUserNamespace{}); }},
      {"namespaces", [](Weakened& w) { w.allow(WithoutNamespaces{}); }},
      {"readonly", [](Weakened& w) { w.allow(WithoutReadOnlyMounts{}); }},
      {"mountflags", [](Weakened& w) { w.allow(WithoutMountFlags{}); }},
      {"masks", [](Weakened& w) { w.allow(WithoutMasks{}); }},
      {"protected", [](Weakened& w) { w.allow(WithoutProtectedPaths{}); }},
      {"init", [](Weakened& w) { w.allow(WithoutInitHygiene{}); }},
      {"fds", [](Weakened& w) { w.allow(WithoutFdClosing{}); }},
      {"pdeathsig", [](Weakened& w) { w.allow(WithoutParentDeathSignal{}); }},
  };
  auto found = layers.find(layer);
  if (found == layers.end()) usage("unknown layer " + layer);
  found->second(weakened);
}

Bind parse_bind(const std::string& text) {
  auto second = text.rfind(':');
  auto first = text.rfind(':', second - 1);
  if (second == std::string::npos || first == std::string::npos) usage("--bind wants SRC:DST:MODE");
  return {text.substr(0, first), text.substr(first + 1, second - first - 1),
          text.substr(second + 1) == "rw" ? Bind::Access::rw : Bind::Access::ro};
}

WorkspaceAccess parse_access(const std::string& text) {
  for (auto access : {WorkspaceAccess::none, WorkspaceAccess::ro, WorkspaceAccess::rw, WorkspaceAccess::overlay}) {
    if (text == name_of(access)) return access;
  }
  usage("unknown access " + text);
}

/// What a plan would have frozen of this file.
FileIdentity identity_of(const std::string& path) {
  struct stat status {};
  auto content = sys::read_file(path, 256 << 20);
  if (::stat(path.c_str(), &status) != 0 || !content) usage("cannot read " + path);
  auto nanoseconds = [](const timespec& time) { return time.tv_sec * 1'000'000'000LL + time.tv_nsec; };
  return {status.st_dev,
          status.st_ino,
          static_cast<std::uint64_t>(status.st_size),
          nanoseconds(status.st_mtim),
          nanoseconds(status.st_ctim),
          sha256(*content)};
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  Profile& profile = arguments.profile;
  Limits& limits = profile.limits;
  profile.require = Level::L4;
  auto number = [](const std::string& text) { return std::strtoull(text.c_str(), nullptr, 10); };
  const std::map<std::string, std::function<void(const std::string&)>> with_value = {
      {"--backend", [&](auto& v) { arguments.backend = v; }},
      {"--socket", [&](auto& v) { arguments.socket = v; }},
      {"--image", [&](auto& v) { profile.image = v; }},
      {"--workspace", [&](auto& v) { profile.workspace.path = v; }},
      {"--access", [&](auto& v) { profile.workspace.access = parse_access(v); }},
      {"--upper", [&](auto& v) { profile.workspace.upper = v; }},
      {"--protect", [&](auto& v) { profile.workspace.protected_paths.push_back(v); }},
      {"--hide", [&](auto& v) { profile.workspace.hidden_paths.push_back(v); }},
      {"--bind", [&](auto& v) { profile.binds.push_back(parse_bind(v)); }},
      {"--cwd", [&](auto& v) { profile.cwd = v; }},
      {"--env",
       [&](auto& v) {
         auto equals = v.find('=');
         profile.environment.emplace_back(v.substr(0, equals), equals == std::string::npos ? "" : v.substr(equals + 1));
       }},
      {"--session", [&](auto& v) { profile.session.path = v; }},
      {"--idle", [&](auto& v) { profile.kept.idle_ms = number(v); }},
      {"--life", [&](auto& v) { profile.kept.age_ms = number(v); }},
      {"--home", [&](auto& v) { profile.session.home = v; }},
      {"--git-name", [&](auto& v) { profile.session.git_name = v; }},
      {"--git-email", [&](auto& v) { profile.session.git_email = v; }},
      {"--state", [&](auto& v) { arguments.options.state_directory = v; }},
      {"--wall", [&](auto& v) { limits.wall_ms = number(v); }},
      {"--cpu", [&](auto& v) { limits.cpu_ms = number(v); }},
      {"--memory", [&](auto& v) { limits.memory_bytes = number(v); }},
      {"--pids", [&](auto& v) { limits.pids = number(v); }},
      {"--file", [&](auto& v) { limits.file_bytes = number(v); }},
      {"--disk", [&](auto& v) { limits.disk_bytes = number(v); }},
      {"--inodes", [&](auto& v) { limits.inodes = number(v); }},
      {"--files", [&](auto& v) { limits.open_files = number(v); }},
      {"--output", [&](auto& v) { limits.output_bytes = number(v); }},
      {"--output-kill", [&](auto& v) { limits.output_kill_bytes = number(v); }},
      {"--cpus", [&](auto& v) { limits.cpus = std::atof(v.c_str()); }},
      {"--network", [&](auto& v) { profile.network = v == "loopback" ? Network::loopback : Network::none; }},
      {"--reach",
       [&](auto& v) {
         profile.network = Network::rules;
         if (!v.empty()) profile.network_rules.push_back(v);
       }},
      {"--publish", [&](auto& v) { profile.published.push_back(static_cast<std::uint16_t>(number(v))); }},
      {"--connections", [&](auto& v) { limits.connections = number(v); }},
      {"--network-bytes", [&](auto& v) { limits.network_bytes = number(v); }},
      {"--connection-ms", [&](auto& v) { limits.connection_ms = number(v); }},
      {"--stdin",
       [&](auto& v) {
         arguments.stdin_text = v;
         profile.input = Input::given;
       }},
      {"--require",
       [&](auto& v) {
         auto level = level_named(v);
         if (!level) usage("unknown level " + v);
         profile.require = *level;
       }},
      {"--without", [&](auto& v) { weaken(arguments.options.weakened, v); }},
      {"--expect", [&](auto& v) { profile.program.expected = identity_of(v); }},
      {"--prepared", [&](auto& v) { arguments.prepared = v; }},
      {"--warm", [&](auto& v) { arguments.warm = std::atoi(v.c_str()); }},
      {"--repeat", [&](auto& v) { arguments.repeat = std::atoi(v.c_str()); }},
      {"--first-memory", [&](auto& v) { arguments.first_memory = number(v); }},
      {"--first-disk", [&](auto& v) { arguments.first_disk = number(v); }},
      {"--shell", [&](auto& v) { profile.program.shell_text = v; }},
  };
  int i = 1;
  for (; i < argc; ++i) {
    std::string option = argv[i];
    if (option == "--") {
      ++i;
      break;
    }
    if (option == "--tty") {
      profile.tty = true;
    } else if (option == "--violations") {
      profile.report_violations = true;
    } else if (option == "--raw") {
      arguments.raw = true;
    } else if (option == "--stdin-inherit") {
      arguments.stdin_inherit = true;
      profile.input = Input::given;
    } else if (auto found = with_value.find(option); found != with_value.end()) {
      if (++i >= argc) usage(option + " wants a value");
      found->second(argv[i]);
    } else {
      usage("unknown option " + option);
    }
  }
  for (; i < argc; ++i) profile.program.argv.emplace_back(argv[i]);
  if (profile.program.argv.empty() && !profile.program.shell_text) usage("what is to be run?");
  return arguments;
}

class RunIo : public sandbox::CapturedIo {
 public:
  explicit RunIo(const Arguments& arguments) : CapturedIo(arguments.stdin_text), arguments_(arguments) {}
  void output(sandbox::Stream stream, std::string_view bytes) override {
    if (!arguments_.raw) return CapturedIo::output(stream, bytes);
    int fd = stream == sandbox::Stream::out ? 1 : 2;
    while (!bytes.empty()) {
      ssize_t written = ::write(fd, bytes.data(), bytes.size());
      if (written < 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  std::optional<int> input_descriptor() override {
    return arguments_.stdin_inherit ? std::optional<int>(0) : std::nullopt;
  }

 private:
  const Arguments& arguments_;
};

Json to_json(const RunReport& report, const sandbox::CapturedIo& io) {
  Json json;
  auto* exited = std::get_if<Exited>(&report.outcome);
  auto* killed = std::get_if<Killed>(&report.outcome);
  auto* broken = std::get_if<Broken>(&report.outcome);
  json["outcome"] = exited ? "exited" : killed ? "killed" : broken ? "broken" : "refused";
  json["exit_code"] = exited ? Json(exited->code) : Json(nullptr);
  json["signal"] = killed ? Json(killed->signal) : Json(nullptr);
  json["killed_by"] = killed ? Json(name_of(killed->why)) : Json(nullptr);
  json["error"] = broken ? Json(broken->error.sentence) : killed ? Json(killed->sentence) : Json(nullptr);
  json["stdout"] = io.out;
  json["stderr"] = io.err;
  json["duration_us"] = report.duration.count();
  json["isolation"] = {
      {"backend", report.isolation.backend}, {"level", report.isolation.level}, {"missing", report.isolation.missing}};
  json["truncated"] = {{"stdout", report.truncated.out}, {"stderr", report.truncated.err}};
  json["usage"] = {{"cpu_ms", report.usage.cpu_ms},
                   {"memory_peak_bytes", report.usage.memory_peak_bytes},
                   {"processes_peak", report.usage.processes_peak},
                   {"stdout_bytes", report.usage.stdout_bytes},
                   {"stderr_bytes", report.usage.stderr_bytes}};
  json["violations"] = Json::array();
  for (const Violation& violation : report.violations) {
    json["violations"].push_back(
        {{"what", violation.what}, {"rule", violation.rule}, {"allow", violation.allow}, {"count", violation.count}});
  }
  json["contacts"] = Json::array();
  for (const Contact& contact : report.contacts) {
    json["contacts"].push_back({{"stage", name_of(contact.stage)},
                                {"transport", contact.transport},
                                {"host", contact.host},
                                {"port", contact.port},
                                {"address", contact.address},
                                {"rule", contact.rule},
                                {"reason", contact.reason},
                                {"would_allow", contact.would_allow},
                                {"sent", contact.sent},
                                {"received", contact.received},
                                {"count", contact.count}});
  }
  json["quarantined"] = Json::array();
  for (const Quarantined& item : report.quarantined) {
    json["quarantined"].push_back({{"path", item.path}, {"kept", item.kept}});
  }
  return json;
}

int exit_status(const Outcome& outcome) {
  if (auto* exited = std::get_if<Exited>(&outcome)) return exited->code;
  if (auto* killed = std::get_if<Killed>(&outcome)) return killed->why == Why::timeout ? 124 : 128 + killed->signal;
  return 125;
}

int print_checks() {
  int failed = 0;
  for (const auto& check : sandbox::native::examine()) {
    std::printf("%-18s %s  %s%s%s\n", check.name.c_str(), check.works ? "ok " : "NO ", check.detail.c_str(),
                check.fix.empty() ? "" : "\n    ", check.fix.c_str());
    failed += !check.works && check.needed;
  }
  return failed ? 1 : 0;
}

Result<std::unique_ptr<sandbox::Sandbox>> open_backend(const Arguments& arguments) {
  const std::string& state = arguments.options.state_directory;
  for (auto runtime : {sandbox::oci::Runtime::runc, sandbox::oci::Runtime::crun, sandbox::oci::Runtime::gvisor}) {
    if (arguments.backend == sandbox::oci::name_of(runtime)) return TRY(sandbox::oci::OciSandbox::open(runtime, state));
  }
  if (arguments.backend == "docker") return TRY(sandbox::docker::DockerSandbox::open({state, {arguments.socket}}));
  if (arguments.backend != "native") usage("unknown backend " + arguments.backend);
  auto native = TRY(sandbox::native::NativeSandbox::open(arguments.options));
  if (arguments.warm > 0) {
    auto warmed = native->warm_up(arguments.profile, {4, static_cast<std::size_t>(arguments.warm - 1)});
    if (!warmed) std::fprintf(stderr, "sandbox_run: %s\n", warmed.error().sentence.c_str());
  }
  return native;
}

RunReport run_once(sandbox::Sandbox& sandbox, const Arguments& arguments, RunIo& io) {
  Clearance clearance = testing::UnrecordedClearance::make(arguments.profile);
  if (arguments.prepared.empty()) return sandbox.run(std::move(clearance), io, {});
  Profile expected = arguments.profile;
  if (arguments.prepared == "for-another") expected.workspace.access = WorkspaceAccess::rw;
  auto place = sandbox.prepare(expected);
  if (!place) return {.outcome = Broken{{Fault::internal, "nothing was prepared"}}};
  if (arguments.prepared == "in-vain") return {.outcome = Broken{{Fault::internal, "prepared in vain"}}};
  return sandbox.run_prepared(std::move(place), std::move(clearance), io, {});
}

int run(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--doctor") return print_checks();
  Arguments arguments = parse(argc, argv);
  auto opened = open_backend(arguments);
  if (!opened) {
    std::fprintf(stderr, "sandbox_run: %s\n", opened.error().sentence.c_str());
    return 125;
  }
  int status = 0;
  for (int i = 0; i < arguments.repeat; ++i) {
    RunIo io(arguments);
    Arguments these = arguments;
    if (i == 0 && arguments.first_memory > 0) these.profile.limits.memory_bytes = arguments.first_memory;
    if (i == 0 && arguments.first_disk > 0) these.profile.limits.disk_bytes = arguments.first_disk;
    RunReport report = run_once(**opened, these, io);
    // What is ready for the next one was made with this one's limits.
    if (auto* native = dynamic_cast<sandbox::native::NativeSandbox*>(opened->get())) native->wait_until_warm();
    std::string text = to_json(report, io).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
    status = exit_status(report.outcome);
    [[maybe_unused]] ssize_t written = ::write(arguments.raw ? 3 : 1, text.data(), text.size());
    if (arguments.raw && std::holds_alternative<Broken>(report.outcome)) {
      std::fprintf(stderr, "sandbox_run: %s\n", std::get<Broken>(report.outcome).error.sentence.c_str());
    }
  }
  return arguments.raw ? status : 0;
}

}  // namespace
}  // namespace cordon

int main(int argc, char** argv) { return cordon::run(argc, argv); }
