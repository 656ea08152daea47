// What a Log is made of; for the files that implement it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "audit/log.h"
#include "audit/running.h"
#include "audit/summary.h"

namespace cordon::audit {

/// Records of threads that wait together: one write and one sync for all of them. Shared, so that who is woken may be
/// gone before who wakes has returned from waking.
struct Batch {
  enum State : std::uint32_t {
    open,    // others may still join
    vacant,  // the one before is done: whoever is awake first writes this one
    taken,
    done,
  };
  std::vector<PendingLine*> lines;
  std::atomic<std::uint32_t> state{open};
};

struct Log::State {
  State(Store opened, Redactor made, const Clock& given)
      : store(std::move(opened)), redactor(std::move(made)), clock(given), running(store.directory()) {
    seen = store.tail().tree.size();
  }

  /// Returns when `line` is durable, or will never be.
  void commit(PendingLine& line) {
    std::unique_lock lock(mutex);
    if (!joining) joining = std::make_shared<Batch>();
    const std::shared_ptr<Batch> batch = joining;
    batch->lines.push_back(&line);
    const bool first = !leading;
    leading = true;
    lock.unlock();
    if (!first && !take_or_await(*batch)) return;
    lead(*batch);
  }

  /// True: this thread must write the batch. False: it is written.
  static bool take_or_await(Batch& batch) {
    for (;;) {
      std::uint32_t state = batch.state.load();
      if (state == Batch::done) return false;
      if (state == Batch::vacant && batch.state.compare_exchange_strong(state, Batch::taken)) return true;
      batch.state.wait(state);
    }
  }

  void lead(Batch& batch) {
    batch.state = Batch::taken;
    {
      const std::scoped_lock lock(mutex);
      joining.reset();
    }
    const Grown before = grown();
    store.append(batch.lines);
    seen = store.tail().tree.size();
    if (store.poison()) broken = true;
    const Grown after = grown();
    // Before the next begins: who is woken now may still join it.
    batch.state = Batch::done;
    batch.state.notify_all();
    resign();
    if (before != after) count_day(before.day);
  }

  /// Leaves the store to who waits for it.
  void resign() {
    std::unique_lock lock(mutex);
    const std::shared_ptr<Batch> next = joining;
    leading = next != nullptr && waiting_alone == 0;
    if (!leading) {
      lock.unlock();
      resigned.notify_one();
      return;
    }
    lock.unlock();
    next->state = Batch::vacant;
    next->state.notify_one();
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
    {
      std::unique_lock lock(mutex);
      ++waiting_alone;
      resigned.wait(lock, [&] { return !leading; });
      --waiting_alone;
      leading = true;
    }
    auto result = action();
    resign();
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
  std::condition_variable resigned;
  std::shared_ptr<Batch> joining;  // what a thread that comes now is written with
  int waiting_alone = 0;
  bool leading = false;  // some thread uses the store
};

}  // namespace cordon::audit
