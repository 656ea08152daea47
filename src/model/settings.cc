#include "model/settings.h"

#include <fmt/format.h>

namespace cordon {

const char* name_of(SecurityLevel level) {
  switch (level) {
    case SecurityLevel::deny:
      return "deny";
    case SecurityLevel::allowlist:
      return "allowlist";
    case SecurityLevel::ask:
      return "ask";
    case SecurityLevel::full:
      return "full";
  }
  return "deny";
}

const char* name_of(SandboxMode mode) {
  switch (mode) {
    case SandboxMode::all:
      return "all";
    case SandboxMode::non_main:
      return "non-main";
    case SandboxMode::off:
      return "off";
  }
  return "all";
}

const char* name_of(SandboxScope scope) {
  switch (scope) {
    case SandboxScope::session:
      return "session";
    case SandboxScope::agent:
      return "agent";
    case SandboxScope::shared:
      return "shared";
  }
  return "session";
}

const char* name_of(PathAccess access) {
  switch (access) {
    case PathAccess::none:
      return "none";
    case PathAccess::ro:
      return "ro";
    case PathAccess::rw:
      return "rw";
  }
  return "none";
}

const char* name_of(OnAuditFailure choice) { return choice == OnAuditFailure::go_on ? "continue" : "stop"; }

const char* name_of(Backend backend) {
  switch (backend) {
    case Backend::automatic:
      return "auto";
    case Backend::native:
      return "native";
    case Backend::docker:
      return "docker";
    case Backend::gvisor:
      return "gvisor";
    case Backend::runc:
      return "runc";
  }
  return "auto";
}

const char* name_of(ToolProfile profile) {
  switch (profile) {
    case ToolProfile::minimal:
      return "minimal";
    case ToolProfile::messaging:
      return "messaging";
    case ToolProfile::coding:
      return "coding";
    case ToolProfile::full:
      return "full";
  }
  return "minimal";
}

std::string NetworkRule::text() const {
  if (!preset.empty()) return "preset:" + preset;
  const std::string name =
      fmt::format("{}{}{}{}", fmt::join(methods, ","), methods.empty() ? "" : " ", subdomains ? "*." : "", host);
  return port ? fmt::format("{}:{}", name, *port) : name;
}

std::string BindSetting::text() const { return fmt::format("{}:{}:{}", source, target, name_of(access)); }

const AgentSettings& Settings::agent(std::string_view id) const {
  const auto found = agents.find(std::string(id));
  return found == agents.end() ? defaults : found->second;
}

bool is_main_session(std::string_view session, std::string_view agent) {
  return session == fmt::format("agent:{}:main", agent);
}

}  // namespace cordon
