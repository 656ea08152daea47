#include "sandbox/oci/bundle.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "sandbox/native/draft.h"
#include "sandbox/native/filter.h"
#include "sys/file.h"

namespace cordon::sandbox::oci {

namespace {

// The Sentry is in the same control group as what it runs.
constexpr std::uint64_t sentry_bytes = 96ULL << 20;
constexpr std::uint64_t shared_memory_bytes = 64ULL << 20;

const char* name_of_limit(int resource) {
  switch (resource) {
    case RLIMIT_CORE:
      return "RLIMIT_CORE";
    case RLIMIT_FSIZE:
      return "RLIMIT_FSIZE";
    case RLIMIT_NOFILE:
      return "RLIMIT_NOFILE";
    case RLIMIT_CPU:
      return "RLIMIT_CPU";
    case RLIMIT_MEMLOCK:
      return "RLIMIT_MEMLOCK";
    case RLIMIT_MSGQUEUE:
      return "RLIMIT_MSGQUEUE";
    case RLIMIT_SIGPENDING:
      return "RLIMIT_SIGPENDING";
    case RLIMIT_NICE:
      return "RLIMIT_NICE";
    case RLIMIT_RTPRIO:
      return "RLIMIT_RTPRIO";
    default:
      return "RLIMIT_NPROC";
  }
}

Json process_of(const container::Layout& layout, const Bundle& bundle) {
  Json limits = Json::array();
  auto wanted = native::resource_limits(layout.profile.limits);
  // Counted for the user in its user namespace, where nobody else is; where a group counts, that one says no.
  if (layout.profile.limits.pids && !bundle.processes_in_cgroup && ::geteuid() != 0) {
    const std::uint64_t most = layout.profile.limits.pids + 1;
    wanted.push_back({RLIMIT_NPROC, most, most});
  }
  for (const native::ResourceLimit& limit : wanted) {
    limits.push_back({{"type", name_of_limit(limit.resource)}, {"hard", limit.hard}, {"soft", limit.soft}});
  }
  Json none = Json::array();
  return {{"terminal", false},
          {"user", {{"uid", bundle.identity.uid}, {"gid", bundle.identity.gid}}},
          {"args", {container::inner_init, container::inner_control}},
          {"env", Json::array()},
          {"cwd", "/"},
          {"capabilities",
           {{"bounding", none}, {"effective", none}, {"inheritable", none}, {"permitted", none}, {"ambient", none}}},
          {"rlimits", std::move(limits)},
          {"noNewPrivileges", true}};
}

Json mount(const std::string& target, const char* type, const char* source, std::vector<std::string> options) {
  return {{"destination", target}, {"type", type}, {"source", source}, {"options", std::move(options)}};
}

Json mounts_of(const container::Layout& layout, const Bundle& bundle) {
  Json mounts = Json::array();
  mounts.push_back(mount("/proc", "proc", "proc", {"nosuid", "noexec", "nodev"}));
  mounts.push_back(mount("/dev", "tmpfs", "tmpfs", {"nosuid", "strictatime", "mode=755", "size=65536k"}));
  mounts.push_back(
      mount("/dev/pts", "devpts", "devpts", {"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"}));
  mounts.push_back(
      mount("/dev/shm", "tmpfs", "shm",
            {"nosuid", "noexec", "nodev", "mode=1777", fmt::format("size={}k", shared_memory_bytes >> 10)}));
  for (std::size_t i = 0; i < layout.places.size(); ++i) {
    const container::Place& place = layout.places[i];
    // Read-only holds for the mount itself, so nothing that is mounted below comes along.
    mounts.push_back(
        mount(place.target, "bind", bundle.sources[i].c_str(),
              {place.writable ? "rbind" : "bind", place.writable ? "rw" : "ro", "nosuid", "nodev", "private"}));
  }
  return mounts;
}

Json resources_of(const Limits& limits, Runtime runtime) {
  Json resources = {{"devices", {{{"allow", false}, {"access", "rwm"}}}}};
  const std::uint64_t more = runtime == Runtime::gvisor ? sentry_bytes : 0;
  if (limits.memory_bytes) {
    const std::uint64_t bytes = limits.memory_bytes + more;
    resources["memory"] = {{"limit", bytes}, {"swap", bytes}};
  }
  if (limits.cpus > 0) {
    resources["cpu"] = {{"quota", static_cast<std::int64_t>(limits.cpus * 100'000)}, {"period", 100'000}};
  }
  // The Sentry's own threads and helpers would be counted: processes of the program are not the host's.
  if (limits.pids && runtime != Runtime::gvisor) resources["pids"] = {{"limit", limits.pids + 1}};
  return resources;
}

// Calls that leave something on the host's own disk, and those that make namespaces.
constexpr const char* judged_in_gvisor[] = {"chmod", "fchmod", "fchmodat", "mknod", "mknodat", "clone"};

/// Without most conditions on arguments: gVisor 2022 cannot compile more than 4,096 steps, and what becomes of a call
/// is decided by the Sentry, not by the host's kernel.
Json shortened(Json profile) {
  Json allowed = Json::array();
  Json kept = Json::array();
  for (Json& rule : profile["syscalls"]) {
    const std::string name = rule["names"].empty() ? "" : rule["names"][0].get<std::string>();
    const bool judged = std::ranges::any_of(judged_in_gvisor, [&](const char* one) { return name == one; });
    if (!rule.contains("args") || judged) {
      kept.push_back(std::move(rule));
      continue;
    }
    const bool known = std::ranges::find(allowed, Json(name)) != allowed.end();
    if (rule["action"] == "SCMP_ACT_ALLOW" && !known) allowed.push_back(name);
  }
  kept.push_back({{"names", std::move(allowed)}, {"action", "SCMP_ACT_ALLOW"}});
  profile["syscalls"] = std::move(kept);
  return profile;
}

Result<void> make_directories(const std::string& root, const std::string& path) {
  for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string made = root + path.substr(0, slash);
    // Not by the mode of its making, from which the process's umask takes.
    if ((::mkdir(made.c_str(), 0755) != 0 && errno != EEXIST) || ::chmod(made.c_str(), 0755) != 0) {
      return fail(Fault::unavailable, "mkdir {}: {}", made, std::strerror(errno));
    }
    if (slash == std::string::npos) return {};
  }
}

}  // namespace

const char* name_of(Runtime runtime) {
  switch (runtime) {
    case Runtime::runc:
      return "runc";
    case Runtime::crun:
      return "crun";
    case Runtime::gvisor:
      return "gvisor";
  }
  return "runc";
}

Json config_of(const container::Layout& layout, const Bundle& bundle) {
  Json namespaces = Json::array();
  for (const char* type : {"pid", "network", "ipc", "uts", "mount"}) namespaces.push_back({{"type", type}});
  if (bundle.runtime != Runtime::gvisor) namespaces.push_back({{"type", "cgroup"}});
  Json seccomp = native::oci_profile(native::FilterOptions::namespaced());
  if (bundle.runtime == Runtime::gvisor) seccomp = shortened(std::move(seccomp));
  Json of_linux = {{"namespaces", std::move(namespaces)},
                   {"seccomp", std::move(seccomp)},
                   {"rootfsPropagation", "private"},
                   {"maskedPaths", container::masked_paths()},
                   {"readonlyPaths", container::read_only_paths()}};
  if (!bundle.cgroups_path.empty()) {
    of_linux["cgroupsPath"] = bundle.cgroups_path;
    of_linux["resources"] = resources_of(layout.profile.limits, bundle.runtime);
  }
  return {{"ociVersion", "1.0.2"},
          {"process", process_of(layout, bundle)},
          {"root", {{"path", "rootfs"}, {"readonly", true}}},
          {"hostname", "sandbox"},
          {"mounts", mounts_of(layout, bundle)},
          {"linux", std::move(of_linux)}};
}

Result<void> make_root(const std::string& directory, const native::RootTree& tree, const container::Identity& identity,
                       std::vector<container::Place>& places) {
  using Kind = native::RootTree::Entry::Kind;
  for (const std::string& path : tree.directories) CHECK_OK(make_directories(directory, path));
  CHECK_OK(make_directories(directory, "/.cordon"));
  for (const native::RootTree::Entry& entry : tree.entries) {
    if (entry.kind == Kind::link) {
      if (::symlink(entry.link.c_str(), (directory + entry.path).c_str()) != 0) {
        return fail(Fault::unavailable, "symlink {}{}: {}", directory, entry.path, std::strerror(errno));
      }
      continue;
    }
    places.push_back({entry.path, entry.path, false, entry.kind == Kind::directory, true});
  }
  for (const native::RootTree::Generated& file : tree.files) {
    std::string content = file.content;
    if (file.path == "/etc/passwd") content = container::passwd_for(identity);
    if (file.path == "/etc/group") content = container::group_for(identity);
    CHECK_OK(sys::create_file(directory + file.path, content, 0644));
    ::chmod((directory + file.path).c_str(), 0644);
  }
  return {};
}

}  // namespace cordon::sandbox::oci
