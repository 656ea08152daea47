// Threads that do what takes long, so that the loop never does.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace cordon::serve::http {

class Workers {
 public:
  explicit Workers(std::size_t most) : most_(most) {}
  /// Waits for what was given.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// False: all are at work, and enough waits for them already.
  bool give(std::function<void()> work);

 private:
  void run();

  std::size_t most_;
  std::mutex lock_;
  std::condition_variable came_;
  std::deque<std::function<void()>> waiting_;
  std::size_t idle_ = 0;
  bool closing_ = false;
  // A sandbox ends with the thread that started it, so that they stay.
  std::vector<std::thread> threads_;
};

}  // namespace cordon::serve::http
