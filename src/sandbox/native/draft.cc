#include "sandbox/native/draft.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "sandbox/native/filter.h"
#include "sandbox/native/id_mapped.h"
#include "sandbox/native/pid1/orders.h"
#include "sandbox/native/session_dirs.h"
#include "sandbox/native/user_namespace.h"
#include "sandbox/network/tools.h"

namespace cordon::sandbox::native {

namespace {

constexpr const char* search_path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

// They make bash or the loader read, run or mean something else than what was judged.
constexpr const char* refused_variables[] = {"BASH_ENV",      "ENV",
                                             "SHELLOPTS",     "BASHOPTS",
                                             "PS4",           "PROMPT_COMMAND",
                                             "IFS",           "CDPATH",
                                             "GLOBIGNORE",    "BASH_LOADABLES_PATH",
                                             "BASH_XTRACEFD", "POSIXLY_CORRECT",
                                             "GCONV_PATH",    "LOCPATH",
                                             "NLSPATH"};

bool refused(const std::string& name) {
  if (name.empty() || name.find('=') != std::string::npos || name.starts_with("BASH_FUNC_") ||
      name.starts_with("LD_")) {
    return true;
  }
  return std::ranges::any_of(refused_variables, [&](const char* other) { return name == other; });
}

std::string without_slash(const std::string& path) { return path.substr(path.find_first_not_of('/')); }

bool absolute(const std::string& path) {
  return path.size() > 1 && path.front() == '/' && path.find("/../") == std::string::npos;
}

bool is_directory(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

class Drafter {
 public:
  Drafter(const Profile& profile, const Machine& machine, const Ladder& ladder)
      : profile_(profile), machine_(machine), ladder_(ladder) {}

  Result<std::unique_ptr<Draft>> draft() {
    if (!ladder_.namespaces) CHECK_OK(refuse_what_needs_mounts());
    plan_.ladder = ladder_;
    plan_.weakened = machine_.weakened;
    plan_.root_tree = &machine_.root_tree;
    plan_.pid1_image = machine_.pid1_image.get();
    plan_.tty = profile_.tty;
    plan_.loopback = profile_.network != Network::none;
    if (profile_.network == Network::rules) plan_.proxy_port = network::proxy_port;
    plan_.open_ports = profile_.published;
    choose_identity(plan_);
    CHECK_OK(add_session());
    CHECK_OK(add_workspace());
    CHECK_OK(add_binds());
    add_limits();
    add_filter();
    return std::move(draft_);
  }

 private:
  /// Level L4 has Landlock alone, which gives rights to whole trees and can take none back, and no place but the host's
  /// own paths. What it cannot hold is refused, never left open.
  Result<void> refuse_what_needs_mounts() const {
    auto refusal = [](std::string_view what) {
      return fail(Fault::denied, "{} needs a mount namespace, and this run would have level L4 (no namespaces)", what);
    };
    if (ladder_.landlock_abi <= 0 && !machine_.weakened.landlock()) {
      return fail(Fault::denied, "without namespaces and without Landlock nothing would keep files apart");
    }
    const Workspace& workspace = profile_.workspace;
    if (workspace.access == WorkspaceAccess::overlay) return refusal("an overlay of the workspace");
    if (workspace.access == WorkspaceAccess::rw && !workspace.protected_paths.empty()) {
      return refusal("protecting paths of a writable workspace");
    }
    if (workspace.access != WorkspaceAccess::none && !workspace.hidden_paths.empty()) {
      return refusal("hiding paths of a workspace");
    }
    for (const Bind& bind : profile_.binds) {
      if (bind.source != bind.target) return refusal("a bind at another path than its own");
    }
    if (profile_.network != Network::none) return refusal("a loopback of its own");
    if (profile_.tty) return refusal("a terminal of its own");
    return {};
  }

  /// Started by root, whatever is given is somebody's whom the sandbox is not.
  Result<int> tree_for(const std::string& path) {
    if (!plan_.started_by_root || !plan_.ladder.namespaces) return -1;
    draft_->trees.push_back(TRY(id_mapped_tree(path, plan_)));
    return draft_->trees.back().get();
  }

  Result<void> add_session() {
    const std::string& home = profile_.session.home;
    if (!home.empty() && !absolute(home)) return fail(Fault::invalid_input, "HOME '{}' is not an absolute path", home);
    if (plan_.ladder.namespaces && home != home_directory) plan_.home_alias = home;
    plan_.scratch_options = scratch_options(profile_.limits);
    // A session that has no files yet gets none for the sake of a throwaway view of them.
    const bool nothing_there = profile_.session.throwaway && (!is_directory(profile_.session.path + "/home") ||
                                                              !is_directory(profile_.session.path + "/tmp"));
    plan_.session_throwaway = profile_.session.throwaway;
    if (profile_.session.path.empty() || nothing_there) {
      plan_.gitconfig = gitconfig_for(profile_.session, profile_.workspace.path);
      return {};
    }
    // Level L4 started by root: the one it becomes has no way to directories that are root's own.
    if (!plan_.ladder.namespaces && plan_.started_by_root) return {};
    SessionDirectories directories{profile_.session.path + "/home", profile_.session.path + "/tmp"};
    if (!plan_.session_throwaway) directories = TRY(prepare_session(profile_.session, profile_.workspace.path));
    plan_.home_source = without_slash(directories.home);
    plan_.tmp_source = without_slash(directories.temporary);
    if (!plan_.ladder.namespaces) {
      plan_.trees.push_back({plan_.home_source, {directories.home}, true, true, -1});
      plan_.trees.push_back({plan_.tmp_source, {directories.temporary}, true, true, -1});
    }
    plan_.home_tree = TRY(tree_for(directories.home));
    plan_.tmp_tree = TRY(tree_for(directories.temporary));
    return {};
  }

  Result<void> add_workspace() {
    const Workspace& workspace = profile_.workspace;
    if (workspace.access == WorkspaceAccess::none) return {};
    if (!absolute(workspace.path))
      return fail(Fault::invalid_input, "workspace '{}' is not an absolute path below /", workspace.path);
    struct stat status {};
    if (::stat(workspace.path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
      return fail(Fault::invalid_input, "workspace {} is not a directory", workspace.path);
    }
    const bool read_only = workspace.access == WorkspaceAccess::ro;
    PlacedTree tree{
        without_slash(workspace.path), {workspace.path, read_only ? "/agent" : "/workspace"}, !read_only, true, -1};
    if (workspace.path == tree.targets[1]) tree.targets.pop_back();
    tree.prepared_tree = TRY(tree_for(workspace.path));
    plan_.trees.push_back(std::move(tree));
    plan_.has_workspace = true;
    plan_.overlay = workspace.access == WorkspaceAccess::overlay;
    plan_.overlay_handed_over = plan_.overlay && workspace.handed_over;
    if (plan_.overlay && !workspace.upper.empty()) {
      CHECK_OK(prepare_layers(workspace.upper));
      plan_.overlay_upper = without_slash(workspace.upper);
      plan_.overlay_upper_tree = TRY(tree_for(workspace.upper));
    }
    if (workspace.access == WorkspaceAccess::rw && !plan_.weakened.protected_paths()) {
      draft_->placeholders.emplace(TRY(PlaceholderHold::take(workspace, machine_.state_directory)));
      plan_.protected_paths = draft_->placeholders->paths();
    } else if (workspace.access == WorkspaceAccess::overlay) {
      plan_.protected_paths = TRY(protected_in_overlay(workspace));
    } else if (!workspace.hidden_paths.empty()) {
      Workspace hidden_only = workspace;
      hidden_only.protected_paths.clear();
      draft_->placeholders.emplace(TRY(PlaceholderHold::take(hidden_only, machine_.state_directory)));
      plan_.protected_paths = draft_->placeholders->paths();
    }
    return {};
  }

  /// What overlayfs asks for: two directories of one file system, the second one empty.
  static Result<void> prepare_layers(const std::string& upper) {
    for (const char* name : {"/upper", "/work"}) {
      if (::mkdir((upper + name).c_str(), 0755) != 0 && errno != EEXIST) {
        return fail(Fault::unavailable, "mkdir {}{}: {}", upper, name, std::strerror(errno));
      }
    }
    return {};
  }

  Result<void> add_binds() {
    for (const Bind& bind : profile_.binds) {
      struct stat status {};
      if (!absolute(bind.source) || !absolute(bind.target)) {
        return fail(Fault::invalid_input, "bind {}:{} needs absolute paths", bind.source, bind.target);
      }
      if (::stat(bind.source.c_str(), &status) != 0) {
        return fail(Fault::invalid_input, "bind {}: {}", bind.source, std::strerror(errno));
      }
      PlacedTree tree{
          without_slash(bind.source), {bind.target}, bind.access == Bind::Access::rw, S_ISDIR(status.st_mode), -1};
      tree.prepared_tree = TRY(tree_for(bind.source));
      plan_.trees.push_back(std::move(tree));
    }
    return {};
  }

  void add_limits() {
    const Limits& limits = profile_.limits;
    auto add = [&](int resource, std::uint64_t value) { plan_.limits.push_back({resource, value, value}); };
    plan_.limits = resource_limits(limits);
    // Counted for this user in this user namespace: pid 1 is one of them.
    // Where a control group counts as well, it is to be the one that says no: it tells how often it did.
    if (limits.pids) add(RLIMIT_NPROC, machine_.processes_in_cgroup ? limits.pids * 2 + 64 : limits.pids + 1);
  }

  void add_filter() {
    const FilterOptions options = plan_.ladder.namespaces ? FilterOptions::namespaced() : FilterOptions::strict();
    plan_.filter_has_listener = profile_.report_violations && !plan_.weakened.seccomp();
    plan_.filter = plan_.filter_has_listener ? reporting_filter(options) : payload_filter(options);
  }

  const Profile& profile_;
  const Machine& machine_;
  const Ladder& ladder_;
  std::unique_ptr<Draft> draft_ = std::make_unique<Draft>();
  Blueprint& plan_ = draft_->blueprint;
};

}  // namespace

std::vector<ResourceLimit> resource_limits(const Limits& limits) {
  std::vector<ResourceLimit> list;
  auto add = [&](int resource, std::uint64_t value) { list.push_back({resource, value, value}); };
  add(RLIMIT_CORE, 0);
  if (limits.file_bytes) add(RLIMIT_FSIZE, limits.file_bytes);
  if (limits.open_files) add(RLIMIT_NOFILE, limits.open_files);
  // Of one process; the whole tree's sum is watched. First a signal that has its own number, then the end.
  const std::uint64_t cpu_seconds = (limits.cpu_ms + 999) / 1000 + 1;
  if (limits.cpu_ms) list.push_back({RLIMIT_CPU, cpu_seconds, cpu_seconds + 1});
  add(RLIMIT_MEMLOCK, 8ULL << 20);
  add(RLIMIT_MSGQUEUE, 819200);
  add(RLIMIT_SIGPENDING, 4096);
  add(RLIMIT_NICE, 0);
  add(RLIMIT_RTPRIO, 0);
  return list;
}

std::string scratch_options(const Limits& limits) {
  std::string options = "mode=0755";
  if (limits.disk_bytes) options += fmt::format(",size={}", limits.disk_bytes);
  if (limits.inodes) options += fmt::format(",nr_inodes={}", limits.inodes);
  return options;
}

std::vector<std::string> environment_of(const Profile& profile, const std::string& home, const std::string& temporary) {
  std::vector<std::pair<std::string, std::string>> variables = {
      {"HOME", home},          {"PATH", search_path},
      {"USER", user_name},     {"LOGNAME", user_name},
      {"SHELL", "/bin/bash"},  {"LANG", "C.UTF-8"},
      {"TMPDIR", temporary},   {"TERM", profile.tty ? "xterm-256color" : "dumb"},
      {"CORDON_SANDBOX", "1"},
  };
  if (profile.network == Network::rules) network::add_proxy_variables(variables);
  for (const auto& [name, value] : profile.environment) {
    if (refused(name)) continue;
    auto found = std::ranges::find(variables, name, &std::pair<std::string, std::string>::first);
    if (found != variables.end()) {
      found->second = value;
    } else {
      variables.emplace_back(name, value);
    }
  }
  std::vector<std::string> lines;
  for (const auto& [name, value] : variables) lines.push_back(name + "=" + value);
  return lines;
}

Result<std::unique_ptr<Draft>> draft_surroundings(const Profile& profile, const Machine& machine,
                                                  const Ladder& ladder) {
  return Drafter(profile, machine, ladder).draft();
}

std::vector<std::string> arguments_of(const Profile& profile) {
  const Program& program = profile.program;
  if (!program.shell_text) return program.argv;
  std::vector<std::string> arguments = {"bash", "--norc", "--noprofile", "-c", *program.shell_text};
  arguments.insert(arguments.end(), program.argv.begin(), program.argv.end());
  return arguments;
}

void draft_command(const Profile& profile, const Machine& machine, Draft& draft) {
  draft.arguments = arguments_of(profile);
  const bool own_root = draft.blueprint.ladder.namespaces;
  const std::string own_home = draft.blueprint.home_alias.empty() ? home_directory : draft.blueprint.home_alias;
  const std::string home = own_root ? own_home : "/" + draft.blueprint.home_source;
  draft.environment = environment_of(profile, home, own_root ? "/tmp" : "/" + draft.blueprint.tmp_source);
  draft.cwd = !profile.cwd.empty()                                ? profile.cwd
              : profile.workspace.access != WorkspaceAccess::none ? profile.workspace.path
                                                                  : home;
  draft.order_flags = 0;
  if (profile.tty) draft.order_flags |= order_controlling_tty;
  if (!profile.tty && profile.input != Input::given) draft.order_flags |= order_no_input;
  if (!own_root) draft.order_flags |= order_subreaper;
  constexpr int signal_scope_abi = 6;
  if (!own_root && draft.blueprint.ladder.landlock_abi >= signal_scope_abi) draft.order_flags |= order_out_of_reach;
  if (machine.weakened.init_hygiene()) draft.order_flags |= order_stay_dumpable;
}

}  // namespace cordon::sandbox::native
