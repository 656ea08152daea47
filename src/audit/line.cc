#include "audit/line.h"

#include <algorithm>

#include "base/text.h"

namespace cordon::audit {

namespace {

// Sums to less than line_limit whatever the fields hold: 20 + 16 + 8 + 12 KiB, seven short fields, and the fixed part.
constexpr std::size_t command_limit = 20 * 1024;  // as JSON
constexpr std::size_t command_bytes_limit = 12 * 1024;
constexpr std::size_t excerpt_limit = 4096;
constexpr std::size_t excerpt_json_limit = 8 * 1024;
constexpr std::size_t detail_limit = 12 * 1024;
constexpr std::size_t short_limit = 512;  // as JSON

bool must_be_escaped(char32_t c) {
  return (c >= 0x7F && c <= 0x9F) || c == 0xAD || c == 0x61C || (c >= 0x200B && c <= 0x200F) ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF || (c >= 0xFFF9 && c <= 0xFFFB);
}

void append_escape(std::string& out, char32_t c) {
  if (c == '\n') {
    out += "\\n";
  } else if (c == '\t') {
    out += "\\t";
  } else if (c == '\r') {
    out += "\\r";
  } else {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
  }
}

std::size_t json_length(std::string_view text) {
  std::string out;
  append_json(out, text);
  return out.size();
}

/// A cut that does not fall into a character.
std::size_t boundary(std::string_view text, std::size_t at) {
  while (at > 0 && at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return at;
}

std::string excerpt_of(std::string_view text, std::size_t keep, const std::string& note) {
  if (text.size() <= keep) return std::string(text);
  const std::size_t head = boundary(text, keep / 2);
  const std::size_t tail = boundary(text, text.size() - keep / 2);
  return fmt::format("{}\n[{} bytes left out{}]\n{}", text.substr(0, head), tail - head, note, text.substr(tail));
}

/// Head and tail of a text that is too long; its JSON fits into excerpt_json_limit.
std::string excerpt(std::string_view text) {
  std::size_t keep = excerpt_limit;
  std::string shown = excerpt_of(text, keep, "");
  while (json_length(shown) > excerpt_json_limit) shown = excerpt_of(text, keep /= 2, "");
  return shown;
}

std::string short_text(std::string_view text) {
  if (text.size() <= short_limit / 6 || json_length(text) <= short_limit) return std::string(text);
  return excerpt_of(text, short_limit / 12, ", sha256 " + sha256(text).hex());
}

Result<Blob> blob_of(std::string_view text) {
  std::string content = TRY(random_bytes(32));
  content += text;
  const Digest commit = sha256(content);
  return Blob{commit, std::move(content)};
}

void append_member(std::string& out, std::string_view key, std::string_view text) {
  fmt::format_to(std::back_inserter(out), ",\"{}\":", key);
  append_json(out, text);
}

template <class Number>
void append_number(std::string& out, std::string_view key, Number number) {
  fmt::format_to(std::back_inserter(out), ",\"{}\":{}", key, number);
}

void append_digest(std::string& out, std::string_view key, const std::optional<Digest>& digest) {
  if (digest) fmt::format_to(std::back_inserter(out), ",\"{}\":\"{}\"", key, digest->hex());
}

void append_if(std::string& out, std::string_view key, std::string_view text, const Redactor& redactor) {
  if (!text.empty()) append_member(out, key, short_text(redactor.redact(text)));
}

Json redacted(const Json& value, const Redactor& redactor) {
  if (value.is_string()) return redactor.redact(value.get<std::string>());
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());  // the format has no floats
  if (!value.is_structured()) return value;
  Json copy = value.is_array() ? Json::array() : Json::object();
  for (const auto& [key, member] : value.items()) {
    if (value.is_array()) {
      copy.push_back(redacted(member, redactor));
    } else {
      copy[redactor.redact(key)] = redacted(member, redactor);
    }
  }
  return copy;
}

void append_json(std::string& out, const Json& value) {
  if (value.is_string()) return audit::append_json(out, value.get_ref<const std::string&>());
  if (!value.is_structured()) {
    out += value.dump();
    return;
  }
  out += value.is_array() ? '[' : '{';
  bool first = true;
  for (const auto& [key, member] : value.items()) {
    if (!first) out += ',';
    first = false;
    if (value.is_object()) {
      audit::append_json(out, key);
      out += ':';
    }
    append_json(out, member);
  }
  out += value.is_array() ? ']' : '}';
}

/// What `command` says and, when that is not all, where the rest is.
Result<std::string> command_members(std::string_view command, std::string& six, std::vector<Blob>& blobs) {
  std::string members;
  if (json_length(command) <= command_limit) {
    append_member(six, "command", command);
  } else {
    blobs.push_back(TRY(blob_of(command)));
    append_member(six, "command", excerpt(command));
    append_number(members, "command_bytes", command.size());
    append_digest(members, "command_commit", blobs.back().commit);
  }
  if (!is_utf8(command) && command.size() <= command_bytes_limit) {
    append_member(members, "command_b64", to_base64(command));
  } else if (!is_utf8(command) && blobs.empty()) {
    blobs.push_back(TRY(blob_of(command)));
    append_number(members, "command_bytes", command.size());
    append_digest(members, "command_commit", blobs.back().commit);
  }
  return members;
}

Result<std::string> output_members(std::string_view output, std::string& six, std::vector<Blob>& blobs) {
  std::string members;
  const bool whole = output.size() <= excerpt_limit && json_length(output) <= excerpt_json_limit && is_utf8(output);
  if (whole) {
    append_member(six, "output", output);
    if (!output.empty()) append_number(members, "output_bytes", output.size());
    return members;
  }
  blobs.push_back(TRY(blob_of(output)));
  append_member(six, "output", excerpt(output));
  append_digest(members, "output_commit", blobs.back().commit);
  append_number(members, "output_bytes", output.size());
  return members;
}

}  // namespace

void append_json(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c >= 0x20 && c < 0x7F) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
      ++at;
      continue;
    }
    const auto decoded = decode_utf8(text, at);
    if (!decoded) {
      out += "\\ufffd";
      ++at;
      continue;
    }
    if (decoded->character < 0x20 || must_be_escaped(decoded->character)) {
      append_escape(out, decoded->character);
    } else {
      out += text.substr(at, decoded->length);
    }
    at += decoded->length;
  }
  out += '"';
}

