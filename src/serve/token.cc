#include "serve/token.h"

#include <algorithm>

#include "sys/file.h"

namespace cordon::serve {

namespace {

constexpr std::string_view text_prefix = "cordon_";
constexpr std::string_view id_prefix = "tok_";
constexpr std::size_t id_length = 4 + 16;
constexpr std::size_t secret_length = 64;
constexpr std::size_t largest_file = 1U << 20;
constexpr std::size_t most_tokens = 1000;
constexpr Duration remembered = std::chrono::days(30);  // what is over is then forgotten

bool is_hex(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::optional<Role> role_named(std::string_view name) {
  for (const Role role : {Role::agent, Role::approver, Role::auditor}) {
    if (name == name_of(role)) return role;
  }
  return std::nullopt;
}

Json time_json(const std::optional<Time>& time) { return time ? Json(to_rfc3339(*time)) : Json(); }

Json stored(const Token& token) {
  return {{"id", token.id},
          {"role", name_of(token.role)},
          {"agent", token.agent},
          {"session", token.session},
          {"workspace", token.workspace},
          {"created_at", to_rfc3339(token.created_at)},
          {"expires_at", time_json(token.expires_at)},
          {"revoked_at", time_json(token.revoked_at)},
          {"salt", to_hex(token.salt)},
          {"hash", token.hash.hex()}};
}

/// Throws what the JSON library throws where a member is missing or of another type.
std::optional<Token> from_stored(const Json& json) {
  Token token;
  token.id = json.at("id").get<std::string>();
  const auto role = role_named(json.at("role").get<std::string>());
  token.agent = json.at("agent").get<std::string>();
  token.session = json.at("session").get<std::string>();
  token.workspace = json.at("workspace").get<std::string>();
  const auto created = from_rfc3339(json.at("created_at").get<std::string>());
  const auto salt = from_hex(json.at("salt").get<std::string>());
  const auto hash = Digest::from_hex(json.at("hash").get<std::string>());
  if (!role || !created || !salt || salt->size() < 16 || !hash || !token.workspace.starts_with('/')) return {};
  token.role = *role;
  token.created_at = *created;
  token.salt = *salt;
  token.hash = *hash;
  for (const auto& [key, member] :
       {std::pair{"expires_at", &token.expires_at}, std::pair{"revoked_at", &token.revoked_at}}) {
    if (json.at(key).is_null()) continue;
    *member = from_rfc3339(json.at(key).get<std::string>());
    if (!*member) return {};
  }
  return token;
}

std::optional<std::vector<Token>> tokens_in(const Json& json) {
  if (!json.is_object() || json.value("version", 0) != 1 || !json.contains("tokens") || !json["tokens"].is_array()) {
    return std::nullopt;
  }
  std::vector<Token> tokens;
  for (const Json& one : json["tokens"]) {
    auto token = from_stored(one);
    if (!token) return std::nullopt;
    tokens.push_back(*std::move(token));
  }
  return tokens;
}

}  // namespace

const char* Token::state(Time now) const {
  if (revoked_at) return "revoked";
  return expires_at && *expires_at <= now ? "expired" : "valid";
}

Json to_json(const Token& token, Time now) {
  Json json = stored(token);
  json.erase("salt");
  json.erase("hash");
  json["state"] = token.state(now);
  return json;
}

std::optional<std::string> id_in(std::string_view secret) {
  if (secret.size() != text_prefix.size() + id_length + 1 + secret_length) return std::nullopt;
  if (!secret.starts_with(text_prefix)) return std::nullopt;
  secret.remove_prefix(text_prefix.size());
  const std::string_view id = secret.substr(0, id_length);
  const bool ours = id.starts_with(id_prefix) && is_hex(id.substr(id_prefix.size())) && secret[id_length] == '_' &&
                    is_hex(secret.substr(id_length + 1));
  return ours ? std::optional(std::string(id)) : std::nullopt;
}

Result<std::vector<Token>> TokenStore::list() const {
  const auto text = TRY(sys::read_file_if_exists(path(), largest_file));
  if (!text) return std::vector<Token>();
  std::optional<std::vector<Token>> tokens;
  try {
    tokens = tokens_in(parse_json(*text));
  } catch (const Json::exception&) {
    tokens.reset();
  }
  if (!tokens) return fail(Fault::corrupt, "{} is damaged; remove it and make new tokens: cordon token create", path());
  return *std::move(tokens);
}

Result<void> TokenStore::write(const std::vector<Token>& tokens) const {
  Json list = Json::array();
  for (const Token& token : tokens) list.push_back(stored(token));
  return sys::replace_file(path(), Json{{"version", 1}, {"tokens", std::move(list)}}.dump() + "\n", 0600);
}

Result<std::string> TokenStore::create(Token token) const {
  CHECK_OK(sys::ensure_private_directory(state_dir_));
  const sys::FileLock lock = TRY(sys::FileLock::take(path() + ".lock"));
  std::vector<Token> tokens = TRY(list());
  token.created_at = clock_->now();
  std::erase_if(tokens, [&](const Token& old) {
    const auto over = old.revoked_at ? old.revoked_at : old.expires_at;
    return over && *over + remembered <= token.created_at;
  });
  if (tokens.size() >= most_tokens) {
    return fail(Fault::conflict, "there are {} tokens already; revoke some: cordon token list", tokens.size());
  }
  token.id = std::string(id_prefix) + to_hex(TRY(random_bytes(8)));
  const std::string text = fmt::format("{}{}_{}", text_prefix, token.id, to_hex(TRY(random_bytes(32))));
  token.salt = TRY(random_bytes(16));
  // 256 random bits cannot be guessed, so a token needs no slow hash.
  token.hash = hmac_sha256(token.salt, text);
  tokens.push_back(std::move(token));
  CHECK_OK(write(tokens));
  return text;
}

Result<Token> TokenStore::revoke(std::string_view id) const {
  CHECK_OK(sys::ensure_private_directory(state_dir_));
  const sys::FileLock lock = TRY(sys::FileLock::take(path() + ".lock"));
  std::vector<Token> tokens = TRY(list());
  const auto found = std::ranges::find(tokens, id, &Token::id);
  if (found == tokens.end()) return fail(Fault::invalid_input, "there is no token {}; see: cordon token list", id);
  if (found->revoked_at) return fail(Fault::conflict, "{} is already revoked", id);
  found->revoked_at = clock_->now();
  CHECK_OK(write(tokens));
  return *found;
}

Result<void> TokenCheck::refresh() {
  const auto mark = sys::mark_of(path_, sys::Links::follow, clock_->now());
  if (mark && mark == seen_) return {};
  // Before reading: a change in between is then seen the next time.
  seen_.reset();
  tokens_.clear();
  tokens_ = TRY(store_.list());
  seen_ = mark;
  return {};
}

Result<Token> TokenCheck::owner_of(std::string_view secret) {
  const auto denied = fail(Fault::denied, "this token does not count: it is unknown, expired or revoked");
  const auto id = id_in(secret);
  if (!id) return denied;
  const std::lock_guard lock(lock_);
  CHECK_OK(refresh());
  const auto found = std::ranges::find(tokens_, *id, &Token::id);
  if (found == tokens_.end() || !(hmac_sha256(found->salt, secret) == found->hash)) return denied;
  if (std::string_view(found->state(clock_->now())) != "valid") return denied;
  return *found;
}

bool TokenCheck::still_counts(std::string_view id) {
  const std::lock_guard lock(lock_);
  if (!refresh()) return false;
  const auto found = std::ranges::find(tokens_, id, &Token::id);
  return found != tokens_.end() && std::string_view(found->state(clock_->now())) == "valid";
}

}  // namespace cordon::serve
