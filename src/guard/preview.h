// A preview: the command run where nothing of it stays, and what it did there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "guard/execution.h"
#include "sandbox/preview/commit.h"
#include "sandbox/preview/store.h"

namespace cordon::guard {

struct PreviewOptions {
  bool keep = false;     // so that it can be committed
  bool present = false;  // the asker proved to be a person: nothing is kept from them
  bool unasked = false;  // made because it waits, and not because somebody wanted to see it: tight limits
};

struct Previewed {
  Execution execution;  // the judgement, and how the command ended in the preview
  Json plan;
  const char* would = "block";  // "execute", "queue" or "block"
  std::string cannot;           // why there is no preview; empty: there is one
  bool nothing_ran = false;     // that was known before
  bool for_approver = false;    // it is in the queue entry, and not for who asked
  std::optional<sandbox::preview::Preview> preview;
};

/// The exec object with `would` and `changes`. What is for an approver only is not in it.
Json to_json(const Previewed& previewed);

struct Committed {
  Execution execution;  // why not, where it was not committed
  std::string id;
  std::optional<sandbox::preview::CommitReport> report;

  bool done() const { return report && report->end == sandbox::preview::CommitReport::End::applied; }
};
Json to_json(const Committed& committed);
/// 0 done; 1 conflicts; else as for exec.
int exit_code_of(const Committed& committed);
std::string sentence_of(const Committed& committed);

struct Discarded {
  std::string id;
  bool rolled_back = false;
};

}  // namespace cordon::guard
