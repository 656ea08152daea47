#include "app/surroundings.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "app/presence.h"
#include "base/json.h"
#include "config/bind.h"
#include "config/workspace.h"

namespace cordon::app {

namespace {

namespace fs = std::filesystem;

Result<std::string> absolute(const std::string& path) {
  if (path.starts_with("/")) return config::normal_path(path);
  return config::normal_path(TRY(Surroundings::current_directory()) + "/" + path);
}

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

std::vector<std::string> search_path() {
  std::vector<std::string> directories;
  const std::string all = variable("PATH");
  for (std::size_t at = 0; at <= all.size();) {
    const std::size_t end = std::min(all.find(':', at), all.size());
    if (all.compare(at, 1, "/") == 0) directories.push_back(all.substr(at, end - at));
    at = end + 1;
  }
  return directories;
}

}  // namespace

Result<std::string> user_name() {
  if (const passwd* me = ::getpwuid(::geteuid()); me != nullptr && me->pw_name != nullptr)
    return std::string(me->pw_name);
  return std::to_string(::geteuid());
}

Result<std::string> home_directory() {
  const std::string home = variable("HOME");
  if (home.starts_with("/")) return config::normal_path(home);
  if (const passwd* me = ::getpwuid(::geteuid()); me != nullptr && me->pw_dir != nullptr)
    return std::string(me->pw_dir);
  return fail(Fault::unavailable, "cannot tell your home directory; set HOME");
}

Result<config::Sources> sources_of(const GlobalOptions& global, const std::string& cwd) {
  config::Sources sources;
  sources.home = TRY(home_directory());
  sources.workspace = global.workspace.empty() ? config::nearest_workspace(cwd) : TRY(absolute(global.workspace));
  sources.user_file = user_settings_file(sources.home);
  if (!global.config.empty()) sources.extra_files.push_back(TRY(absolute(global.config)));
  sources.state_dir = TRY(state_directory(global));
  sources.engine_sockets = engine_sockets();
  return sources;
}

Result<std::string> Surroundings::current_directory() {
  std::error_code error;
  const fs::path path = fs::current_path(error);
  if (error) return fail(Fault::unavailable, "cannot tell the current directory: {}", error.message());
  return path.string();
}

Result<Surroundings> Surroundings::find(const GlobalOptions& global, const Given& given) {
  Surroundings here;
  const std::string cwd = given.cwd.empty() ? TRY(current_directory()) : TRY(absolute(given.cwd));
  here.sources_ = TRY(sources_of(global, cwd));
  config::Loaded loaded = TRY(config::load(here.sources_));
  here.settings_ = std::make_shared<const Settings>(std::move(loaded.settings));
  here.allowlist_ =
      std::make_shared<const policy::Allowlist>(TRY(policy::AllowlistStore(here.sources_.state_dir).read()));
  here.place_.cwd = cwd;
  here.place_.workspace = here.sources_.workspace;
  here.place_.home = here.sources_.home;
  here.place_.search_path = search_path();
  here.place_.user = given.user.empty() ? TRY(user_name()) : given.user;
  here.place_.state = here.sources_.state_dir;
  here.place_.guarded = {here.sources_.state_dir, fs::path(here.sources_.user_file).parent_path().string(),
                         config::sandbox_md_path(here.sources_), here.sources_.workspace + "/.cordon"};
  here.agent_ = global.agent.empty() ? "main" : global.agent;
  here.session_ = global.session;
  here.now_ = SystemClock().now();
  return here;
}

Result<void> Surroundings::apply(const Json& object) {
  if (object.contains("context") && object["context"].is_object()) {
    const Json& context = object["context"];
    if (context.contains("working_dir") && context["working_dir"].is_string()) {
      place_.cwd = TRY(absolute(context["working_dir"].get<std::string>()));
    }
    if (context.contains("user") && context["user"].is_string()) place_.user = context["user"].get<std::string>();
  }
  if (!object.contains("policy")) return {};
  const Json& policy = object["policy"];
  if (!policy.is_object() || !policy.contains("deny") || !policy["deny"].is_array()) {
    return fail(Fault::invalid_input, "\"policy\" must be {{\"deny\": [\"pattern\", …]}}");
  }
  auto tightened = std::make_shared<Settings>(*settings_);
  for (const Json& entry : policy["deny"]) {
    if (!entry.is_string()) return fail(Fault::invalid_input, "\"policy.deny\" must hold strings");
    tightened->disallowed.push_back({entry.get<std::string>(), Origin{"policy.deny"}});
  }
  settings_ = std::move(tightened);
  return {};
}

guard::Circumstances Surroundings::circumstances() const {
  return {.settings = *settings_,
          .allowlist = *allowlist_,
          .place = place_,
          .agent = agent_,
          .session = session_,
          .now = now_};
}

}  // namespace cordon::app
