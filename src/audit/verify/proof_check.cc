#include <charconv>

#include "audit/verify/merkle.h"
#include "audit/verify/signed_note.h"
#include "audit/verify/verifier.h"

namespace cordon::audit {

namespace {

std::optional<std::string_view> take_line(std::string_view& text) {
  const auto end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

}  // namespace

Result<ProvenLine> check_proof(std::string_view proof, std::string_view key_text) {
  const auto bad = fail(Fault::invalid_input, "this is no proof (c2sp.org/tlog-proof@v1)");
  const VerifierKey key = TRY(VerifierKey::parse(key_text));
  if (take_line(proof) != "c2sp.org/tlog-proof@v1") return bad;
  auto line = take_line(proof);
  if (!line || !line->starts_with("extra ")) return bad;
  auto record = from_base64(line->substr(6));
  line = take_line(proof);
  if (!record || !line || !line->starts_with("index ")) return bad;
  line->remove_prefix(6);
  std::uint64_t index = 0;
  const auto [end, error] = std::from_chars(line->data(), line->data() + line->size(), index);
  if (error != std::errc() || end != line->data() + line->size()) return bad;
  std::vector<Digest> path;
  for (line = take_line(proof); line && !line->empty(); line = take_line(proof)) {
    const auto bytes = from_base64(*line);
    if (!bytes || bytes->size() != 32 || path.size() == 64) return bad;
    Digest::Bytes value;
    std::copy(bytes->begin(), bytes->end(), value.begin());
    path.emplace_back(value);
  }
  if (!line) return bad;
  const auto head = open_note(proof, key);
  if (!head) return fail(Fault::corrupt, "the proof's checkpoint is not to be trusted: {}", head.error().sentence);
  if (!proves_inclusion(hash_leaf(*record), index, head->size, path, head->root)) {
    return fail(Fault::corrupt, "the proof does not lead to the signed root: record or path were changed");
  }
  return ProvenLine{index, head->size, *std::move(record)};
}

}  // namespace cordon::audit
