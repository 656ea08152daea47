// Everything of the audit log that reads bytes of strangers: lines, notes, proofs, frontiers, expressions, secrets.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "audit/day_open.h"
#include "audit/line.h"
#include "audit/note.h"
#include "audit/pattern.h"
#include "audit/redactor.h"
#include "audit/tail.h"
#include "audit/verify/line_view.h"
#include "audit/verify/signed_note.h"
#include "audit/verify/verifier.h"
#include "base/json.h"
#include "base/text.h"

namespace {

using namespace cordon;
using namespace cordon::audit;

void must(bool holds) {
  if (!holds) std::abort();
}

void lines(std::string_view text) {
  std::vector<Member> members;
  if (read_members(text, members)) must(Json::accept(text));
  (void)line_ends(text);
  (void)parse_day_open(text);
  (void)parse_frontier(text);
}

void notes(std::string_view text) {
  static const Signer signer = *Signer::generate();
  static const VerifierKey key = *VerifierKey::parse(signer.verifier_key());
  must(!open_note(text, key));
  must(!signer.read(text));
  must(!check_proof(text, signer.verifier_key()));
  (void)VerifierKey::parse(text);
  (void)Signer::from_text(text);
}

void secrets(std::string_view text) {
  static const Redactor redactor = *Redactor::create("key", {{"NAME", "0123456789"}}, {{"four", "[0-9]{4}-x"}});
  const std::string once = redactor.redact(text);
  must(once.find("0123456789") == std::string::npos || text.find("0123456789") != std::string::npos);
  const auto cut = text.find('\n');
  if (cut == std::string_view::npos || cut > 100 || text.size() > 4096) return;
  if (const auto pattern = Pattern::compile(text.substr(0, cut))) {
    const auto found = pattern->find(text, cut + 1);
    if (found) must(found->begin > cut && found->begin < found->end && found->end <= text.size());
  }
}

void written(std::string_view text) {
  std::string json;
  append_json(json, text);
  const Json read = parse_json(json);
  must(read.is_string());
  if (is_utf8(text)) must(read.get<std::string>() == text);

  static const Redactor nothing = *Redactor::create("", {}, {});
  AuditRecord record;
  record.command = record.user = record.output = record.session = text;
  const auto prepared = prepare_line(record, nothing);
  must(prepared.has_value());
  const std::string line = finish_line(*prepared, Time{}, 7, Digest());
  std::vector<Member> members;
  must(line.size() <= line_limit && read_members(line, members) && line_ends(line)->seq == 7);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  lines(text);
  notes(text);
  secrets(text);
  written(text);
  return 0;
}
