#include "sandbox/native/warm.h"

#include <signal.h>

#include "base/json.h"

namespace cordon::sandbox::native {

std::optional<std::string> slot_key(const Profile& profile) {
  if (profile.tty || profile.workspace.access == WorkspaceAccess::overlay) return std::nullopt;
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
    for (Slot& slot : shelf.slots) {
      slot.launched->control.reset();  // no orders will come: it ends by itself
      slot.launched->reap(std::chrono::seconds(5));
    }
  }
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
  wake_.notify_one();
  filled_.wait(guard, [&] { return shelf.error || shelf.slots.size() >= shelf.wanted; });
  if (shelf.error) return tl::make_unexpected(*shelf.error);
  return {};
}

std::optional<Slot> WarmSlots::take(const Profile& profile) {
  auto key = slot_key(profile);
  if (!key) return std::nullopt;
  std::lock_guard guard(lock_);
  auto found = shelves_.find(*key);
  if (found == shelves_.end() || found->second.slots.empty()) return std::nullopt;
  Slot slot = std::move(found->second.slots.front());
  found->second.slots.pop_front();
  wake_.notify_one();
  return slot;
}

void WarmSlots::nudge() {
  {
    std::lock_guard guard(lock_);
    nudged_ = true;
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
    wake_.wait(guard, [this] { return closing_ || nudged_ || shelf_in_need(); });
    if (closing_) return;
    nudged_ = false;
    Shelf* shelf = shelf_in_need();
    const Profile profile = shelf ? shelf->profile : Profile{};
    guard.unlock();
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
