#include "config/bind.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>

#include "base/text.h"
#include "sys/file.h"

namespace cordon::config {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 12> blocked_everywhere = {"/etc",
                                                                 "/proc",
                                                                 "/sys",
                                                                 "/dev",
                                                                 "/boot",
                                                                 "/root",
                                                                 "/run",
                                                                 "/var/run",
                                                                 "/var/run/docker.sock",
                                                                 "/run/docker.sock",
                                                                 "/run/podman/podman.sock",
                                                                 "/run/containerd/containerd.sock"};

constexpr std::array<std::string_view, 9> blocked_in_home = {".ssh",   ".aws",   ".gnupg",  ".docker", ".config",
                                                             ".netrc", ".npmrc", ".pypirc", ".kube"};
constexpr std::string_view blocked_in_home_by_prefix = ".cargo/credentials";

constexpr std::array<std::string_view, 3> engine_sockets = {"docker.sock", "podman.sock", "containerd.sock"};

/// The sandbox makes these itself; a bind there would replace its own isolation or the workspace.
constexpr std::array<std::string_view, 2> reserved_targets = {"/workspace", "/agent"};
constexpr std::array<std::string_view, 3> kernel_targets = {"/proc", "/sys", "/dev"};

/// Homes of people and of root. System accounts live in /usr/sbin and the like, which hold no credentials.
std::set<std::string> homes_of_machine() {
  std::set<std::string> made;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/home", ignored)) made.insert(entry.path().string());
  std::ifstream accounts("/etc/passwd");
  for (std::string line; std::getline(accounts, line);) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at <= line.size();) {
      const std::size_t end = std::min(line.find(':', at), line.size());
      parts.push_back(line.substr(at, end - at));
      at = end + 1;
    }
    if (parts.size() < 7 || parts[2].empty() || parts[2].size() > 9) continue;
    const long uid = std::strtol(parts[2].c_str(), nullptr, 10);
    if ((uid == 0 || (uid >= 1000 && uid != 65534)) && parts[5].size() > 1) made.insert(normal_path(parts[5]));
  }
  return made;
}

std::vector<std::string> split_bind(std::string_view text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(':', at), text.size());
    parts.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

Result<void> check_target(std::string_view target, std::string_view bind, const Origin& origin) {
  if (!target.starts_with('/')) {
    return fail(Fault::invalid_input, "{}: bind \"{}\" has the target \"{}\", which is not absolute", origin.text(),
                bind, target);
  }
  const std::string normal = normal_path(target);
  if (normal == "/") return fail(Fault::invalid_input, "{}: bind \"{}\" targets \"/\"", origin.text(), bind);
  for (const std::string_view reserved : reserved_targets) {
    if (!is_within(normal, reserved)) continue;
    return fail(Fault::invalid_input, "{}: bind \"{}\" targets \"{}\", which is reserved for the workspace",
                origin.text(), bind, reserved);
  }
  for (const std::string_view reserved : kernel_targets) {
    if (!is_within(normal, reserved)) continue;
    return fail(Fault::invalid_input, "{}: bind \"{}\" targets \"{}\", which the sandbox makes itself", origin.text(),
                bind, reserved);
  }
  return {};
}

}  // namespace

std::string normal_path(std::string_view path) {
  std::string made = fs::path(path).lexically_normal().string();
  while (made.size() > 1 && made.ends_with('/')) made.pop_back();
  // POSIX lets a path begin with exactly two slashes mean something else; on Linux it does not.
  while (made.starts_with("//")) made.erase(0, 1);
  return made;
}

bool is_within(std::string_view path, std::string_view parent) {
  if (parent == "/") return path.starts_with('/');
  return path.starts_with(parent) && (path.size() == parent.size() || path[parent.size()] == '/');
}

