#include "plan/profile.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

namespace cordon::plan {

namespace {

bool is_inside(std::string_view path, std::string_view directory) {
  return path == directory ||
         (path.starts_with(directory) && (directory.ends_with('/') || path[directory.size()] == '/'));
}

bool exists(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

WorkspaceAccess access_of(PathAccess access) {
  switch (access) {
    case PathAccess::none:
      return WorkspaceAccess::none;
    case PathAccess::ro:
      return WorkspaceAccess::ro;
    case PathAccess::rw:
      return WorkspaceAccess::rw;
  }
  return WorkspaceAccess::none;
}

/// Whether a sandbox has the path anyway: the system's files, and what is private to it.
bool always_there(const std::string& path) {
  return std::ranges::any_of(
      std::initializer_list<const char*>{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/tmp", "/dev", "/proc"},
      [&](const char* directory) { return is_inside(path, directory); });
}

class Drafter {
 public:
  Drafter(const Request& request, const Basis& basis)
      : request_(request), basis_(basis), sandbox_(basis.settings.agent(request.asker.agent).sandbox) {}

  /// Nothing is held back there: only where it starts, what it finds in its environment, and how long it may take.
  Profile draft_for_host() {
    add_limits();
    profile_.environment = request_.inherited;
    add_variables(request_.of_host);
    add_variables(request_.environment);
    profile_.cwd = request_.cwd;
    profile_.input = request_.input_given ? Input::given : Input::closed;
    profile_.require = Level::L4;
    return std::move(profile_);
  }

  /// For code: nothing of the user's, and of the caller's only the limits.
  Result<Profile> draft_for_code() {
    profile_.backend = basis_.backend;
    const Snippet& snippet = *request_.snippet;
    add_limits();
    add_variables(request_.environment);
    profile_.report_violations = request_.report_violations;
    if (request_.require) profile_.require = *request_.require;
    if (snippet.access == WorkspaceAccess::none) return std::move(profile_);
    const WorkspaceAccess most = access_of(sandbox_.workspace.value);
    if (most == WorkspaceAccess::none || (most == WorkspaceAccess::ro && snippet.access != WorkspaceAccess::ro)) {
      return fail(Fault::denied, "the settings give sandboxes the workspace as '{}', and '{}' was asked for",
                  name_of(most), name_of(snippet.access));
    }
    profile_.workspace.access = snippet.access;
    profile_.workspace.path = request_.workspace;
    profile_.workspace.protected_paths = protected_paths(request_.workspace, request_.home);
    CHECK_OK(add_path_rules());
    add_binds();
    CHECK_OK(add_grants());
    CHECK_OK(add_directory());
    return std::move(profile_);
  }

  Result<Profile> draft() {
    profile_.backend = basis_.backend;
    profile_.image = basis_.image;
    if (!basis_.image.empty()) add_container();
    if (!request_.clean_room) profile_.session = basis_.session;
    profile_.session.home = request_.home;
    add_workspace();
    CHECK_OK(add_path_rules());
    add_binds();
    CHECK_OK(add_grants());
    add_network();
    add_limits();
    add_environment();
    CHECK_OK(add_directory());
    profile_.input = request_.input_given ? Input::given : Input::closed;
    profile_.tty = request_.tty;
    profile_.report_violations = request_.report_violations;
    if (request_.require) profile_.require = *request_.require;
    return std::move(profile_);
  }

 private:
  void add_workspace() {
    Workspace& workspace = profile_.workspace;
    workspace.access = access_of(sandbox_.workspace.value);
    if (workspace.access == WorkspaceAccess::none && !request_.clean_room) return;
    workspace.path = request_.clean_room ? request_.cwd : request_.workspace;
    if (request_.clean_room) {
      workspace.access = WorkspaceAccess::overlay;
      workspace.hidden_paths = credential_files(workspace.path);
      return;
    }
    workspace.protected_paths = protected_paths(workspace.path, request_.home);
  }

  void add_binds() {
    for (const BindSetting& bind : sandbox_.binds) {
      if (bind.access == PathAccess::none) continue;
      profile_.binds.push_back(
          {bind.resolved, bind.target, bind.access == PathAccess::rw ? Bind::Access::rw : Bind::Access::ro});
    }
  }

  /// Filesystem lines of SANDBOX.md: narrower inside the workspace, wider outside of it.
  Result<void> add_path_rules() {
    Workspace& workspace = profile_.workspace;
    for (const PathRule& rule : basis_.settings.filesystem) {
      const bool inside = workspace.access != WorkspaceAccess::none && is_inside(rule.path, workspace.path);
      if (inside && rule.path == workspace.path) continue;  // decided with the settings' own value
      if (inside) {
        const std::string relative = rule.path.substr(workspace.path.size() + 1);
        if (rule.access == PathAccess::none) workspace.hidden_paths.push_back(relative);
        if (rule.access == PathAccess::ro) workspace.protected_paths.push_back(relative);
        continue;
      }
      if (rule.access == PathAccess::none || !exists(rule.path)) continue;
      CHECK_OK(add_bind(rule.path, rule.access == PathAccess::rw));
    }
    return {};
  }

  /// What is bound is what the name leads to now; a link on the way that changes later leads nowhere.
  Result<void> add_bind(const std::string& path, bool writable) {
    std::error_code error;
    const std::string resolved = std::filesystem::canonical(path, error).string();
    if (error) return fail(Fault::invalid_input, "{}: {}", path, error.message());
    if (writable) CHECK_OK(basis_.may_be_written(resolved));
    profile_.binds.push_back({resolved, path, writable ? Bind::Access::rw : Bind::Access::ro});
    return {};
  }

  Result<void> add_grants() {
    for (const Need& need : basis_.verdict.grants) {
      if (need.kind == Need::Kind::read_path && exists(need.target) && !always_there(need.target)) {
        CHECK_OK(add_bind(need.target, false));
      }
      if (need.kind == Need::Kind::write_path) CHECK_OK(add_writable(need.target));
    }
    return {};
  }

  /// Presets mean what they were resolved to when they were trusted; an approval adds the hosts that it was for.
  void add_network() {
    if (request_.clean_room) return;
    profile_.network_rules = network_rules(basis_.settings, request_.asker.agent);
    for (std::string& rule : granted_rules(basis_.verdict.grants)) profile_.network_rules.push_back(std::move(rule));
    profile_.published = request_.publish;
    const bool wanted = !profile_.network_rules.empty() || request_.learn_network;
    if (wanted || !profile_.published.empty()) profile_.network = wanted ? Network::rules : Network::loopback;
  }

  /// What does not exist yet can only be made by who may write its directory, so that directory is what is opened.
  Result<void> add_writable(std::string path) {
    if (const std::size_t star = path.find_first_of("*?["); star != std::string::npos) {
      path = path.substr(0, path.rfind('/', star));
    }
    while (path.size() > 1 && !exists(path)) path = std::filesystem::path(path).parent_path();
    if (is_inside(path, "/tmp")) return {};  // always the session's own
    return add_bind(path.empty() ? "/" : path, true);
  }

  /// The command's directory must be one that is seen inside.
  Result<void> add_directory() {
    const bool in_workspace =
        profile_.workspace.access != WorkspaceAccess::none && is_inside(request_.cwd, profile_.workspace.path);
    const bool in_bind =
        std::ranges::any_of(profile_.binds, [&](const Bind& bind) { return is_inside(request_.cwd, bind.target); });
    if (in_workspace || in_bind) {
      profile_.cwd = request_.cwd;
      return {};
    }
    if (profile_.workspace.access == WorkspaceAccess::none) return {};
    return fail(Fault::invalid_input,
                "the working directory {} is outside of the workspace {}; give --workspace or --cwd", request_.cwd,
                profile_.workspace.path);
  }

  void add_container() {
    profile_.image_user = sandbox_.docker.user.value;
    profile_.kept = {static_cast<std::uint64_t>(sandbox_.docker.idle_ms.value),
                     static_cast<std::uint64_t>(sandbox_.docker.age_ms.value)};
  }

  void add_limits() {
    const LimitSettings& wanted = sandbox_.limits;
    Limits& limits = profile_.limits;
    limits.wall_ms = request_.wall_ms.value_or(static_cast<std::uint64_t>(wanted.time_ms.value));
    limits.memory_bytes = static_cast<std::uint64_t>(wanted.memory_bytes.value);
    limits.pids = static_cast<std::uint64_t>(wanted.processes.value);
    limits.output_bytes = request_.output_bytes.value_or(static_cast<std::uint64_t>(wanted.output_bytes.value));
    limits.disk_bytes = static_cast<std::uint64_t>(wanted.disk_bytes.value);
    limits.file_bytes = limits.disk_bytes;
    limits.cpus = static_cast<double>(wanted.millicpus.value) / 1000;
    const NetworkLimitSettings& network = sandbox_.network_limits;
    limits.connections = static_cast<std::uint64_t>(network.connections.value);
    limits.network_bytes = static_cast<std::uint64_t>(network.bytes.value);
    limits.connection_ms = static_cast<std::uint64_t>(network.time_ms.value);
  }

  static Variables variables_of(const std::vector<Entry>& entries) {
    Variables variables;
    for (const Entry& entry : entries) {
      const std::size_t equals = entry.value.find('=');
      if (equals != std::string::npos)
        variables.emplace_back(entry.value.substr(0, equals), entry.value.substr(equals + 1));
    }
    return variables;
  }

  void add_variables(const Variables& variables) {
    for (const auto& variable : variables) {
      std::erase_if(profile_.environment, [&](const auto& other) { return other.first == variable.first; });
      profile_.environment.push_back(variable);
    }
  }

  void add_environment() {
    profile_.environment = request_.inherited;
    if (!basis_.image.empty()) add_variables(variables_of(sandbox_.docker.environment));
    add_variables(request_.environment);
    std::string path;
    for (const std::string& directory : search_path(profile_)) path += (path.empty() ? "" : ":") + directory;
    profile_.environment.emplace_back("PATH", path);
  }

  const Request& request_;
  const Basis& basis_;
  const SandboxSettings& sandbox_;
  Profile profile_;
};

}  // namespace

Result<Profile> profile_of(const Request& request, const Basis& basis) {
  Drafter drafter(request, basis);
  if (request.snippet) return drafter.draft_for_code();
  if (basis.verdict.where == Where::host) return drafter.draft_for_host();
  return drafter.draft();
}

std::vector<std::string> network_rules(const Settings& settings, const std::string& agent) {
  std::vector<std::string> rules;
  for (const NetworkRule& rule : settings.agent(agent).sandbox.network) {
    if (rule.preset.empty()) {
      rules.push_back(rule.text());
      continue;
    }
    if (const auto preset = settings.presets.find(rule.preset); preset != settings.presets.end()) {
      rules.insert(rules.end(), preset->second.begin(), preset->second.end());
    }
  }
  return rules;
}

std::vector<std::string> granted_rules(const std::vector<Need>& grants) {
  std::vector<std::string> rules;
  for (const Need& need : grants) {
    if (need.kind != Need::Kind::host) continue;
    const bool bare_six = !need.target.starts_with('[') && std::ranges::count(need.target, ':') > 1;
    rules.push_back(bare_six ? "[" + need.target + "]" : need.target);
  }
  return rules;
}

std::vector<std::string> search_path(const Profile& profile) {
  std::vector<std::string> directories;
  for (const auto& [name, value] : profile.environment) {
    if (name != "PATH") continue;
    for (std::string_view rest = value; !rest.empty();) {
      const std::string_view directory = rest.substr(0, rest.find(':'));
      rest.remove_prefix(std::min(rest.size(), directory.size() + 1));
      directories.emplace_back(directory);
    }
    return directories;
  }
  // A toolchain that was bound is there to be used.
  for (const Bind& bind : profile.binds) {
    if (bind.access == Bind::Access::ro && exists(bind.source + "/bin")) directories.push_back(bind.target + "/bin");
  }
  for (const char* directory : {"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}) {
    directories.emplace_back(directory);
  }
  return directories;
}

bool is_given(const Profile& profile, const std::string& path) {
  if (profile.image.empty()) return true;
  const Workspace& workspace = profile.workspace;
  return std::ranges::any_of(profile.binds, [&](const Bind& bind) { return is_inside(path, bind.target); }) ||
         (workspace.access != WorkspaceAccess::none && is_inside(path, workspace.path)) ||
         is_inside(path, "/workspace") || is_inside(path, "/agent") || is_inside(path, "/tmp") ||
         (!profile.session.home.empty() && is_inside(path, profile.session.home));
}

std::string host_path(const Profile& profile, const std::string& path) {
  for (auto bind = profile.binds.rbegin(); bind != profile.binds.rend(); ++bind) {
    if (is_inside(path, bind->target)) return bind->source + path.substr(bind->target.size());
  }
  const Workspace& workspace = profile.workspace;
  if (workspace.access != WorkspaceAccess::none) {
    if (is_inside(path, workspace.path)) return path;
    const std::string_view other = workspace.access == WorkspaceAccess::ro ? "/agent" : "/workspace";
    if (is_inside(path, other)) return workspace.path + path.substr(other.size());
  }
  if (profile.session.path.empty()) return path;
  if (is_inside(path, "/tmp")) return profile.session.path + "/tmp" + path.substr(4);
  if (!profile.session.home.empty() && is_inside(path, profile.session.home)) {
    return profile.session.path + "/home" + path.substr(profile.session.home.size());
  }
  return path;
}

std::vector<std::string> protected_paths(const std::string& workspace, const std::string& home) {
  std::vector<std::string> paths = {".git/hooks/", ".git/config", "SANDBOX.md", ".cordon/"};
  // Settings of programs that read them while a sandbox runs, and may run what they say: held even where there is
  // nothing yet, if the user has that program.
  struct Reader {
    const char* path;
    const char* sign;  // below the home
  };
  for (const Reader& reader :
       {Reader{".claude/", ".claude"}, Reader{".codex/", ".codex"}, Reader{".gemini/", ".gemini"},
        Reader{".cursor/", ".cursor"}, Reader{".vscode/", ".vscode"}, Reader{".vscode/", ".config/Code"}}) {
    if (exists(workspace + "/" + reader.path) || exists(home + "/" + reader.sign)) paths.emplace_back(reader.path);
  }
  // Someone's own start files. An empty one that was not there before would do harm of its own.
  for (const char* path : {".bashrc", ".bash_profile", ".profile", ".zshrc", ".envrc", ".mcp.json", ".idea/", ".husky/",
                           ".gitmodules", ".ripgreprc", ".pre-commit-config.yaml"}) {
    if (exists(workspace + "/" + path)) paths.emplace_back(path);
  }
  std::ranges::sort(paths);
  paths.erase(std::ranges::unique(paths).begin(), paths.end());
  return paths;
}

}  // namespace cordon::plan
