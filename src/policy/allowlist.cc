#include "policy/allowlist.h"

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "sys/file.h"

namespace cordon::policy {

namespace {

constexpr std::size_t largest_file = 16U << 20;
constexpr std::size_t longest_pattern = 4096;

Json to_json(const AllowlistEntry& entry) {
  Json line = {{"pattern", entry.pattern},
               {"reason", entry.reason},
               {"added_by", entry.added_by},
               {"added_at", to_rfc3339(entry.added_at)}};
  if (entry.expires) line["expires"] = to_rfc3339(*entry.expires);
  line["auto_approve"] = entry.auto_approve;
  return line;
}

std::optional<AllowlistEntry> from_json(std::string_view line) {
  const Json json = parse_json(line);
  if (!json.is_object() || !json.contains("pattern") || !json["pattern"].is_string()) return std::nullopt;
  const auto text = [&](const char* key) {
    return json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : std::string();
  };
  AllowlistEntry entry{.pattern = text("pattern"), .reason = text("reason"), .added_by = text("added_by")};
  const auto added_at = from_rfc3339(text("added_at"));
  if (!added_at) return std::nullopt;
  entry.added_at = *added_at;
  if (json.contains("expires")) {
    entry.expires = from_rfc3339(text("expires"));
    // An expiry that cannot be read must not become "never".
    if (!entry.expires) return std::nullopt;
  }
  entry.auto_approve = !json.contains("auto_approve") || json["auto_approve"] == Json(true);
  return entry;
}

Result<void> check_pattern(const std::string& pattern) {
  if (pattern.size() > longest_pattern)
    return fail(Fault::invalid_input, "a pattern is at most {} bytes", longest_pattern);
  if (!hidden_characters(pattern).empty() || pattern.find_first_of("\n\t") != std::string::npos) {
    return fail(Fault::invalid_input, "the pattern holds characters that cannot be seen: {}",
                visible(pattern, Lines::escape));
  }
  if (!AllowPattern(pattern).usable()) {
    return fail(Fault::invalid_input,
                "the pattern '{}' would cover everything; begin it with the name of a program, e.g. 'npm run *'",
                pattern);
  }
  return {};
}

}  // namespace

Allowlist::Allowlist(std::vector<AllowlistEntry> entries) : entries_(std::move(entries)) {
  patterns_.reserve(entries_.size());
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    const AllowPattern& pattern = patterns_.emplace_back(entries_[i].pattern);
    const std::string& program = pattern.program();
    if (program.find('*') != std::string::npos)
      with_wildcard_.push_back(i);
    else
      by_program_[program.substr(program.rfind('/') + 1)].push_back(i);
  }
}

const AllowlistEntry* Allowlist::covering(const Invocation& call, Time now) const {
  const auto first_of = [&](const std::vector<std::uint32_t>& indices) -> const AllowlistEntry* {
    for (const std::uint32_t i : indices) {
      if (entries_[i].expires && *entries_[i].expires <= now) continue;
      if (patterns_[i].covers(call)) return &entries_[i];
    }
    return nullptr;
  };
  const auto found = by_program_.find(call.program);
  if (found != by_program_.end()) {
    if (const AllowlistEntry* entry = first_of(found->second)) return entry;
  }
  return first_of(with_wildcard_);
}

Result<std::vector<AllowlistEntry>> AllowlistStore::read_entries() const {
  const auto text = TRY(sys::read_file_if_exists(path(), largest_file));
  std::vector<AllowlistEntry> entries;
  if (!text) return entries;
  int number = 0;
  for (std::string_view rest = *text; !rest.empty();) {
    const auto end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    ++number;
    if (trim(line).empty()) continue;
    auto entry = from_json(line);
    if (!entry)
      return fail(Fault::corrupt, "{}:{}: not an allowlist entry; correct or remove that line", path(), number);
    entries.push_back(*std::move(entry));
  }
  return entries;
}

Result<Allowlist> AllowlistStore::read() const { return Allowlist(TRY(read_entries())); }

Result<void> AllowlistStore::replace(const std::vector<AllowlistEntry>& entries) const {
  std::string text;
  for (const AllowlistEntry& entry : entries) text += to_json(entry).dump() + "\n";
  if (text.size() > largest_file) return fail(Fault::conflict, "the allowlist is full; remove entries first");
  return sys::replace_file(path(), text, 0600);
}

Result<void> AllowlistStore::add(AllowlistEntry entry) const {
  CHECK_OK(check_pattern(entry.pattern));
  CHECK_OK(sys::ensure_private_directory(state_dir_));
  const auto lock = TRY(sys::FileLock::take(path() + ".lock"));
  auto entries = TRY(read_entries());
  const auto same =
      std::find_if(entries.begin(), entries.end(), [&](const AllowlistEntry& e) { return e.pattern == entry.pattern; });
  if (same != entries.end()) return fail(Fault::conflict, "Pattern already exists in allowlist: {}", entry.pattern);
  entries.push_back(std::move(entry));
  return replace(entries);
}

Result<void> AllowlistStore::remove(std::string_view pattern) const {
  CHECK_OK(sys::ensure_private_directory(state_dir_));
  const auto lock = TRY(sys::FileLock::take(path() + ".lock"));
  auto entries = TRY(read_entries());
  if (std::erase_if(entries, [&](const AllowlistEntry& e) { return e.pattern == pattern; }) == 0) {
    return fail(Fault::invalid_input, "Pattern not found in allowlist: {}", pattern);
  }
  return replace(entries);
}

}  // namespace cordon::policy
