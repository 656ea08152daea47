// The owner of one file descriptor.
#pragma once

#include <utility>

namespace cordon::sys {

/// Closes itself; moves, never copies. There is no "maybe empty" Fd to test: one that was moved from must not be used.
class Fd {
 public:
  explicit Fd(int number) : number_(number) {}
  Fd(Fd&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      close();
      number_ = std::exchange(other.number_, -1);
    }
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { close(); }

  int get() const { return number_; }
  /// Gives up ownership.
  int release() { return std::exchange(number_, -1); }

 private:
  void close();
  int number_;
};

}  // namespace cordon::sys
