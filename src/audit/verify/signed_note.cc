#include "audit/verify/signed_note.h"

#include <algorithm>
#include <charconv>

namespace cordon::audit {

namespace {

constexpr std::string_view dash = "\xe2\x80\x94 ";

std::optional<std::uint64_t> decimal(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || (text.size() > 1 && text[0] == '0')) {
    return std::nullopt;
  }
  return value;
}

std::optional<Digest> hash_of(std::string_view base64) {
  const auto bytes = from_base64(base64);
  if (!bytes || bytes->size() != 32) return std::nullopt;
  Digest::Bytes value;
  std::copy(bytes->begin(), bytes->end(), value.begin());
  return Digest(value);
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

}  // namespace

Result<VerifierKey> VerifierKey::parse(std::string_view text) {
  const auto bad = fail(Fault::invalid_input, "this is no verifier key (name+id+base64)");
  if (text.ends_with('\n')) text.remove_suffix(1);
  const auto plus = text.find('+');
  if (plus == std::string_view::npos || plus == 0 || text.size() < plus + 10 || text[plus + 9] != '+') return bad;
  const std::string name(text.substr(0, plus));
  const auto id = from_hex(text.substr(plus + 1, 8));
  const auto bytes = from_base64(text.substr(plus + 10));
  if (!id || !bytes || bytes->size() != 33 || bytes->front() != 1) return bad;
  // The id is made from name and key; one that does not fit belongs to another key.
  if (sha256(name + "\n" + *bytes).view().substr(0, 4) != *id) return bad;
  PublicKey::Bytes key;
  std::copy(bytes->begin() + 1, bytes->end(), key.begin());
  return VerifierKey(name, *id, PublicKey(key));
}

Result<SignedHead> open_note(std::string_view note, const VerifierKey& key) {
  const auto blank = note.find("\n\n");
  if (blank == std::string_view::npos) return fail(Fault::corrupt, "it is no signed note");
  const std::string_view text = note.substr(0, blank + 1);
  std::string_view line = note.substr(blank + 2);
  const std::string start = std::string(dash) + key.name() + " ";
  // Exactly one signature: other signers have no place in these files.
  if (!line.starts_with(start) || !line.ends_with('\n') || line.find('\n') + 1 != line.size()) {
    return fail(Fault::corrupt, "it is not signed by {}", key.name());
  }
  line = line.substr(start.size(), line.size() - start.size() - 1);
  const auto bytes = from_base64(line);
  if (!bytes || bytes->size() != 68 || bytes->substr(0, 4) != key.id()) {
    return fail(Fault::corrupt, "it is signed by another key");
  }
  Signature signature;
  std::copy(bytes->begin() + 4, bytes->end(), signature.begin());
  if (!key.verify(text, signature)) return fail(Fault::corrupt, "its signature is wrong");

  std::vector<std::string> lines = lines_of(text);
  if (lines.size() < 3 || lines[0] != key.name()) return fail(Fault::corrupt, "it is for another log");
  const auto size = decimal(lines[1]);
  const auto root = hash_of(lines[2]);
  if (!size || !root) return fail(Fault::corrupt, "it is no checkpoint");
  lines.erase(lines.begin(), lines.begin() + 3);
  return SignedHead{*size, *root, std::move(lines)};
}

Result<SealedDay> open_seal(std::string_view note, const VerifierKey& key, std::string_view day) {
  const SignedHead head = TRY(open_note(note, key));
  if (head.extensions.size() != 2) return fail(Fault::corrupt, "it is no seal of a day");
  if (head.extensions[0] != fmt::format("day {}", day)) return fail(Fault::corrupt, "it is the seal of another day");
  std::string_view from = head.extensions[1];
  if (!from.starts_with("from ")) return fail(Fault::corrupt, "it is no seal of a day");
  from.remove_prefix(5);
  const auto space = from.find(' ');
  if (space == std::string_view::npos) return fail(Fault::corrupt, "it is no seal of a day");
  const auto size = decimal(from.substr(0, space));
  const auto root = hash_of(from.substr(space + 1));
  if (!size || !root) return fail(Fault::corrupt, "it is no seal of a day");
  return SealedDay{*size, *root, head.size, head.root};
}

}  // namespace cordon::audit
