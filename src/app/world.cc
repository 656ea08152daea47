#include "app/world.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "app/account.h"
#include "config/bind.h"
#include "config/workspace.h"

namespace cordon::app {

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string user_settings_file(const std::string& home) {
  const std::string config_home = variable("XDG_CONFIG_HOME");
  return (config_home.starts_with("/") ? config_home : home + "/.config") + "/cordon/config.json5";
}

std::vector<std::string> engine_sockets() {
  std::vector<std::string> sockets;
  for (const char* name : {"DOCKER_HOST", "CONTAINER_HOST"}) {
    const std::string value = variable(name);
    if (value.starts_with("unix://")) sockets.push_back(value.substr(7));
  }
  return sockets;
}

}  // namespace

Result<std::string> current_directory() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::current_path(error);
  if (error) return fail(Fault::unavailable, "cannot tell the current directory: {}", error.message());
  return path.string();
}

Result<std::string> absolute_path(const std::string& path) {
  if (path.starts_with("/")) return config::normal_path(path);
  return config::normal_path(TRY(current_directory()) + "/" + path);
}

Result<std::string> user_name() {
  if (auto me = own_account(); me && !me->name.empty()) return std::move(me->name);
  return std::to_string(::geteuid());
}

Result<std::string> home_directory() {
  const std::string home = variable("HOME");
  if (home.starts_with("/")) return config::normal_path(home);
  if (auto me = own_account(); me && !me->home.empty()) return std::move(me->home);
  return fail(Fault::unavailable, "cannot tell your home directory; set HOME");
}

Result<config::Sources> sources_of(const GlobalOptions& global, const std::string& cwd) {
  config::Sources sources;
  sources.home = TRY(home_directory());
  sources.workspace = global.workspace.empty() ? config::nearest_workspace(cwd) : TRY(absolute_path(global.workspace));
  sources.user_file = user_settings_file(sources.home);
  if (!global.config.empty()) sources.extra_files.push_back(TRY(absolute_path(global.config)));
  sources.state_dir = TRY(state_directory(global));
  sources.engine_sockets = engine_sockets();
  return sources;
}

Result<std::string> state_directory(const GlobalOptions& global) {
  std::string path = global.state_dir;
  if (path.empty()) {
    const char* state_home = std::getenv("XDG_STATE_HOME");
    const char* home = std::getenv("HOME");
    if (state_home != nullptr && *state_home == '/') {
      path = std::string(state_home) + "/cordon";
    } else if (home != nullptr && *home == '/') {
      path = std::string(home) + "/.local/state/cordon";
    } else if (const auto me = own_account(); me && !me->home.empty()) {
      path = me->home + "/.local/state/cordon";
    }
  }
  if (path.empty() || path.front() != '/') {
    return fail(Fault::invalid_input, "the state directory must be an absolute path; give one by --state-dir");
  }
  return path;
}

}  // namespace cordon::app
