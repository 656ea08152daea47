// What is left of a sandbox after its last process: pid 1 on its way out, its namespaces, its control groups. None of
// it can run anything; waiting for it would only make the caller wait.
#pragma once

#include <condition_variable>
#include <deque>
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

 private:
  void work();

  std::mutex lock_;
  std::condition_variable wake_;
  std::deque<Slot> queue_;
  bool hurry_ = false;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace cordon::sandbox::native
