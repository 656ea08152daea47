// The answer to one request, as every interface gives it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "code/result.h"
#include "guard/judge.h"
#include "model/outcome.h"

namespace cordon::guard {

/// What the run wrote, where the caller kept it.
struct Output {
  std::string out;
  std::string err;
};

/// The approver applied the request's preview in place of a run.
struct CommittedRun {
  std::string preview;
  std::size_t applied = 0;
  Output output;  // as it was in the preview, the beginning of it
};

struct Execution {
  Judgement judgement;
  RunReport report;
  std::string approval;  // queue id, when one was made or spent
  bool merged = false;   // an identical request was waiting already
  bool unrecorded = false;
  std::optional<CommittedRun> committed;
  std::vector<std::string> alerts;  // what must be said loudly beside the result

  bool ran() const;
};

/// The answer to a request for code: also its result, which says the same in the words that callers of `run` know.
struct CodeExecution {
  Execution execution;
  code::CodeResult result;
};
/// The run object of the interfaces page.
Json to_json(const CodeExecution& execution);
/// The code's own, or one of those below; 1 for a request that makes no sense.
int exit_code_of(const CodeExecution& execution);

/// The exec object of the interfaces page.
Json to_json(const Execution& execution, const Output& output);
/// The command's own exit code, or 124 timed out, 125 could not be run, 126 refused, 75 waits for approval.
int exit_code_of(const Execution& execution);
/// One sentence for a person; empty when the command ran to its end.
std::string sentence_of(const Execution& execution);

}  // namespace cordon::guard
