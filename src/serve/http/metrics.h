// What a monitor reads at /metrics: Prometheus text.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace cordon::serve::http {

class Metrics {
 public:
  void answered(std::string_view route, unsigned status, std::chrono::nanoseconds took);
  void called(std::string_view tool);
  void refused(std::string_view why);

  /// What only the moment of asking knows.
  struct Now {
    std::string version;
    std::size_t connections = 0;
    std::size_t calls = 0;
    std::size_t listeners = 0;
    std::size_t pending = 0;  // requests that wait for a person
  };
  std::string text(const Now& now) const;

 private:
  static constexpr std::array<double, 10> edges = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1, 10, 60};
  struct Times {
    std::array<std::uint64_t, edges.size()> under{};
    std::uint64_t count = 0;
    double seconds = 0;
  };
  mutable std::mutex lock_;
  std::map<std::pair<std::string, unsigned>, std::uint64_t> answers_;
  std::map<std::string, Times> times_;
  std::map<std::string, std::uint64_t> calls_;
  std::map<std::string, std::uint64_t> refusals_;
};

}  // namespace cordon::serve::http
