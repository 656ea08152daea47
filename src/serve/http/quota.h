// How much each visitor may ask for: so many requests a second, so many calls at once.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace cordon::serve::http {

struct QuotaLimits {
  double per_second = 500;  // twice as many in one go
  std::size_t calls_at_once = 64;
};

class Quota {
 public:
  using Moment = std::chrono::steady_clock::time_point;
  explicit Quota(const QuotaLimits& limits) : limits_(limits) {}

  /// One more request. Nothing: it may; else after how many seconds to come back.
  std::optional<unsigned> ask(const std::string& visitor, Moment now);
  /// One more call; null when too many are under way. It is over when the last copy goes.
  std::shared_ptr<void> begin_call(const std::string& visitor);
  std::size_t calls() const;

 private:
  struct Account {
    double left = 0;
    Moment at{};
    std::size_t calls = 0;
  };
  Account& account(const std::string& visitor, Moment now);

  QuotaLimits limits_;
  mutable std::mutex lock_;
  std::map<std::string, Account> accounts_;
  std::size_t calls_ = 0;
};

}  // namespace cordon::serve::http
