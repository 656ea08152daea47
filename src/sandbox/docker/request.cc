#include "sandbox/docker/request.h"

#include <sys/resource.h>

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

Json limits_of(const Limits& limits) {
  Json list = Json::array();
  for (const native::ResourceLimit& limit : native::resource_limits(limits)) {
    list.push_back({{"Name", name_of_limit(limit.resource)}, {"Soft", limit.soft}, {"Hard", limit.hard}});
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

Json host_config(const container::Layout& layout, const ContainerRequest& request) {
  const Limits& limits = layout.profile.limits;
  const std::uint64_t memory = limits.memory_bytes ? limits.memory_bytes : most_memory;
  Json config = {
      {"NetworkMode", "none"},
      {"CapDrop", {"ALL"}},
      {"Privileged", false},
      {"ReadonlyRootfs", true},
      {"SecurityOpt",
       {"no-new-privileges", "seccomp=" + native::oci_profile(native::FilterOptions::namespaced()).dump()}},
      {"Memory", memory},
      {"MemorySwap", memory},
      {"PidsLimit", limits.pids ? limits.pids + 1 : most_processes},
      {"Ulimits", limits_of(limits)},
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
  if (limits.cpus > 0) config["NanoCpus"] = static_cast<std::int64_t>(limits.cpus * 1e9);
  return config;
}

}  // namespace

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
