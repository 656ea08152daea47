// One line of the log: a record as JSON with its keys in fixed order (docs/audit-format.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "audit/redactor.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/result.h"
#include "model/audit_record.h"

namespace cordon::audit {

/// tlog-tiles' limit for an entry, and ours for a line without its newline.
inline constexpr std::size_t line_limit = 65536;

/// Bytes too long to stand in a line; kept beside the log under the name of their commitment, erasable.
struct Blob {
  Digest commit;        // SHA-256(content)
  std::string content;  // 32 random bytes, then the text: without them nobody can test a guess against the commitment
};

/// All of a line but what only the moment of writing tells: its time, its number and its link.
struct PreparedLine {
  std::string six;   // ,"command":…,"risk":…
  std::string rest;  // ,"kind":… up to the link
  std::vector<Blob> blobs;
};

/// Redacts, shortens what is too long and says so, and writes everything as JSON.
Result<PreparedLine> prepare_line(const AuditRecord& record, const Redactor& redactor);

std::string finish_line(const PreparedLine& line, Time time, std::uint64_t seq, const Digest& prev);

/// Appends `text` as a JSON string. Bytes that are not UTF-8 become \ufffd; characters that a terminal would act on or
/// not show are escaped, so that `cat` of a log is safe.
void append_json(std::string& out, std::string_view text);

}  // namespace cordon::audit
