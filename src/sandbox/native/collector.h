// What is left of a sandbox after its last process: pid 1 on its way out, its namespaces, its control groups. None of
// it can run anything; waiting for it would only make the caller wait.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "sandbox/native/slot.h"

namespace cordon::sandbox::native {

class Collector {
 public:
  Collector();
  /// Waits until everything handed over is gone.
  ~Collector();
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  /// Soon: somebody waits for an answer, which comes first.
  enum class When { now, soon };
  void take(Slot slot, When when);

  /// Something that somebody will wait for, done beside what they do until then.
  class Errand {
   public:
    explicit Errand(std::function<void()> work) : work_(std::move(work)) {}
    /// Returns when it is done, by whoever began first.
    void finish();

   private:
    std::function<void()> work_;
    std::once_flag once_;
  };
  std::shared_ptr<Errand> send(std::function<void()> work);

 private:
  void work();

  std::mutex lock_;
  std::condition_variable wake_;
  std::deque<Slot> queue_;
  std::deque<std::shared_ptr<Errand>> errands_;
  bool hurry_ = false;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace cordon::sandbox::native
