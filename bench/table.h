// One row per measure, its reference from the same run beside it; the same as JSON in build/bench/NAME.json.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/json.h"

namespace cordon::bench {

/// Percentiles of a set of measurements.
class Samples {
 public:
  void add(double value) { values_.push_back(value); }
  double percentile(double share) {
    if (values_.empty()) return 0;
    std::sort(values_.begin(), values_.end());
    return values_[std::min(values_.size() - 1, static_cast<std::size_t>(share * static_cast<double>(values_.size())))];
  }
  std::size_t size() const { return values_.size(); }

 private:
  std::vector<double> values_;
};

struct Row {
  std::string what;
  double value = 0;
  std::string unit;
  std::string reference;       // what it is compared with, measured in the same run
  double reference_value = 0;  // 0: none
  std::string target;          // what was promised
};

class Table {
 public:
  explicit Table(std::string name) : name_(std::move(name)) {
    std::printf("%-48s %12s %-10s %-36s %10s %7s  %s\n", "measure", "value", "unit", "reference", "value", "ratio",
                "target");
  }
  void add(const Row& row) {
    rows_.push_back({{"measure", row.what},
                     {"value", row.value},
                     {"unit", row.unit},
                     {"reference", row.reference},
                     {"reference_value", row.reference_value},
                     {"target", row.target}});
    char ratio[32] = "";
    char reference[32] = "";
    if (row.reference_value > 0) {
      std::snprintf(ratio, sizeof ratio, "%.2f", row.value / row.reference_value);
      std::snprintf(reference, sizeof reference, "%.2f", row.reference_value);
    }
    std::printf("%-48s %12.2f %-10s %-36s %10s %7s  %s\n", row.what.c_str(), row.value, row.unit.c_str(),
                row.reference.c_str(), reference, ratio, row.target.c_str());
    std::fflush(stdout);
  }
  ~Table() {
    std::error_code ignored;
    std::filesystem::create_directories("build/bench", ignored);
    std::ofstream("build/bench/" + name_ + ".json") << rows_.dump(2) << '\n';
  }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

 private:
  std::string name_;
  Json rows_ = Json::array();
};

inline double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace cordon::bench
