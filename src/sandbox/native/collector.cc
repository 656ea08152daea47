#include "sandbox/native/collector.h"

#include <signal.h>

namespace cordon::sandbox::native {

namespace {

// Enough to record how a run ended and to say so.
constexpr auto answer_time = std::chrono::milliseconds(3);

void collect(Slot remains) {
  // One that hangs in the kernel must not hold up the others for ever.
  if (remains.launched) remains.launched->reap(std::chrono::seconds(5));
  // The kernel may take a moment to let the last ones out of their group.
  for (int round = 0; remains.cgroup && !remains.cgroup->remove() && round < 100; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace

Collector::Collector() {
  // A caller's signal handlers are not to run here.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { work(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Collector::~Collector() {
  {
    std::lock_guard guard(lock_);
    closing_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Collector::take(Slot slot, When when) {
  {
    std::lock_guard guard(lock_);
    queue_.push_back(std::move(slot));
    if (when == When::now) hurry_ = true;
  }
  wake_.notify_one();
}

void Collector::Errand::finish() { std::call_once(once_, work_); }

std::shared_ptr<Collector::Errand> Collector::send(std::function<void()> work) {
  auto errand = std::make_shared<Errand>(std::move(work));
  {
    std::lock_guard guard(lock_);
    errands_.push_back(errand);
  }
  wake_.notify_one();
  return errand;
}

void Collector::work() {
  std::unique_lock guard(lock_);
  for (;;) {
    wake_.wait(guard, [this] { return closing_ || !queue_.empty() || !errands_.empty(); });
    if (!errands_.empty()) {
      const std::shared_ptr<Errand> errand = std::move(errands_.front());
      errands_.pop_front();
      guard.unlock();
      errand->finish();
      guard.lock();
      continue;
    }
    if (queue_.empty()) return;
    wake_.wait_for(guard, answer_time, [this] { return closing_ || hurry_ || !errands_.empty(); });
    if (!errands_.empty()) continue;
    hurry_ = false;
    while (!queue_.empty()) {
      Slot remains = std::move(queue_.front());
      queue_.pop_front();
      guard.unlock();
      collect(std::move(remains));
      guard.lock();
    }
  }
}

}  // namespace cordon::sandbox::native
