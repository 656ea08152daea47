#include "config/preset.h"

#include "base/json.h"
#include "sys/file.h"

namespace cordon::config {
namespace {

constexpr int version = 1;

}  // namespace

std::string presets_file(const std::string& state_dir) { return state_dir + "/presets.json"; }

Result<Presets> load_presets(const std::string& state_dir) {
  constexpr std::size_t largest = 1 << 20;
  const std::optional<std::string> text = TRY(sys::read_file_if_exists(presets_file(state_dir), largest));
  Presets made;
  if (!text) return made;
  const Json json = parse_json(*text);
  const auto damaged = [&] {
    return fail(Fault::corrupt, "{} is damaged; remove it and run: cordon trust", presets_file(state_dir));
  };
  if (!json.is_object() || !json.contains("version") || json["version"] != version || !json.contains("presets")) {
    return damaged();
  }
  if (!json["presets"].is_object()) return damaged();
  for (const auto& [name, hosts] : json["presets"].items()) {
    if (!hosts.is_array()) return damaged();
    for (const Json& host : hosts) {
      if (!host.is_string()) return damaged();
      made[name].push_back(host.get<std::string>());
    }
  }
  return made;
}

Result<void> save_presets(const std::string& state_dir, const Presets& presets) {
  CHECK_OK(sys::ensure_private_directory(state_dir));
  const auto lock = TRY(sys::FileLock::take(state_dir + "/presets.lock"));
  const Json json = {{"version", version}, {"presets", presets}};
  return sys::replace_file(presets_file(state_dir), json.dump(1) + "\n", 0600);
}

}  // namespace cordon::config
