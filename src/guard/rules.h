// What the files say that decide: the settings and the allowlist. Read anew for every request, or kept for as long as
// none of the files has changed.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "base/clock.h"
#include "base/digest.h"
#include "config/load.h"
#include "model/settings.h"
#include "policy/allowlist.h"
#include "sys/file_mark.h"

namespace cordon::guard {

class Rules {
 public:
  Rules(Settings said, policy::Allowlist listed) : settings(std::move(said)), allowlist(std::move(listed)) {}
  const Settings settings;
  const policy::Allowlist allowlist;

  /// `policy_digest` of the settings; made when it is first wanted.
  const Digest& policy() const;

 private:
  mutable std::once_flag once_;
  mutable Digest policy_;
};

/// As they are now.
Result<std::shared_ptr<const Rules>> read_rules(const config::Sources& sources);

/// For a process that answers many requests. A file that was changed, made, removed or trusted counts from the next
/// question on: what is kept is kept under the marks of all files that it was read from, and is looked up by them.
class RuleBook {
 public:
  /// `clock` must outlive it.
  explicit RuleBook(const Clock& clock) : clock_(&clock) {}
  /// May be called from many threads at once.
  Result<std::shared_ptr<const Rules>> read(const config::Sources& sources);

 private:
  struct Page {
    config::Sources sources;
    std::vector<sys::FileMark> marks;
    std::vector<config::Seen> seen;
    std::shared_ptr<const Rules> rules;
  };
  std::shared_ptr<const Page> find(const config::Sources& sources) const;

  const Clock* clock_;
  mutable std::mutex lock_;
  std::vector<std::shared_ptr<const Page>> pages_;  // the newest last
};

}  // namespace cordon::guard
