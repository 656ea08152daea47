// Sandboxes ahead of time: from a zygote, with network namespaces in stock, and slots that are isolated to the last
// step and wait for their orders.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "model/outcome.h"
#include "sandbox/native/slot.h"
#include "sandbox/native/zygote.h"

namespace cordon::sandbox::native {

/// Everything of a profile but the command: two profiles with the same key can use each other's slots.
/// Nothing for a profile whose slots must not wait: a pty, or placeholders in somebody's workspace.
std::optional<std::string> slot_key(const Profile& profile);

/// Keeps slots ready. Its own thread makes them and is their parent, so it lives as long as they do. A slot is used
/// once.
class WarmSlots {
 public:
  using Make = std::function<Result<Slot>(const Profile&)>;
  /// `restock` is called on the thread whenever something was taken.
  WarmSlots(Make make, std::function<void()> restock);
  ~WarmSlots();
  WarmSlots(const WarmSlots&) = delete;
  WarmSlots& operator=(const WarmSlots&) = delete;

  /// Keeps `count` slots for profiles like this one, and returns when they are ready.
  Result<void> keep(const Profile& profile, std::size_t count);
  /// From now on, taking a profile whose program waits for input makes it one that is kept.
  void keep_what_is_used(std::size_t count);
  std::optional<Slot> take(const Profile& profile);
  enum class Restock { soon, now };
  /// Something other than a slot was taken: restock. `soon` leaves the processors to who waits for an answer.
  void nudge(Restock when);
  /// Waits until everything is in stock again.
  void wait_until_full();

 private:
  struct Shelf {
    Profile profile;
    std::size_t wanted = 0;
    std::deque<Slot> slots;
    std::optional<Error> error;
    std::uint64_t last_use = 0;
    bool used = false;  // there because it was used; may go again
  };
  void work();
  Shelf* shelf_in_need();
  void learn(const std::string& key, const Profile& profile);

  Make make_;
  std::function<void()> restock_;
  std::mutex lock_;
  std::condition_variable wake_;
  std::condition_variable filled_;
  std::map<std::string, Shelf> shelves_;
  std::deque<Slot> discarded_;  // ended by the thread that is their parent
  std::size_t keep_used_ = 0;
  std::uint64_t uses_ = 0;
  bool nudged_ = false;
  bool hurry_ = false;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace cordon::sandbox::native
