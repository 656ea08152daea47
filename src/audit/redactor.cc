#include "audit/redactor.h"

#include <algorithm>

#include "audit/secret_shapes.h"
#include "base/digest.h"

namespace cordon::audit {

namespace {

constexpr std::size_t shortest_secret = 8;
constexpr std::size_t tag_digits = 12;
constexpr std::string_view mark = "\xe2\x80\xb9redacted:";  // ‹

std::string clean_name(std::string_view name) {
  std::string clean;
  for (const char c : name.substr(0, 40)) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    clean += plain ? c : '_';
  }
  return clean;
}

}  // namespace

Result<Redactor> Redactor::create(std::string hmac_key, std::vector<KnownSecret> known,
                                  const std::vector<SecretPattern>& patterns) {
  Redactor redactor;
  redactor.hmac_key_ = std::move(hmac_key);
  for (KnownSecret& secret : known) {
    if (secret.value.size() < shortest_secret) continue;
    secret.name = clean_name(secret.name);
    redactor.known_[secret.value.substr(0, shortest_secret)].push_back(std::move(secret));
  }
  for (auto& [start, secrets] : redactor.known_) {
    std::sort(secrets.begin(), secrets.end(),
              [](const auto& a, const auto& b) { return a.value.size() > b.value.size(); });
  }
  for (const SecretPattern& pattern : patterns) {
    redactor.patterns_.push_back({clean_name(pattern.name), TRY(Pattern::compile(pattern.expression))});
  }
  return redactor;
}

std::string Redactor::tag(std::string_view secret) const {
  return "hmac-" + hmac_sha256(hmac_key_, secret).hex().substr(0, tag_digits);
}

std::string Redactor::replacement(std::string_view kind, std::string_view secret) const {
  return fmt::format("{}{}:{}\xe2\x80\xba", mark, kind, tag(secret));
}

std::string Redactor::redact(std::string_view text) const {
  std::string result = known_.empty() ? std::string(text) : replace_known(text);
  for (const Named& named : patterns_) result = replace_pattern(result, named);
  return replace_shapes(result);
}

std::string Redactor::replace_known(std::string_view text) const {
  std::string out;
  std::string start;
  std::size_t copied = 0;
  for (std::size_t at = 0; at + shortest_secret <= text.size();) {
    start.assign(text.substr(at, shortest_secret));
    const auto candidates = known_.find(start);
    const KnownSecret* found = nullptr;
    if (candidates != known_.end()) {
      for (const KnownSecret& secret : candidates->second) {
        if (found == nullptr && text.substr(at).starts_with(secret.value)) found = &secret;
      }
    }
    if (found == nullptr) {
      ++at;
      continue;
    }
    out += text.substr(copied, at - copied);
    out += replacement(found->name, found->value);
    at += found->value.size();
    copied = at;
  }
  out += text.substr(copied);
  return out;
}

std::string Redactor::replace_shapes(std::string_view text) const {
  std::string out;
  std::size_t copied = 0;
  for (auto found = next_secret(text, 0); found; found = next_secret(text, copied)) {
    const std::string_view secret = text.substr(found->begin, found->end - found->begin);
    out += text.substr(copied, found->begin - copied);
    // A known secret that also stands behind "password=" keeps the name by which it is known.
    if (secret.starts_with(mark)) {
      out += secret;
    } else {
      out += replacement(found->kind, secret);
    }
    copied = found->end;
  }
  out += text.substr(copied);
  return out;
}

std::string Redactor::replace_pattern(std::string_view text, const Named& named) const {
  std::string out;
  std::size_t copied = 0;
  for (auto found = named.pattern.find(text, 0); found; found = named.pattern.find(text, copied)) {
    out += text.substr(copied, found->begin - copied);
    out += replacement(named.name, text.substr(found->begin, found->end - found->begin));
    copied = found->end;
  }
  out += text.substr(copied);
  return out;
}

}  // namespace cordon::audit
