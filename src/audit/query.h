// Questions to the log. They read and never write, but for the summaries in index/, and need no Log.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/summary.h"
#include "base/clock.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "model/audit_record.h"

namespace cordon::audit {

struct Filter {
  std::optional<Risk> risk;
  std::string status;
  std::optional<Time> since;
  std::optional<Time> until;  // not included
  std::string command;        // a glob: * and ?; without one of them: any command that holds the text
  std::string user;
  std::string agent;
  std::string holds;  // bytes that stand in the line as it is written, e.g. the tag of a secret
  /// Intents, day.open, start, stop and network records too.
  bool every_kind = false;
};

/// The newest records that match, the oldest of them first; as they stand in the file.
Result<std::vector<std::string>> last_lines(const std::string& directory, const Filter& filter, std::size_t count);
Result<std::vector<Json>> last_records(const std::string& directory, const Filter& filter, std::size_t count);
/// {entries[], count}: the records as every interface shows them.
Json records_json(const std::vector<std::string>& lines);
/// The record's line as it stands in the file; nothing when there is none.
Result<std::optional<std::string>> record_line(const std::string& directory, std::uint64_t seq);
/// Every record of the same request: what was asked, decided, begun and how it ended; the oldest first. `line` must
/// be a record of the log; what is more than a week older is not looked for.
Result<std::vector<std::string>> records_of_request(const std::string& directory, std::string_view line);
/// What a commitment in a line (output_commit, command_commit) stands for; nothing once it was erased or deleted.
Result<std::optional<std::string>> committed_text(const std::string& directory, const Json& line, const char* key);
/// Whether it is still there.
Result<bool> has_text(const std::string& directory, const Json& line, const char* key);
/// Removes the text that a line committed to. Every proof stays as it is.
Result<bool> erase_text(const std::string& directory, const Json& line, const char* key);

/// Records in whose text, or in what they committed to, this secret was redacted; the oldest first.
Result<std::vector<std::string>> lines_with_secret(const std::string& directory, std::string_view secret);

/// What was found wrong with the log and not answered yet: then nothing is written to it.
Result<std::optional<std::string>> known_damage(const std::string& directory);

/// Since the beginning of the day in which `since` lies; without it, all that is there.
Result<Summary> summarise(const std::string& directory, std::optional<Time> since);
/// The same of the records that a filter lets through, the newest of them if there are very many.
Result<Summary> summarise(const std::string& directory, const Filter& filter);
/// {total_commands, safe, normal, dangerous, critical, disallowed, by_status{}, by_user{}, top_commands[],
/// time_range{}}.
Json stats_json(const Summary& summary);

/// "Timestamp | Command | User | Status | Output | Risk", each on one line and visible.
std::string table_line(const Json& line);

enum class Format { json, jsonl, csv };
std::optional<Format> format_named(std::string_view name);
using Sink = std::function<Result<void>(std::string_view)>;
/// jsonl gives the lines byte for byte, so that they can still be checked against a proof.
Result<void> export_records(const std::string& directory, const Filter& filter, Format format, const Sink& sink);

/// Linear but for `*`: pattern length × text length at worst.
bool matches_glob(std::string_view pattern, std::string_view text);

}  // namespace cordon::audit
