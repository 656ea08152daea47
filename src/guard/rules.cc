#include "guard/rules.h"

#include <algorithm>

#include "config/describe.h"
#include "guard/refusal.h"

namespace cordon::guard {

namespace {

// Each is of one workspace and one --config; who has more of them in use reads some anew.
constexpr std::size_t most_pages = 64;

bool same(const config::Sources& one, const config::Sources& other) {
  return one.workspace == other.workspace && one.home == other.home && one.user_file == other.user_file &&
         one.extra_files == other.extra_files && one.state_dir == other.state_dir &&
         one.engine_sockets == other.engine_sockets;
}

/// Of every file that `read` reads; nothing when one of them could change unseen.
std::optional<std::vector<sys::FileMark>> marks_of(const config::Sources& sources, Time now) {
  std::vector<config::Consulted> files = config::consulted_by(sources);
  files.push_back({policy::AllowlistStore::file_in(sources.state_dir)});
  std::vector<sys::FileMark> marks;
  marks.reserve(files.size());
  for (const config::Consulted& file : files) {
    // A file of the workspace is trusted by its real path, which no link may change.
    const auto mark = sys::mark_of(file.path, file.of_workspace ? sys::Links::refuse : sys::Links::follow, now);
    if (!mark) return std::nullopt;
    marks.push_back(*mark);
  }
  return marks;
}

struct Reading {
  std::shared_ptr<const Rules> rules;
  std::vector<config::Seen> seen;
};

Result<Reading> read(const config::Sources& sources) {
  config::Loaded loaded = TRY(config::load(sources));
  auto allowlist = TRY(policy::AllowlistStore(sources.state_dir).read());
  return Reading{std::make_shared<const Rules>(std::move(loaded.settings), std::move(allowlist)),
                 std::move(loaded.seen)};
}

}  // namespace

Digest policy_digest(const Settings& settings) {
  Sha256 hash;
  for (const config::Described& row : config::describe(settings)) {
    hash.add_field(row.key).add_field(row.value.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  return hash.finish();
}

const Digest& Rules::policy() const {
  std::call_once(once_, [this] { policy_ = policy_digest(settings); });
  return policy_;
}

Result<std::shared_ptr<const Rules>> read_rules(const config::Sources& sources) { return TRY(read(sources)).rules; }

std::shared_ptr<const RuleBook::Page> RuleBook::find(const config::Sources& sources) const {
  const std::lock_guard lock(lock_);
  const auto found = std::ranges::find_if(pages_, [&](const auto& page) { return same(page->sources, sources); });
  return found == pages_.end() ? nullptr : *found;
}

Result<std::shared_ptr<const Rules>> RuleBook::read(const config::Sources& sources) {
  // Before reading: what changes in between is then another mark the next time.
  auto marks = marks_of(sources, clock_->now());
  const auto page = find(sources);
  if (page && marks && page->marks == *marks && config::still_so(page->seen, sources)) return page->rules;
  Reading reading = TRY(guard::read(sources));
  const std::lock_guard lock(lock_);
  std::erase_if(pages_, [&](const auto& one) { return same(one->sources, sources); });
  if (!marks) return reading.rules;
  if (pages_.size() >= most_pages) pages_.erase(pages_.begin());
  pages_.push_back(
      std::make_shared<const Page>(Page{sources, *std::move(marks), std::move(reading.seen), reading.rules}));
  return reading.rules;
}

}  // namespace cordon::guard
