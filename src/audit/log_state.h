// What a Log is made of; for the files that implement it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "audit/log.h"
#include "audit/running.h"
#include "audit/summary.h"

namespace cordon::audit {

struct Waiter {
  PendingLine line;
  bool done = false;
};

/// Threads that wait at the same time share one write and one sync: the first of them does it for all.
struct Log::State {
  State(Store opened, Redactor made, const Clock& given)
      : store(std::move(opened)), redactor(std::move(made)), clock(given), running(store.directory()) {
    seen = store.tail().tree.size();
  }

  void commit(Waiter& waiter) {
    std::unique_lock lock(mutex);
    queue.push_back(&waiter);
    while (!waiter.done) {
      if (leading) {
        changed.wait(lock);
        continue;
      }
      leading = true;
      std::vector<Waiter*> batch;
      batch.swap(queue);
      lock.unlock();
      std::vector<PendingLine*> lines;
      lines.reserve(batch.size());
      for (Waiter* member : batch) lines.push_back(&member->line);
      const Grown before = grown();
      store.append(lines);
      seen = store.tail().tree.size();
      if (store.poison()) broken = true;
      const Grown after = grown();
      lock.lock();
      for (Waiter* member : batch) member->done = true;
      leading = false;
      changed.notify_all();
      if (before == after) continue;
      lock.unlock();
      count_day(before.day);
      lock.lock();
    }
  }

  /// Changes when a day has grown enough for its summary to be brought up to date.
  struct Grown {
    std::string day;
    std::uint64_t steps = 0;
    bool operator==(const Grown&) const = default;
  };
  Grown grown() const { return {store.tail().day, store.tail().bytes / summary_step}; }
  /// Readers would do it otherwise; a summary that fails is theirs to make.
  void count_day(const std::string& day) const {
    if (day.empty()) return;
    const auto reader = DayReader::open(store.directory(), day);
    if (reader && *reader && (*reader)->size() >= summary_step) (void)summary_of(store.directory(), **reader);
  }

  /// Runs `action` while no other thread uses the store.
  template <class Action>
  auto alone(Action action) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return !leading; });
    leading = true;
    lock.unlock();
    auto result = action();
    lock.lock();
    leading = false;
    changed.notify_all();
    return result;
  }

  Result<void> keep_blobs(const std::vector<Blob>& blobs) {
    if (blobs.empty()) return {};
    const sys::Directory& directory = store.directory();
    const std::string folder = "output/" + day_of(clock.now());
    CHECK_OK(directory.make_directory("output"));
    CHECK_OK(directory.make_directory(folder));
    for (const Blob& blob : blobs) {
      const std::string name = fmt::format("{}/{}", folder, blob.commit.hex());
      CHECK_OK(directory.replace(name, blob.content, 0600));
    }
    return {};
  }

  Store store;
  Redactor redactor;
  const Clock& clock;
  Running running;
  std::atomic<std::uint64_t> seen{0};  // how many records there were when we last looked
  std::atomic<bool> broken{false};     // the store has failed for good
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Waiter*> queue;
  bool leading = false;
};

}  // namespace cordon::audit