Result<PreparedLine> prepare_line(const AuditRecord& record, const Redactor& redactor) {
  PreparedLine line;
  const std::string command = redactor.redact(record.command);
  const std::string command_more = TRY(command_members(command, line.six, line.blobs));
  append_member(line.six, "user", short_text(record.user));
  append_member(line.six, "status", short_text(record.status));
  const std::string output_more = TRY(output_members(redactor.redact(record.output), line.six, line.blobs));
  append_member(line.six, "risk", record.risk ? name_of(*record.risk) : "");

  append_member(line.rest, "kind", name_of(record.kind));
  append_if(line.rest, "request", record.request, redactor);
  append_if(line.rest, "rule", record.rule, redactor);
  append_digest(line.rest, "policy", record.policy);
  append_digest(line.rest, "plan", record.plan);
  if (record.exit) append_number(line.rest, "exit", *record.exit);
  line.rest += output_more;
  append_if(line.rest, "approval", record.approval, redactor);
  append_if(line.rest, "agent", record.agent, redactor);
  append_if(line.rest, "session", record.session, redactor);
  line.rest += command_more;
  if (record.detail.is_null()) return line;

  if (!record.detail.is_object()) return fail(Fault::invalid_input, "the detail of an audit record must be an object");
  std::string detail = ",\"detail\":";
  append_json(detail, redacted(record.detail, redactor));
  if (detail.size() > detail_limit) {
    return fail(Fault::invalid_input, "the detail of an audit record of kind {} is {} bytes long; {} is the limit",
                name_of(record.kind), detail.size(), detail_limit);
  }
  line.rest += detail;
  return line;
}

std::string finish_line(const PreparedLine& line, Time time, std::uint64_t seq, const Digest& prev) {
  return fmt::format("{{\"timestamp\":\"{}\"{},\"seq\":{}{},\"prev\":\"{}\"}}", to_rfc3339(time), line.six, seq,
                     line.rest, prev.hex());
}

}  // namespace cordon::audit
