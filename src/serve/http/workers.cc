#include "serve/http/workers.h"

namespace cordon::serve::http {

Workers::~Workers() {
  {
    const std::lock_guard lock(lock_);
    closing_ = true;
  }
  came_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool Workers::give(std::function<void()> work) {
  {
    const std::lock_guard lock(lock_);
    if (closing_ || (threads_.size() >= most_ && waiting_.size() >= most_)) return false;
    waiting_.push_back(std::move(work));
    if (waiting_.size() > idle_ && threads_.size() < most_) threads_.emplace_back([this] { run(); });
  }
  came_.notify_one();
  return true;
}

void Workers::run() {
  std::unique_lock lock(lock_);
  for (;;) {
    ++idle_;
    came_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
    --idle_;
    if (waiting_.empty()) return;
    std::function<void()> work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    work();
    work = nullptr;
    lock.lock();
  }
}

}  // namespace cordon::serve::http
