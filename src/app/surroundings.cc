#include "app/surroundings.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/json.h"

namespace cordon::app {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> search_path() {
  std::vector<std::string> directories;
  const char* given = std::getenv("PATH");
  const std::string all = given != nullptr ? given : "";
  for (std::size_t at = 0; at <= all.size();) {
    const std::size_t end = std::min(all.find(':', at), all.size());
    if (all.compare(at, 1, "/") == 0) directories.push_back(all.substr(at, end - at));
    at = end + 1;
  }
  return directories;
}

}  // namespace

Result<Surroundings> Surroundings::find(const GlobalOptions& global, const Given& given) {
  Surroundings here;
  const std::string cwd = given.cwd.empty() ? TRY(current_directory()) : TRY(absolute_path(given.cwd));
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
      place_.cwd = TRY(absolute_path(context["working_dir"].get<std::string>()));
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