namespace {

void push_parts(std::vector<std::string>& left, std::string_view path) {
  for (std::size_t end = path.size(); end > 0;) {
    const std::size_t slash = path.find_last_of('/', end - 1);
    const std::size_t begin = slash == std::string_view::npos ? 0 : slash + 1;
    if (begin < end) left.emplace_back(path.substr(begin, end - begin));
    end = slash == std::string_view::npos ? 0 : slash;
  }
}

/// `path` below `resolved`, which has no links in it.
Result<std::string> resolve_below(const std::string& resolved, std::string_view path) {
  constexpr int most_links = 40;  // as the kernel
  int links = 0;
  std::vector<std::string> left;
  push_parts(left, path);
  std::string done = resolved == "/" ? "" : resolved;
  while (!left.empty()) {
    const std::string part = std::move(left.back());
    left.pop_back();
    if (part == ".") continue;
    if (part == "..") {
      done.resize(std::min(done.rfind('/'), done.size()));
      continue;
    }
    const std::string next = done + "/" + part;
    struct stat status {};
    const bool there = ::lstat(next.c_str(), &status) == 0;
    if (!there && errno != ENOENT && errno != ENOTDIR) {
      return fail(Fault::invalid_input, "\"{}\" cannot be looked at: {}", next, sys::errno_text(errno));
    }
    if (!there || !S_ISLNK(status.st_mode)) {
      done = next;
      continue;
    }
    std::error_code error;
    const std::string to = fs::read_symlink(next, error);
    if (error) return fail(Fault::invalid_input, "\"{}\" cannot be looked at: {}", next, error.message());
    if (++links > most_links) return fail(Fault::invalid_input, "\"{}\" has too many symlinks", path);
    if (to.starts_with('/')) done.clear();
    push_parts(left, to);
  }
  return done.empty() ? "/" : done;
}

}  // namespace

Result<std::string> resolve_links(const std::string& path) {
  if (!path.starts_with('/')) return fail(Fault::invalid_input, "\"{}\" is not an absolute path", path);
  return resolve_below("/", path);
}

BindRules BindRules::create(std::string_view home, const std::vector<std::string>& own,
                            const std::vector<std::string>& sockets) {
  Remembered& known = remembered();
  const std::lock_guard guard(known.lock);
  const auto now = std::chrono::steady_clock::now();
  std::erase_if(known.rules, [&](const auto& one) { return now - one->made_at >= known.lasting; });
  BindRules made;
  for (const auto& one : known.rules) {
    if (one->home == home && one->own == own && one->sockets == sockets) made.inputs_ = one;
  }
  if (made.inputs_) return made;
  made.inputs_ = std::make_shared<Inputs>();
  made.inputs_->home = home;
  made.inputs_->own = own;
  made.inputs_->sockets = sockets;
  made.inputs_->made_at = now;
  if (known.lasting.count() > 0) known.rules.push_back(made.inputs_);
  return made;
}

void BindRules::remember_for(std::chrono::milliseconds lasting) {
  Remembered& known = remembered();
  const std::lock_guard guard(known.lock);
  known.lasting = lasting;
}

BindRules::Remembered& BindRules::remembered() {
  static Remembered known;
  return known;
}

const BindRules::Table& BindRules::table() const {
  std::call_once(inputs_->once, [this] {
    Table& made = inputs_->table;
    for (const std::string_view path : blocked_everywhere) made.block(std::string(path));
    for (const std::string& path : inputs_->own) made.block(path);
    for (const std::string& path : inputs_->sockets) made.block(path);
    std::set<std::string> homes = homes_of_machine();
    if (inputs_->home.size() > 1) homes.insert(normal_path(inputs_->home));
    for (const std::string& root : homes) {
      const auto resolved = resolve_links(root);
      auto block = [&](std::string_view name, bool as_prefix) {
        const std::string path = fmt::format("{}/{}", root, name);
        made.block(path, as_prefix, resolved ? resolve_below(*resolved, name) : resolve_links(path));
      };
      for (const std::string_view name : blocked_in_home) block(name, false);
      block(blocked_in_home_by_prefix, true);
      made.homes.push_back(root);
      if (resolved && *resolved != root) made.homes.push_back(*resolved);
    }
  });
  return inputs_->table;
}

void BindRules::Table::block(const std::string& path) {
  const std::string normal = normal_path(path);
  if (normal.starts_with('/')) block(normal, false, resolve_links(normal));
}

void BindRules::Table::block(const std::string& path, bool as_prefix, const Result<std::string>& resolved) {
  // A blocked name may itself be a link: what it leads to is as secret as the name.
  if (resolved && *resolved != path) blocked.push_back({*resolved, as_prefix});
  blocked.push_back({path, as_prefix});
}

