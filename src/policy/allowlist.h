// The entries that a person added with `sandbox-allowlist add`. One file in the state directory, safe for many
// processes: readers see a whole file, writers take a lock and replace it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "policy/pattern.h"

namespace cordon::policy {

struct AllowlistEntry {
  std::string pattern;
  std::string reason;
  std::string added_by;
  Time added_at{};
  std::optional<Time> expires;
  bool auto_approve = true;  // false: listed and shown, still asks
};

/// The entries as they were when read, indexed by program: looking up costs the same with ten and with ten thousand.
class Allowlist {
 public:
  Allowlist() = default;
  explicit Allowlist(std::vector<AllowlistEntry> entries);

  const std::vector<AllowlistEntry>& entries() const { return entries_; }
  /// The first entry in force at `now` that covers the call.
  const AllowlistEntry* covering(const Invocation& call, Time now) const;

 private:
  std::vector<AllowlistEntry> entries_;
  std::vector<AllowPattern> patterns_;
  std::unordered_map<std::string, std::vector<std::uint32_t>> by_program_;
  std::vector<std::uint32_t> with_wildcard_;  // those whose first word holds `*`
};

/// The file. Every change is one locked read, change and atomic replacement.
class AllowlistStore {
 public:
  explicit AllowlistStore(std::string state_dir) : state_dir_(std::move(state_dir)) {}

  Result<Allowlist> read() const;
  Result<void> add(AllowlistEntry entry) const;
  Result<void> remove(std::string_view pattern) const;

  static std::string file_in(const std::string& state_dir) { return state_dir + "/allowlist.jsonl"; }

 private:
  Result<std::vector<AllowlistEntry>> read_entries() const;
  Result<void> replace(const std::vector<AllowlistEntry>& entries) const;
  std::string path() const { return file_in(state_dir_); }
  std::string state_dir_;
};

}  // namespace cordon::policy
