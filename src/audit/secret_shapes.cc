#include "audit/secret_shapes.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "base/text.h"

namespace cordon::audit {

namespace {

// How far a matcher may look ahead for an end that need not come. Keeps the whole linear.
constexpr std::size_t look_ahead = 1024;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_letter(char c) { return is_upper(c) || (c >= 'a' && c <= 'z'); }
bool is_alnum(char c) { return is_letter(c) || is_digit(c); }
bool is_upper_alnum(char c) { return is_upper(c) || is_digit(c); }
bool is_word(char c) { return is_alnum(c) || c == '_'; }
bool is_token(char c) { return is_word(c) || c == '-'; }
bool is_credential(char c) { return is_token(c) || c == '.' || c == '~' || c == '+' || c == '/' || c == '='; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

using Class = bool (*)(char);

std::size_t run(std::string_view text, std::size_t from, Class belongs) {
  std::size_t end = from;
  while (end < text.size() && belongs(text[end])) ++end;
  return end;
}

/// A fixed beginning, then at least `least` (exactly, with `exact`) characters of one class.
struct Prefixed {
  std::string_view kind;
  std::string_view prefix;
  Class belongs;
  std::size_t least;
  bool exact = false;
};
constexpr std::array prefixed = {
    Prefixed{"aws-key", "AKIA", is_upper_alnum, 16, true},
    Prefixed{"aws-key", "ASIA", is_upper_alnum, 16, true},
    Prefixed{"github-token", "ghp_", is_alnum, 30},
    Prefixed{"github-token", "gho_", is_alnum, 30},
    Prefixed{"github-token", "ghu_", is_alnum, 30},
    Prefixed{"github-token", "ghs_", is_alnum, 30},
    Prefixed{"github-token", "ghr_", is_alnum, 30},
    Prefixed{"github-token", "github_pat_", is_word, 22},
    Prefixed{"gitlab-token", "glpat-", is_token, 20},
    Prefixed{"slack-token", "xoxa-", is_token, 10},
    Prefixed{"slack-token", "xoxb-", is_token, 10},
    Prefixed{"slack-token", "xoxp-", is_token, 10},
    Prefixed{"slack-token", "xoxr-", is_token, 10},
    Prefixed{"slack-token", "xoxs-", is_token, 10},
    Prefixed{"api-key", "sk-", is_token, 20},
    Prefixed{"api-key", "sk_live_", is_word, 16},
    Prefixed{"api-key", "rk_live_", is_word, 16},
    Prefixed{"google-key", "AIza", is_token, 35},
    Prefixed{"npm-token", "npm_", is_alnum, 30},
    Prefixed{"pypi-token", "pypi-", is_token, 50},
};

std::optional<SecretSpan> prefixed_at(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  for (const Prefixed& shape : prefixed) {
    if (!rest.starts_with(shape.prefix)) continue;
    const std::size_t end = run(text, at + shape.prefix.size(), shape.belongs);
    const std::size_t length = end - at - shape.prefix.size();
    if (length < shape.least || (shape.exact && length != shape.least)) continue;
    return SecretSpan{shape.kind, at, end};
  }
  return std::nullopt;
}

std::optional<SecretSpan> jwt_at(std::string_view text, std::size_t at) {
  if (!text.substr(at).starts_with("eyJ")) return std::nullopt;
  const std::size_t header = run(text, at, is_token);
  if (header - at < 10 || header >= text.size() || text[header] != '.') return std::nullopt;
  const std::size_t payload = run(text, header + 1, is_token);
  if (payload - header < 10 || payload >= text.size() || text[payload] != '.') return std::nullopt;
  return SecretSpan{"jwt", at, run(text, payload + 1, is_token)};
}

std::optional<SecretSpan> private_key_at(std::string_view text, std::size_t at) {
  if (!text.substr(at).starts_with("-----BEGIN ")) return std::nullopt;
  const std::string_view label = text.substr(at + 11, 64);
  const auto mark = label.find("PRIVATE KEY");
  if (mark == std::string_view::npos || label.substr(0, mark).find('-') != std::string_view::npos) return std::nullopt;
  const auto end = text.find("-----END ", at);
  // A block that is cut off is still a key: everything after its beginning goes.
  if (end == std::string_view::npos) return SecretSpan{"private-key", at, text.size()};
  const auto close = text.substr(end + 9, 80).find("-----");
  return SecretSpan{"private-key", at, close == std::string_view::npos ? text.size() : end + 9 + close + 5};
}

std::optional<SecretSpan> bearer_at(std::string_view text, std::size_t at) {
  for (const std::string_view scheme : {"Bearer ", "bearer ", "Basic "}) {
    if (!text.substr(at).starts_with(scheme)) continue;
    const std::size_t begin = at + scheme.size();
    const std::size_t end = run(text, begin, is_credential);
    if (end - begin >= 12) return SecretSpan{"authorization", begin, end};
  }
  return std::nullopt;
}

/// The password of scheme://user:password@host, or a long user name without password, which is a token.
std::optional<SecretSpan> userinfo_at(std::string_view text, std::size_t at) {
  if (!text.substr(at).starts_with("://")) return std::nullopt;
  const std::size_t begin = at + 3;
  const std::size_t limit = std::min(text.size(), begin + look_ahead);
  std::optional<std::size_t> colon;
  std::optional<std::size_t> sign;
  for (std::size_t i = begin; i < limit; ++i) {
    const char c = text[i];
    if (c == '/' || c == '?' || c == '#' || c == '"' || c == '\'' || is_blank(c)) break;
    if (c == ':' && !colon) colon = i;
    if (c == '@') sign = i;
  }
  if (!sign) return std::nullopt;
  if (colon && *colon + 1 < *sign) return SecretSpan{"url-password", *colon + 1, *sign};
  if (*sign - begin >= 20) return SecretSpan{"url-password", begin, *sign};
  return std::nullopt;
}

constexpr std::array<std::string_view, 17> secret_names = {
    "password",   "passwd",      "pwd",           "passphrase", "secret",     "token",
    "api_key",    "apikey",      "api-key",       "access_key", "access-key", "auth_token",
    "secret_key", "private_key", "client_secret", "secret-key", "accesskey"};

/// A name that ends in one of secret_names, e.g. DB_PASSWORD or github-token.
bool names_a_secret(std::string_view name) {
  const std::string lower = to_lower(name.size() > 64 ? name.substr(name.size() - 64) : name);
  return std::any_of(secret_names.begin(), secret_names.end(),
                     [&](std::string_view word) { return lower.ends_with(word); });
}

bool ends_value(char c) {
  return is_blank(c) || c == '"' || c == '\'' || c == '&' || c == ';' || c == '|' || c == '<' || c == '>' || c == ',' ||
         c == ')' || c == '}' || c == '`';
}

/// The value that begins at `at`, in quotes or bare. A variable is not a secret, only its name.
std::optional<SecretSpan> value_at(std::string_view text, std::size_t at, std::size_t least) {
  if (at >= text.size()) return std::nullopt;
  const char quote = text[at];
  if (quote == '"' || quote == '\'') {
    const auto end = text.substr(at + 1, look_ahead).find(quote);
    if (end != std::string_view::npos && end >= least && text[at + 1] != '$') {
      return SecretSpan{"password", at + 1, at + 1 + end};
    }
    return std::nullopt;
  }
  std::size_t end = at;
  while (end < text.size() && !ends_value(text[end])) ++end;
  if (end - at < least || quote == '$') return std::nullopt;
  return SecretSpan{"password", at, end};
}

/// NAME=value, NAME: value, "NAME": "value". `at` is the sign between them.
std::optional<SecretSpan> assignment_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  if (end > 0 && (text[end - 1] == '"' || text[end - 1] == '\'')) --end;
  std::size_t begin = end;
  while (begin > 0 && end - begin < 64 && is_token(text[begin - 1])) --begin;
  if (begin == end || !names_a_secret(text.substr(begin, end - begin))) return std::nullopt;
  const bool colon = text[at] == ':';
  std::size_t value = at + 1;
  while (colon && value < text.size() && text[value] == ' ' && value < at + 4) ++value;
  return value_at(text, value, colon ? 6 : 1);
}

/// --password VALUE, and -u user:VALUE.
std::optional<SecretSpan> option_at(std::string_view text, std::size_t at) {
  const std::size_t name = run(text, at, is_token);
  if (name >= text.size() || text[name] != ' ') return std::nullopt;
  const std::string_view option = text.substr(at, name - at);
  if (option.starts_with("--") && option.size() <= 64 && names_a_secret(option)) {
    if (name + 1 < text.size() && text[name + 1] != '-') return value_at(text, name + 1, 1);
    return std::nullopt;
  }
  if (option != "-u" && option != "--user" && option != "--proxy-user") return std::nullopt;
  const auto word = value_at(text, name + 1, 3);
  if (!word) return std::nullopt;
  const auto colon = text.substr(word->begin, word->end - word->begin).find(':');
  if (colon == std::string_view::npos || word->begin + colon + 1 == word->end) return std::nullopt;
  return SecretSpan{"password", word->begin + colon + 1, word->end};
}

std::optional<SecretSpan> secret_at(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (c == ':') {
    if (const auto found = userinfo_at(text, at)) return found;
  }
  if (c == '=' || c == ':') return assignment_at(text, at);
  // The rest begin a word: so each run of word characters is looked at once.
  if (at > 0 && is_token(text[at - 1])) return std::nullopt;
  if (c == '-') {
    if (const auto found = private_key_at(text, at)) return found;
    return option_at(text, at);
  }
  if (!is_letter(c)) return std::nullopt;
  if (const auto found = prefixed_at(text, at)) return found;
  if (c == 'e') return jwt_at(text, at);
  return bearer_at(text, at);
}

}  // namespace

std::optional<SecretSpan> next_secret(std::string_view text, std::size_t from) {
  for (std::size_t at = from; at < text.size(); ++at) {
    const auto found = secret_at(text, at);
    if (found && found->begin >= from) return found;
  }
  return std::nullopt;
}

}  // namespace cordon::audit
