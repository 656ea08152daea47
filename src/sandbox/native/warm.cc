#include "sandbox/native/warm.h"

#include <signal.h>

#include "base/json.h"

namespace cordon::sandbox::native {

std::optional<std::string> slot_key(const Profile& profile) {
  if (profile.tty || profile.session.throwaway || profile.workspace.access == WorkspaceAccess::overlay)
    return std::nullopt;
  if (!profile.workspace.protected_paths.empty() || !profile.workspace.hidden_paths.empty()) return std::nullopt;
  const Limits& limits = profile.limits;
  Json key = {profile.workspace.path,
              static_cast<int>(profile.workspace.access),
              profile.session.path,
              profile.session.git_name,
              profile.session.git_email,
              static_cast<int>(profile.network),
              profile.published,
              static_cast<int>(profile.input),
              profile.report_violations,
              limits.memory_bytes,
              limits.pids,
              limits.file_bytes,
              limits.disk_bytes,
              limits.inodes,
              limits.open_files,
              limits.cpu_ms,
              limits.cpus};
  for (const Bind& bind : profile.binds) {
    key.push_back(bind.source);
    key.push_back(bind.target);
    key.push_back(static_cast<int>(bind.access));
  }
  if (profile.program.waits_for_input) {
    // Started ahead, so the command is part of what must be the same.
    key.push_back(profile.program.argv);
    key.push_back(profile.program.shell_text.value_or(""));
    key.push_back(profile.cwd);
    for (const auto& [name, value] : profile.environment) key.push_back(name + "=" + value);
  }
  return key.dump(-1, ' ', false, Json::error_handler_t::replace);
}

namespace {

/// One whose program was started ahead is asked to end; the other waits for orders that will not come.
void discard(Slot& slot) {
  slot.launched->ask_to_end();
  slot.launched->control.reset();
  slot.launched->reap(std::chrono::seconds(5));
}

}  // namespace

WarmSlots::WarmSlots(Make make, std::function<void()> restock) : make_(std::move(make)), restock_(std::move(restock)) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { work(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

WarmSlots::~WarmSlots() {
  {
    std::lock_guard guard(lock_);
    closing_ = true;
  }
  wake_.notify_one();
  thread_.join();
  for (auto& [key, shelf] : shelves_) {
    for (Slot& slot : shelf.slots) discard(slot);
  }
  for (Slot& slot : discarded_) discard(slot);
}

Result<void> WarmSlots::keep(const Profile& profile, std::size_t count) {
  auto key = slot_key(profile);
  if (!key)
    return fail(Fault::invalid_input, "a profile with a terminal, an overlay or protected paths cannot be kept warm");
  std::unique_lock guard(lock_);
  Shelf& shelf = shelves_[*key];
  shelf.profile = profile;
  shelf.wanted = count;
  shelf.error.reset();
  hurry_ = true;
  wake_.notify_one();
  filled_.wait(guard, [&] { return shelf.error || shelf.slots.size() >= shelf.wanted; });
  if (shelf.error) return tl::make_unexpected(*shelf.error);
  return {};
}

void WarmSlots::keep_what_is_used(std::size_t count) {
  std::lock_guard guard(lock_);
  keep_used_ = count;
}

void WarmSlots::learn(const std::string& key, const Profile& profile) {
  constexpr std::size_t most_kinds = 8;
  std::size_t kinds = 0;
  auto oldest = shelves_.end();
  for (auto shelf = shelves_.begin(); shelf != shelves_.end(); ++shelf) {
    if (!shelf->second.used || shelf->second.wanted == 0) continue;
    ++kinds;
    if (oldest == shelves_.end() || shelf->second.last_use < oldest->second.last_use) oldest = shelf;
  }
  if (kinds >= most_kinds) {
    // The shelf stays, empty: the thread may be filling it.
    oldest->second.wanted = 0;
    for (Slot& slot : oldest->second.slots) discarded_.push_back(std::move(slot));
    oldest->second.slots.clear();
  }
  Shelf& shelf = shelves_[key];
  shelf.profile = profile;
  shelf.wanted = keep_used_;
  shelf.error.reset();
  shelf.used = true;
  shelf.last_use = ++uses_;
  wake_.notify_one();
}

std::optional<Slot> WarmSlots::take(const Profile& profile) {
  auto key = slot_key(profile);
  if (!key) return std::nullopt;
  std::lock_guard guard(lock_);
  auto found = shelves_.find(*key);
  if (found != shelves_.end()) found->second.last_use = ++uses_;
  if (found == shelves_.end() || found->second.wanted == 0) {
    if (keep_used_ > 0 && profile.program.waits_for_input) learn(*key, profile);
    return std::nullopt;
  }
  if (found->second.slots.empty()) return std::nullopt;
  Slot slot = std::move(found->second.slots.front());
  found->second.slots.pop_front();
  // Replaced when the run is over, so as not to take the processor from it; before that only when stock runs low.
  if (found->second.slots.size() * 2 < found->second.wanted) {
    hurry_ = true;
    wake_.notify_one();
  }
  return slot;
}

void WarmSlots::nudge(Restock when) {
  {
    std::lock_guard guard(lock_);
    nudged_ = true;
    if (when == Restock::now) hurry_ = true;
  }
  wake_.notify_one();
}

void WarmSlots::wait_until_full() {
  std::unique_lock guard(lock_);
  filled_.wait(guard, [this] { return closing_ || (!nudged_ && !shelf_in_need()); });
}

WarmSlots::Shelf* WarmSlots::shelf_in_need() {
  for (auto& [key, shelf] : shelves_) {
    if (!shelf.error && shelf.slots.size() < shelf.wanted) return &shelf;
  }
  return nullptr;
}

void WarmSlots::work() {
  std::unique_lock guard(lock_);
  for (;;) {
    wake_.wait(guard, [this] { return closing_ || nudged_ || !discarded_.empty() || shelf_in_need(); });
    // Whoever waits for an answer gets it first.
    wake_.wait_for(guard, std::chrono::milliseconds(4), [this] { return closing_ || hurry_; });
    if (closing_) return;
    nudged_ = false;
    Shelf* shelf = shelf_in_need();
    if (shelf == nullptr) hurry_ = false;
    std::deque<Slot> discarded = std::move(discarded_);
    discarded_.clear();
    const Profile profile = shelf ? shelf->profile : Profile{};
    guard.unlock();
    for (Slot& slot : discarded) discard(slot);
    restock_();
    std::optional<Result<Slot>> made;
    if (shelf) made = make_(profile);
    guard.lock();
    // Shelves are never removed, so the pointer holds.
    if (made && *made)
      shelf->slots.push_back(std::move(**made));
    else if (made)
      shelf->error = made->error();
    filled_.notify_all();
  }
}

}  // namespace cordon::sandbox::native
