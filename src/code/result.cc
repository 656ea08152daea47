#include "code/result.h"

#include <array>

#include "base/digest.h"
#include "base/text.h"

namespace cordon::code {

namespace {

struct Kind {
  std::string_view end;
  std::string_view mime;
};
constexpr std::array kinds = {
    Kind{".png", "image/png"},       Kind{".jpg", "image/jpeg"},
    Kind{".jpeg", "image/jpeg"},     Kind{".gif", "image/gif"},
    Kind{".svg", "image/svg+xml"},   Kind{".webp", "image/webp"},
    Kind{".pdf", "application/pdf"}, Kind{".json", "application/json"},
    Kind{".csv", "text/csv"},        Kind{".tsv", "text/tab-separated-values"},
    Kind{".html", "text/html"},      Kind{".md", "text/markdown"},
    Kind{".xml", "application/xml"}, Kind{".zip", "application/zip"},
    Kind{".gz", "application/gzip"}, Kind{".txt", "text/plain"},
    Kind{".log", "text/plain"},
};

struct Magic {
  std::string_view start;
  std::string_view mime;
};
constexpr std::array magics = {
    Magic{"\x89PNG\r\n\x1a\n", "image/png"},
    Magic{"\xff\xd8\xff", "image/jpeg"},
    Magic{"GIF8", "image/gif"},
    Magic{"%PDF-", "application/pdf"},
};

}  // namespace

std::string mime_of(std::string_view path, std::string_view content) {
  for (const Magic& magic : magics) {
    if (content.starts_with(magic.start)) return std::string(magic.mime);
  }
  const std::string name = to_lower(path);
  for (const Kind& kind : kinds) {
    // A name that says picture over bytes that are none would make a viewer guess.
    const bool claims_picture =
        kind.mime.starts_with("image/") && kind.mime != "image/svg+xml" && kind.mime != "image/webp";
    if (name.ends_with(kind.end) && !claims_picture) return std::string(kind.mime);
  }
  return is_utf8(content) && content.find('\0') == std::string_view::npos ? "text/plain" : "application/octet-stream";
}

CodeResult refused(const Error& error) {
  CodeResult result;
  result.error = error.sentence;
  result.isolation = {"none", "none", {}};
  result.unrun = Broken{error};
  return result;
}

Json to_json(const CodeResult& result, std::size_t inline_bytes) {
  Json json = {{"success", result.success},
               {"output", result.output},
               {"stderr", result.errors},
               {"exitCode", result.exit_code},
               {"executionTime", result.execution_ms},
               {"error", result.error ? Json(*result.error) : Json(nullptr)},
               {"isolation",
                {{"backend", result.isolation.backend},
                 {"level", result.isolation.level},
                 {"missing", result.isolation.missing}}},
               {"artifacts", Json::array()},
               {"session", nullptr}};
  for (const Artifact& artifact : result.artifacts) {
    Json entry = {{"path", artifact.path}, {"mime", artifact.mime}, {"bytes", artifact.content.size()}};
    if (artifact.content.size() <= inline_bytes) {
      entry["base64"] = to_base64(artifact.content);
      inline_bytes -= artifact.content.size();
    }
    json["artifacts"].push_back(std::move(entry));
  }
  if (result.session) {
    json["session"] = {
        {"id", result.session->id}, {"step", result.session->step}, {"survived", result.session->survived}};
  }
  json["line"] = result.error_line ? Json(*result.error_line) : Json(nullptr);
  json["killed_by"] = result.killed_by ? Json(name_of(*result.killed_by)) : Json(nullptr);
  json["truncated"] = {{"stdout", result.truncated.out}, {"stderr", result.truncated.err}};
  if (!result.left_out.empty()) {
    json["leftOut"] = Json::array();
    for (const LeftOut& item : result.left_out)
      json["leftOut"].push_back({{"path", item.path}, {"reason", item.reason}});
  }
  json["usage"] = {{"cpu_ms", result.usage.cpu_ms},
                   {"memory_peak_bytes", result.usage.memory_peak_bytes},
                   {"processes_peak", result.usage.processes_peak}};
  return json;
}

}  // namespace cordon::code
