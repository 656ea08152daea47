// What is allowed and how things run, as one value in which every setting knows where it was said.
// `config/` makes it from SANDBOX.md and JSON5 files; everyone else only reads it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/verdict.h"

namespace cordon {

/// A value and where it was said. An Origin without a file is the built-in default.
template <class T>
struct Setting {
  T value{};
  Origin origin;

  bool is_default() const { return origin.file.empty(); }
  bool operator==(const Setting&) const = default;
};

// Enumerators stand from the tightest to the loosest: what an untrusted file may change is decided by that order.
enum class SecurityLevel { deny, allowlist, ask, full };
enum class SandboxMode { all, non_main, off };
enum class SandboxScope { session, agent, shared };
enum class PathAccess { none, ro, rw };
enum class OnAuditFailure { stop, go_on };
enum class QueuePreview { off, automatic };
enum class Backend { automatic, native, docker, gvisor, runc };
enum class ToolProfile { minimal, messaging, coding, full };

const char* name_of(SecurityLevel level);
const char* name_of(SandboxMode mode);
const char* name_of(SandboxScope scope);
const char* name_of(PathAccess access);
const char* name_of(OnAuditFailure choice);
const char* name_of(Backend backend);
const char* name_of(ToolProfile profile);

/// A command pattern of SANDBOX.md, exactly as written.
using Entry = Setting<std::string>;

/// One way out of the sandbox: a host, or a preset that names whatever the user's own tools are set to.
struct NetworkRule {
  std::string host;                   // lower case, or an address (IPv6 in brackets); empty for a preset
  bool subdomains = false;            // written as *.host: every name below it, not the name itself
  std::optional<std::uint16_t> port;  // when absent: the web's, 80 and 443
  std::vector<std::string> methods;   // plain HTTP requests with these only; none: everything
  std::string preset;                 // "npm", "pip", "apt", "cargo", "git"
  Origin origin;

  /// As it is written in a file: "registry.example:443", "*.example.com", "GET,HEAD mirror.example", "preset:npm".
  std::string text() const;
};

/// A path whose access differs from what the workspace setting gives.
struct PathRule {
  std::string path;  // absolute, without . and ..
  PathAccess access = PathAccess::none;
  Origin origin;
};

/// A directory or file of the host, shown inside the sandbox.
struct BindSetting {
  std::string source;    // as written
  std::string resolved;  // with every symlink followed, as it was when checked; mount only what still resolves to this
  std::string target;
  PathAccess access = PathAccess::ro;
  Origin origin;

  std::string text() const;  // "host:sandbox:mode"
};

struct LimitSettings {
  Setting<std::int64_t> time_ms{60'000, {}};
  Setting<std::int64_t> memory_bytes{std::int64_t{1} << 30, {}};
  Setting<std::int64_t> processes{256, {}};
  Setting<std::int64_t> output_bytes{std::int64_t{1} << 20, {}};
  Setting<std::int64_t> disk_bytes{std::int64_t{1} << 30, {}};
  Setting<std::int64_t> millicpus{2'000, {}};  // 1,500 is one and a half processors
};

/// Of the proxy, for one run.
struct NetworkLimitSettings {
  Setting<std::int64_t> connections{1'024, {}};                     // at once; more wait
  Setting<std::int64_t> bytes{std::int64_t{16} << 30, {}};          // of all connections, both directions together
  Setting<std::int64_t> time_ms{std::int64_t{12} * 3'600'000, {}};  // of one connection
};

struct DockerOptions {
  Setting<std::string> image;      // empty: Cordon's own
  Setting<std::string> user;       // empty: the image's unprivileged user
  std::vector<Entry> environment;  // "NAME=value"
  // How long a container that is kept between commands lives when nobody comes, and at all.
  Setting<std::int64_t> idle_ms{15 * 60'000, {}};
  Setting<std::int64_t> age_ms{std::int64_t{6} * 3'600'000, {}};
};

struct SandboxSettings {
  Setting<SandboxMode> mode{SandboxMode::all, {}};
  Setting<SandboxScope> scope{SandboxScope::session, {}};
  Setting<PathAccess> workspace{PathAccess::rw, {}};
  Setting<Backend> backend{Backend::automatic, {}};
  std::vector<BindSetting> binds;
  std::vector<NetworkRule> network;  // empty: no network
  Origin network_origin;             // where it was last said, also when that was "none"
  NetworkLimitSettings network_limits;
  LimitSettings limits;
  DockerOptions docker;
};

/// Names in lower case; see model/tools.h for what they mean together.
struct ToolSettings {
  Setting<ToolProfile> profile{ToolProfile::full, {}};
  std::vector<Entry> allow;
  std::vector<Entry> deny;
};

/// Commands that may leave the sandbox for the host.
struct ElevatedSettings {
  Setting<bool> enabled{false, {}};
  std::vector<Entry> patterns;
  Setting<bool> require_approval{true, {}};
};

struct ApprovalSettings {
  Setting<bool> auto_approve_safe{true, {}};
  Setting<bool> dry_run{false, {}};
  Setting<std::int64_t> audit_retention_ms{std::int64_t{30} * 86'400'000, {}};
  Setting<std::int64_t> expiry_ms{15 * 60'000, {}};
  Setting<std::int64_t> queue_limit{1'000, {}};
  Setting<QueuePreview> preview{QueuePreview::automatic, {}};  // of what waits for a person
  std::vector<Entry> surfaces;  // agents in whose own client a person may approve; only the user's file says so
  Setting<std::string> page;    // where a person approves in a browser; the id is added to it; empty: nowhere
};

/// Who is told at once, and how. Only the user's own file says so.
struct NotificationSettings {
  Setting<bool> desktop{true, {}};
  Setting<std::string> webhook_url;          // http or https; empty: none
  Setting<std::string> webhook_secret_file;  // signs the messages; empty: not signed
  std::vector<Entry> command;                // argv, run without a shell
  std::vector<Entry> events;                 // empty: all
};

/// What may differ from agent to agent. Already merged: an agent's own values over the defaults.
struct AgentSettings {
  SandboxSettings sandbox;
  ToolSettings tools;
  ElevatedSettings elevated;
};

struct Settings {
  Setting<SecurityLevel> level{SecurityLevel::ask, {}};
  std::vector<Entry> allowed;
  std::vector<Entry> dangerous;
  std::vector<Entry> disallowed;
  ApprovalSettings approval;
  Setting<OnAuditFailure> on_audit_failure{OnAuditFailure::stop, {}};
  NotificationSettings notifications;
  std::vector<PathRule> filesystem;
  AgentSettings defaults;
  std::map<std::string, AgentSettings> agents;              // only those that a file names
  std::map<std::string, std::vector<std::string>> presets;  // name → "host:port", as resolved at init or trust

  /// The agent's own settings, or the defaults when no file names it.
  const AgentSettings& agent(std::string_view id) const;
};

/// The session of an agent that `mode: non-main` leaves on the host.
bool is_main_session(std::string_view session, std::string_view agent);

}  // namespace cordon