bool BindRules::Table::find_clash(std::string_view path, Clash& found) const {
  if (path == "/") {
    found = {"is", "/"};
    return true;
  }
  const Blocked* covered = nullptr;
  for (const Blocked& one : blocked) {
    if (path == one.path) {
      found = {"is", one.path};
      return true;
    }
    if (is_within(path, one.path) || (one.as_prefix && path.starts_with(one.path))) {
      found = {"lies inside", one.path};
      return true;
    }
    if (covered == nullptr && is_within(one.path, path)) covered = &one;
  }
  if (covered == nullptr) return false;
  found = {"covers", covered->path};
  return true;
}

/// The same directory can be mounted in a second place, where neither its name nor a link gives it away.
bool BindRules::Table::find_same_directory(const std::string& path, Clash& found) const {
  for (fs::path at = path; at.has_relative_path(); at = at.parent_path()) {
    for (const Blocked& one : blocked) {
      std::error_code error;
      if (!fs::equivalent(at, one.path, error) || error) continue;
      found = {at == fs::path(path) ? "is" : "lies inside", one.path};
      return true;
    }
  }
  return false;
}

Result<std::string> BindRules::check_source(std::string_view source, std::string_view subject,
                                            const Origin& origin) const {
  if (!source.starts_with('/')) {
    return fail(Fault::invalid_input, "{}: {} has the source \"{}\", which is not an absolute path", origin.text(),
                subject, source);
  }
  auto resolved = resolve_links(std::string(source));
  if (!resolved) return fail(Fault::invalid_input, "{}: {}: {}", origin.text(), subject, resolved.error().sentence);
  Clash clash;
  const bool clashes = table().find_clash(normal_path(source), clash) || table().find_clash(*resolved, clash) ||
                       table().find_same_directory(*resolved, clash);
  if (clashes) {
    const std::string through =
        *resolved == normal_path(source) ? "" : fmt::format(" (it resolves to \"{}\")", *resolved);
    return fail(Fault::invalid_input, "{}: {} {} the blocked path \"{}\"{}; name a directory that holds no secrets",
                origin.text(), subject, clash.how, clash.path, through);
  }
  for (const std::string_view socket : engine_sockets) {
    std::error_code error;
    const fs::path path = *resolved;
    const bool is_one = path.filename() == socket;
    if (!is_one && !fs::exists(fs::symlink_status(path / socket, error))) continue;
    return fail(Fault::invalid_input, "{}: {} {} the container engine's socket \"{}\", which gives the whole host",
                origin.text(), subject, is_one ? "is" : "covers", is_one ? path.string() : (path / socket).string());
  }
  return *resolved;
}

Result<BindSetting> BindRules::read(std::string_view text, const Origin& origin) const {
  const std::vector<std::string> parts = split_bind(text);
  if (parts.size() < 2 || parts.size() > 3 || parts[0].empty() || parts[1].empty()) {
    return fail(Fault::invalid_input, "{}: bind \"{}\" is not of the form \"host:sandbox:ro\"", origin.text(),
                visible(text, Lines::escape));
  }
  BindSetting made;
  made.origin = origin;
  made.source = normal_path(parts[0]);
  made.target = normal_path(parts[1]);
  if (parts.size() == 3 && parts[2] != "ro" && parts[2] != "rw") {
    return fail(Fault::invalid_input, "{}: bind \"{}\" has the mode \"{}\"; expected ro or rw", origin.text(),
                visible(text, Lines::escape), visible(parts[2], Lines::escape));
  }
  if (parts.size() == 3 && parts[2] == "rw") made.access = PathAccess::rw;
  CHECK_OK(check_target(parts[1], visible(text, Lines::escape), origin));
  made.resolved = TRY(check_source(parts[0], fmt::format("bind \"{}\"", visible(text, Lines::escape)), origin));
  return made;
}

Result<void> BindRules::check_workspace(std::string_view workspace) const {
  const std::string path = TRY(resolve_links(std::string(workspace)));
  const auto refuse = [&](std::string_view how, std::string_view what) {
    return fail(Fault::denied, "the workspace \"{}\" {} \"{}\"; run it in a project's own directory", path, how, what);
  };
  if (path == "/") return refuse("is", "/");
  for (const std::string& home : table().homes) {
    if (is_within(home, path))
      return refuse(home == path ? "is the home directory" : "covers the home directory", home);
  }
  for (const Blocked& one : table().blocked) {
    if (is_within(one.path, path)) return refuse(one.path == path ? "is" : "covers", one.path);
  }
  return {};
}

}  // namespace cordon::config
