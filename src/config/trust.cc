#include "config/trust.h"

#include "base/json.h"
#include "base/text.h"
#include "sys/file.h"

namespace cordon::config {
namespace {

constexpr std::size_t largest_store = 64 << 20;
constexpr int version = 1;

std::optional<Trusted> read_record(const Json& json) {
  if (!json.is_object() || !json.contains("sha256") || !json.contains("text") || !json.contains("trusted_at")) {
    return std::nullopt;
  }
  if (!json["sha256"].is_string() || !json["text"].is_string() || !json["trusted_at"].is_string()) return std::nullopt;
  const auto digest = Digest::from_hex(json["sha256"].get<std::string>());
  const auto when = from_rfc3339(json["trusted_at"].get<std::string>());
  std::string text = json["text"].get<std::string>();
  // The text decides what stays in force after a change, so it must be the one that was hashed.
  if (!digest || !when || sha256(text) != *digest) return std::nullopt;
  return Trusted{*digest, std::move(text), *when};
}

}  // namespace

Result<TrustRecords> TrustStore::load() const {
  const std::optional<std::string> text = TRY(sys::read_file_if_exists(file(), largest_store));
  TrustRecords made;
  if (!text) return made;
  const auto damaged = [&](std::string_view why) {
    return fail(Fault::corrupt, "{} is damaged ({}); look at it, or remove it and trust your workspaces anew", file(),
                why);
  };
  const Json json = parse_json(*text);
  if (!json.is_object() || !json.contains("version") || !json.contains("files") || !json["files"].is_object()) {
    return damaged("not a trust store");
  }
  if (json["version"] != version) return damaged("of another version");
  for (const auto& [path, record] : json["files"].items()) {
    auto read = read_record(record);
    if (!read) return damaged("the record of " + path);
    made.emplace(path, *std::move(read));
  }
  return made;
}

Result<void> TrustStore::save(const TrustRecords& records) const {
  Json files = Json::object();
  for (const auto& [path, record] : records) {
    files[path] = {{"sha256", record.digest.hex()}, {"text", record.text}, {"trusted_at", to_rfc3339(record.when)}};
  }
  const Json json = {{"version", version}, {"files", files}};
  return sys::replace_file(file(), json.dump(1) + "\n", 0600);
}

Result<void> TrustStore::add(const std::string& real_path, std::string_view bytes, Time now) const {
  if (!is_utf8(real_path) || !is_utf8(bytes)) {
    return fail(Fault::invalid_input, "only a file whose name and content are UTF-8 can be trusted");
  }
  CHECK_OK(sys::ensure_private_directory(state_dir_));
  const auto lock = TRY(sys::FileLock::take(state_dir_ + "/trust.lock"));
  TrustRecords records = TRY(load());
  records.insert_or_assign(real_path, Trusted{sha256(bytes), std::string(bytes), now});
  return save(records);
}

Result<bool> TrustStore::remove(const std::string& real_path) const {
  CHECK_OK(sys::ensure_private_directory(state_dir_));
  const auto lock = TRY(sys::FileLock::take(state_dir_ + "/trust.lock"));
  TrustRecords records = TRY(load());
  if (records.erase(real_path) == 0) return false;
  CHECK_OK(save(records));
  return true;
}

}  // namespace cordon::config
