// cordon trust: let a workspace's own files loosen limits, after a person has seen how.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "app/changes.h"
#include "app/presence.h"
#include "app/surroundings.h"
#include "app/terminal.h"
#include "app/verbs.h"
#include "base/json.h"
#include "base/text.h"
#include "config/bind.h"
#include "config/preset.h"
#include "config/registry.h"

namespace cordon::app {

namespace {

struct Options {
  std::string file;
  bool yes = false;
  bool forget = false;
  PresenceOptions presence;
};

void print_difference(const std::string& difference) {
  std::string_view rest = difference;
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\n'), rest.size());
    const std::string_view row = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const Style style = row.starts_with("+") ? Style::green : row.starts_with("-") ? Style::red : Style::plain;
    std::cout << "  " << styled(visible(row, Lines::escape), style, STDOUT_FILENO) << '\n';
  }
}

void print(const config::TrustPreview& preview) {
  std::cout << styled(preview.file.path, Style::bold, STDOUT_FILENO) << " (" << config::name_of(preview.file.state)
            << ")\n";
  print_difference(preview.difference);
  if (preview.loosenings.empty()) {
    std::cout << "It loosens nothing.\n";
    return;
  }
  std::cout << "Trusting it lets count:\n";
  for (const config::Ignored& loosening : preview.loosenings) {
    std::cout << "  " << loosening.origin.text() << ": " << loosening.key << " = "
              << visible(loosening.value, Lines::escape) << '\n';
  }
}

Json to_json(const config::TrustPreview& preview) {
  Json loosenings = Json::array();
  for (const config::Ignored& loosening : preview.loosenings) {
    loosenings.push_back({{"key", loosening.key},
                          {"value", visible(loosening.value, Lines::escape)},
                          {"origin", loosening.origin.text()}});
  }
  return {{"path", preview.file.path},
          {"state", config::name_of(preview.file.state)},
          {"sha256", preview.file.digest.hex()},
          {"loosenings", loosenings},
          {"difference", visible(preview.difference, Lines::keep)}};
}

/// The files to trust: the one that was named, or all that need it.
Result<std::vector<config::TrustPreview>> wanted(const config::Sources& sources, const std::string& file) {
  auto previews = TRY(config::preview_trust(sources));
  if (file.empty()) return previews;
  std::error_code error;
  const std::string real = std::filesystem::canonical(file, error).string();
  std::erase_if(previews, [&](const config::TrustPreview& preview) {
    std::error_code ignored;
    return real.empty() || std::filesystem::canonical(preview.file.path, ignored).string() != real;
  });
  if (previews.empty()) {
    return fail(Fault::invalid_input, "{} is not a settings file of this workspace ({} or {})", file,
                config::sandbox_md_path(sources), config::workspace_settings_path(sources));
  }
  return previews;
}

Result<int> forget(const GlobalOptions& global, const config::Sources& sources, const Options& options) {
  const auto previews = TRY(wanted(sources, options.file));
  const config::TrustStore store(sources.state_dir);
  for (const config::TrustPreview& preview : previews) {
    CHECK_OK(record_change(global, RecordKind::policy_changed, "trust --forget: " + preview.file.path, {}));
    if (TRY(store.remove(preview.file.path))) std::cout << preview.file.path << ": no longer trusted\n";
  }
  return exit_code::done;
}

/// What `preset:npm` and the like mean is settled here and nowhere else: a workspace cannot change it later.
Result<void> refresh_presets(const GlobalOptions& global, const config::Sources& sources) {
  const char* path = std::getenv("PATH");
  const config::Presets presets = config::find_registries(
      {.home = sources.home, .path = path == nullptr ? "" : path, .workspace = sources.workspace, .root = ""});
  for (const auto& [preset, hosts] : presets) {
    if (global.quiet || global.json) break;
    std::cout << "preset:" << preset << " means";
    for (const std::string& host : hosts) std::cout << ' ' << visible(host, Lines::escape);
    std::cout << '\n';
  }
  return config::save_presets(sources.state_dir, presets);
}

Result<int> run(const GlobalOptions& global, const Options& options) {
  const config::Sources sources = TRY(sources_of(global, TRY(current_directory())));
  if (options.forget) return forget(global, sources, options);
  auto previews = TRY(wanted(sources, options.file));
  std::erase_if(previews, [](const auto& preview) { return preview.file.state == config::SourceFile::State::trusted; });
  if (global.json) {
    Json files = Json::array();
    for (const auto& preview : previews) files.push_back(to_json(preview));
    std::cout << Json{{"files", files}}.dump(2) << '\n';
  } else {
    for (const auto& preview : previews) print(preview);
  }
  if (previews.empty()) {
    if (!global.quiet && !global.json)
      std::cout << "Nothing to trust: every file of this workspace is trusted or missing.\n";
    return exit_code::done;
  }
  // Without the question on the spot only the token counts: "--yes" alone is what an agent would type.
  PresenceOptions presence = options.presence;
  const auto proven = TRY(prove_presence(global, presence, "Trust exactly this content?"));
  if (options.yes && proven != approve::Presence::token && proven != approve::Presence::passphrase) {
    return fail(Fault::denied, "--yes needs the approver's token (CORDON_APPROVER_TOKEN or --token-file)");
  }
  CHECK_OK(refresh_presets(global, sources));
  const Time now = SystemClock().now();
  for (const auto& preview : previews) {
    CHECK_OK(record_change(global, RecordKind::policy_changed, "trust: " + preview.file.path,
                           {{"sha256", preview.file.digest.hex()}, {"presence", approve::name_of(proven)}}));
    CHECK_OK(config::trust(sources, preview, now));
    if (!global.quiet && !global.json) std::cout << preview.file.path << ": trusted\n";
  }
  return exit_code::done;
}

}  // namespace

void define_trust(CommandLine& line) {
  const Verb verb = line.verb("trust", "Let this workspace's settings files loosen limits, after showing how");
  const auto options = std::make_shared<Options>();
  verb.add_option("FILE", options->file, "Only this file (default: SANDBOX.md and .cordon/config.json5)");
  verb.add_flag("--yes", options->yes, "Do not ask; needs the approver's token");
  verb.add_flag("--forget", options->forget, "Take trust back");
  add_presence_options(verb, options->presence);
  verb.example("cordon trust SANDBOX.md");
  verb.exits(exit_code::refused, "no presence: not a terminal, or not the approver's secret");
  line.does(verb, [&line, options] { return finish(run(line.global(), *options)); });
}

}  // namespace cordon::app
