#include "sandbox/docker/request.h"

#include <sys/resource.h>

#include <algorithm>

#include "base/text.h"
#include "sandbox/native/draft.h"
#include "sandbox/native/filter.h"

namespace cordon::sandbox::docker {

namespace {

constexpr std::uint64_t shared_memory_bytes = 64ULL << 20;
// Always set, also where a profile says "no limit": a container that may use everything is none.
constexpr std::uint64_t most_memory = 64ULL << 30;
constexpr std::uint64_t most_processes = 32'768;

const char* name_of_limit(int resource) {
  switch (resource) {
    case RLIMIT_CORE:
      return "core";
    case RLIMIT_FSIZE:
      return "fsize";
    case RLIMIT_NOFILE:
      return "nofile";
    case RLIMIT_CPU:
      return "cpu";
    case RLIMIT_MEMLOCK:
      return "memlock";
    case RLIMIT_MSGQUEUE:
      return "msgqueue";
    case RLIMIT_SIGPENDING:
      return "sigpending";
    case RLIMIT_NICE:
      return "nice";
    default:
      return "rtprio";
  }
}

Json limits_of(const Limits& limits, Dialect dialect) {
  Json list = Json::array();
  for (const native::ResourceLimit& limit : native::resource_limits(limits)) {
    list.push_back({{"Name", name_of_limit(limit.resource)}, {"Soft", limit.soft}, {"Hard", limit.hard}});
  }
  if (dialect == Dialect::podman) {
    // Not named, it would be a million, and an engine that may not raise it that far would start nothing. It is of the
    // user, in all containers together; PidsLimit is what holds one of them.
    rlimit own{};
    const bool known = ::getrlimit(RLIMIT_NPROC, &own) == 0;
    const std::uint64_t processes = known ? std::min<std::uint64_t>(own.rlim_max, most_processes) : most_processes;
    list.push_back({{"Name", "nproc"}, {"Soft", processes}, {"Hard", processes}});
  }
  return list;
}

Json mounts_of(const std::vector<Mount>& mounts) {
  Json list = Json::array();
  for (const Mount& mount : mounts) {
    list.push_back({{"Type", "bind"},
                    {"Source", mount.source},
                    {"Target", mount.target},
                    {"ReadOnly", mount.read_only},
                    {"BindOptions", {{"Propagation", "rprivate"}, {"NonRecursive", !mount.recursive}}}});
  }
  return list;
}

std::string joined(const std::vector<std::string>& paths) {
  std::string text;
  for (const std::string& path : paths) text += (text.empty() ? "" : ":") + path;
  return text;
}

Json security_of(const ContainerRequest& request) {
  Json list = {"no-new-privileges", "seccomp=" + request.filter};
  // What it makes read-only by itself is all that is in ReadonlyPaths, which it does not know either.
  if (request.dialect == Dialect::podman) list.push_back("mask=" + joined(container::masked_paths()));
  return list;
}

Json host_config(const container::Layout& layout, const ContainerRequest& request) {
  const Limits& limits = layout.profile.limits;
  const std::uint64_t memory = memory_of(limits);
  Json config = {
      {"NetworkMode", "none"},
      {"CapDrop", {"ALL"}},
      {"Privileged", false},
      {"ReadonlyRootfs", true},
      {"SecurityOpt", security_of(request)},
      {"Memory", memory},
      {"MemorySwap", memory},
      {"PidsLimit", processes_of(limits)},
      {"Ulimits", limits_of(limits, request.dialect)},
      {"Mounts", mounts_of(request.mounts)},
      {"MaskedPaths", container::masked_paths()},
      {"ReadonlyPaths", container::read_only_paths()},
      {"ShmSize", shared_memory_bytes},
      {"IpcMode", "private"},
      {"CgroupnsMode", "private"},
      {"AutoRemove", true},
      {"Init", false},
      {"LogConfig", {{"Type", "none"}}},
      {"RestartPolicy", {{"Name", "no"}}},
  };
  // Named, so that Podman makes none that everybody may write to: with a read-only root it adds one.
  if (request.dialect == Dialect::podman) config["Tmpfs"] = {{"/run", "rw,noexec,nosuid,nodev,size=65536,mode=0755"}};
  if (limits.cpus > 0) config["NanoCpus"] = static_cast<std::int64_t>(limits.cpus * 1e9);
  return config;
}

}  // namespace

std::uint64_t memory_of(const Limits& limits) { return limits.memory_bytes ? limits.memory_bytes : most_memory; }

std::uint64_t processes_of(const Limits& limits) { return limits.pids ? limits.pids + 1 : most_processes; }

std::string filter_text() { return native::oci_profile(native::FilterOptions::namespaced()).dump(); }

Result<void> check_mount(const Mount& mount, Dialect dialect) {
  if (dialect == Dialect::docker) return {};
  for (const std::string& path : {mount.source, mount.target}) {
    if (path.find_first_of(",\"\r\n") == std::string::npos) continue;
    return fail(Fault::unavailable,
                "Podman cannot mount {}: its name has a comma, a quotation mark or a line break; use --backend native",
                visible(path, Lines::escape));
  }
  return {};
}

Json body_of(const container::Layout& layout, const ContainerRequest& request) {
  Json labels = Json::object();
  for (const auto& [name, value] : request.labels) labels[name] = value;
  return {{"Image", layout.profile.image},
          {"User", request.user},
          {"Hostname", "sandbox"},
          {"Entrypoint", {container::inner_init}},
          {"Cmd", request.arguments},
          {"Env", Json::array()},
          {"WorkingDir", "/"},
          {"AttachStdin", request.input},
          {"AttachStdout", true},
          {"AttachStderr", true},
          {"OpenStdin", request.input},
          {"StdinOnce", request.input},
          {"Tty", false},
          {"NetworkDisabled", true},
          {"Healthcheck", {{"Test", {"NONE"}}}},
          {"Labels", std::move(labels)},
          {"HostConfig", host_config(layout, request)}};
}

}  // namespace cordon::sandbox::docker
