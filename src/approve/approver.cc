#include "approve/approver.h"

#include "base/json.h"
#include "sys/file.h"

namespace cordon::approve {

namespace {

constexpr std::size_t shortest_passphrase = 8;
constexpr std::string_view token_prefix = "cordon_approver_";

Result<Digest> hash_of(Approver::Kind kind, std::string_view secret, std::string_view salt) {
  if (kind == Approver::Kind::passphrase) return scrypt(secret, salt);
  // 256 random bits cannot be guessed, so a token needs no slow hash.
  return hmac_sha256(salt, secret);
}

std::optional<Approver> from_json(const Json& json) {
  if (!json.is_object() || json.value("version", 0) != 1) return std::nullopt;
  Approver approver;
  const std::string kind = json.value("kind", "");
  if (kind != "passphrase" && kind != "token") return std::nullopt;
  approver.kind = kind == "token" ? Approver::Kind::token : Approver::Kind::passphrase;
  const auto salt = from_hex(json.value("salt", ""));
  const auto hash = Digest::from_hex(json.value("hash", ""));
  if (!salt || salt->size() < 16 || !hash) return std::nullopt;
  approver.salt = *salt;
  approver.hash = *hash;
  return approver;
}

}  // namespace

const char* name_of(Presence presence) {
  switch (presence) {
    case Presence::none:
      return "none";
    case Presence::confirmed:
      return "confirmed";
    case Presence::passphrase:
      return "passphrase";
    case Presence::token:
      return "token";
    case Presence::surface:
      return "surface";
  }
  return "none";
}

Result<bool> Approver::accepts(std::string_view secret) const { return TRY(hash_of(kind, secret, salt)) == hash; }

Result<std::optional<Approver>> ApproverStore::read() const {
  const auto text = TRY(sys::read_file_if_exists(path(), 4096));
  if (!text) return std::optional<Approver>();
  const Json json = parse_json(*text);
  std::optional<Approver> approver;
  try {
    approver = from_json(json);
  } catch (const Json::exception&) {
    approver.reset();
  }
  if (!approver) {
    return fail(Fault::corrupt, "{} is damaged; remove it and run: cordon approver init", path());
  }
  return approver;
}

Result<void> ApproverStore::write(const Approver& approver) const {
  CHECK_OK(sys::ensure_private_directory(state_dir_));
  const Json json = {{"version", 1},
                     {"kind", approver.kind == Approver::Kind::token ? "token" : "passphrase"},
                     {"salt", to_hex(approver.salt)},
                     {"hash", approver.hash.hex()}};
  return sys::replace_file(path(), json.dump() + "\n", 0600);
}

Result<void> ApproverStore::set_passphrase(std::string_view passphrase) const {
  if (passphrase.size() < shortest_passphrase) {
    return fail(Fault::invalid_input, "the passphrase is too short: at least {} characters", shortest_passphrase);
  }
  Approver approver{.kind = Approver::Kind::passphrase, .salt = TRY(random_bytes(16))};
  approver.hash = TRY(hash_of(approver.kind, passphrase, approver.salt));
  return write(approver);
}

Result<std::string> ApproverStore::make_token() const {
  const std::string token = std::string(token_prefix) + to_hex(TRY(random_bytes(32)));
  Approver approver{.kind = Approver::Kind::token, .salt = TRY(random_bytes(16))};
  approver.hash = TRY(hash_of(approver.kind, token, approver.salt));
  CHECK_OK(write(approver));
  return token;
}

}  // namespace cordon::approve
