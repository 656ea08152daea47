// What came of it: the object of `cordon run --json`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "model/outcome.h"

namespace cordon::code {

/// A file that the run left in its output directory.
struct Artifact {
  std::string path;  // relative, as the sandbox named it: not to be used as a path of the host
  std::string mime;
  std::string content;
};
struct LeftOut {
  std::string path;
  std::string reason;
};

struct SessionNote {
  std::string id;
  std::uint64_t step = 0;  // JavaScript: which state this is; the one before can be gone back to
  bool survived = true;    // false: what the session knew is gone
};

struct CodeResult {
  bool success = false;
  std::string output;
  std::string errors;  // stderr
  int exit_code = -1;
  std::uint64_t execution_ms = 0;
  std::optional<std::string> error;
  std::optional<std::uint32_t> error_line;
  std::optional<Why> killed_by;
  Truncated truncated;
  Isolation isolation;
  Usage usage;
  std::vector<Artifact> artifacts;
  std::vector<LeftOut> left_out;
  std::optional<SessionNote> session;
  std::vector<Violation> violations;
  std::optional<Outcome> unrun;  // nothing of the code ran, and why
};

/// A result for what never ran.
CodeResult refused(const Error& error);

/// Artifacts beyond this many bytes are named without their content.
Json to_json(const CodeResult& result, std::size_t inline_bytes = 16u << 20);

/// "image/png" for "figure-1.png"; by content where that is certain, else by the end of the name.
std::string mime_of(std::string_view path, std::string_view content);

}  // namespace cordon::code
