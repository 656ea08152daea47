#include "serve/http/quota.h"

#include <algorithm>
#include <cmath>

namespace cordon::serve::http {

namespace {

constexpr double burst_seconds = 2;
constexpr std::size_t many_accounts = 4096;

}  // namespace

Quota::Account& Quota::account(const std::string& visitor, Moment now) {
  const double most = limits_.per_second * burst_seconds;
  const auto [found, is_new] = accounts_.try_emplace(visitor, Account{.left = most, .at = now});
  Account& one = found->second;
  const double passed = std::chrono::duration<double>(now - one.at).count();
  one.left = std::min(most, one.left + std::max(0.0, passed) * limits_.per_second);
  one.at = now;
  if (is_new && accounts_.size() > many_accounts) {
    // Who has asked for nothing lately is as one who never came.
    std::erase_if(accounts_, [&](const auto& entry) {
      const bool rested = std::chrono::duration<double>(now - entry.second.at).count() > burst_seconds;
      return rested && entry.second.calls == 0 && entry.first != visitor;
    });
  }
  return one;
}

std::optional<unsigned> Quota::ask(const std::string& visitor, Moment now) {
  const std::lock_guard lock(lock_);
  Account& one = account(visitor, now);
  if (one.left >= 1) {
    one.left -= 1;
    return std::nullopt;
  }
  return static_cast<unsigned>(std::max(1.0, std::ceil((1 - one.left) / limits_.per_second)));
}

std::shared_ptr<void> Quota::begin_call(const std::string& visitor) {
  const std::lock_guard lock(lock_);
  Account& one = account(visitor, std::chrono::steady_clock::now());
  if (one.calls >= limits_.calls_at_once) return nullptr;
  ++one.calls;
  ++calls_;
  return {this, [this, visitor](void*) {
            const std::lock_guard again(lock_);
            --calls_;
            --accounts_[visitor].calls;
          }};
}

std::size_t Quota::calls() const {
  const std::lock_guard lock(lock_);
  return calls_;
}

}  // namespace cordon::serve::http
