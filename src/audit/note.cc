#include "audit/note.h"

#include <charconv>

namespace cordon::audit {

namespace {

constexpr std::string_view secret_prefix = "PRIVATE+KEY+";
constexpr std::string_view signature_prefix = "\xe2\x80\x94 ";  // em dash
constexpr char ed25519 = 1;

template <std::size_t N>
std::string as_text(const std::array<std::uint8_t, N>& bytes) {
  return {bytes.begin(), bytes.end()};
}

std::string head_text(const std::string& origin, const TreeHead& head) {
  return fmt::format("{}\n{}\n{}\n", origin, head.size, to_base64(head.root.view()));
}

}  // namespace

Signer::Signer(std::string name, SigningKey key)
    : name_(std::move(name)), key_(std::move(key)), public_key_(as_text(key_.public_key().bytes())) {
  id_ = sha256(fmt::format("{}\n{}{}", name_, ed25519, public_key_)).view().substr(0, 4);
}

Result<Signer> Signer::generate() {
  const std::string random = TRY(random_bytes(8));
  return Signer("cordon-audit-" + to_hex(random), TRY(SigningKey::generate()));
}

Result<Signer> Signer::from_text(std::string_view text) {
  const auto bad = fail(Fault::corrupt, "the audit log's signing key cannot be read");
  if (!text.starts_with(secret_prefix) || !text.ends_with('\n')) return bad;
  text.remove_prefix(secret_prefix.size());
  text.remove_suffix(1);
  const auto plus = text.find('+');
  if (plus == std::string_view::npos || text.size() < plus + 10 || text[plus + 9] != '+') return bad;
  const auto bytes = from_base64(text.substr(plus + 10));
  if (!bytes || bytes->size() != 33 || bytes->front() != ed25519) return bad;
  SigningKey::Seed seed;
  std::copy(bytes->begin() + 1, bytes->end(), seed.begin());
  Signer signer(std::string(text.substr(0, plus)), SigningKey::from_seed(seed));
  if (to_hex(signer.id_) != text.substr(plus + 1, 8)) return bad;
  return signer;
}

std::string Signer::text() const {
  return fmt::format("{}{}+{}+{}\n", secret_prefix, name_, to_hex(id_), to_base64(ed25519 + as_text(key_.seed())));
}

std::string Signer::verifier_key() const {
  return fmt::format("{}+{}+{}\n", name_, to_hex(id_), to_base64(ed25519 + public_key_));
}

std::string Signer::checkpoint(const TreeHead& head) const { return sign(head_text(name_, head)); }

std::string Signer::seal(const std::string& day, const TreeHead& before, const TreeHead& after) const {
  return sign(
      fmt::format("{}day {}\nfrom {} {}\n", head_text(name_, after), day, before.size, to_base64(before.root.view())));
}

std::string Signer::sign(const std::string& text) const {
  return fmt::format("{}\n{}{} {}\n", text, signature_prefix, name_, to_base64(id_ + as_text(key_.sign(text))));
}

std::optional<TreeHead> Signer::read(std::string_view note) const {
  const auto blank = note.find("\n\n");
  if (blank == std::string_view::npos) return std::nullopt;
  const std::string text(note.substr(0, blank + 1));
  // Ed25519 signs the same text always the same way, so what we signed can be told by signing it again.
  if (sign(text) != note) return std::nullopt;
  std::string_view rest = std::string_view(text).substr(name_.size() + 1);
  TreeHead head;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), head.size);
  if (error != std::errc()) return std::nullopt;
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()) + 1);
  const auto root = from_base64(rest.substr(0, rest.find('\n')));
  if (!root || root->size() != 32) return std::nullopt;
  Digest::Bytes bytes;
  std::copy(root->begin(), root->end(), bytes.begin());
  head.root = Digest(bytes);
  return head;
}

}  // namespace cordon::audit
