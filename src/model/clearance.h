// The right to run once.
#pragma once

#include <cstdint>
#include <utility>

#include "model/profile.h"

namespace cordon {

namespace audit {
class Log;
}
namespace testing {
struct UnrecordedClearance;  // defined only in tests/support, for tests and benchmarks
}

/// Only the audit log makes one, after the record of what will run is durable. It is moved, never copied, and running
/// spends it: a run without a record, or two runs from one approval, do not compile.
class Clearance {
 public:
  Clearance(Clearance&&) noexcept = default;
  Clearance& operator=(Clearance&&) noexcept = default;
  Clearance(const Clearance&) = delete;
  Clearance& operator=(const Clearance&) = delete;

  /// What was recorded, and so what runs.
  const Profile& profile() const { return profile_; }
  /// The sequence number of the record, or `no_record`.
  std::uint64_t record() const { return record_; }
  /// Only with `on_audit_failure: "continue"`.
  static constexpr std::uint64_t no_record = ~std::uint64_t{0};

 private:
  friend class audit::Log;
  friend struct testing::UnrecordedClearance;
  Clearance(Profile profile, std::uint64_t record) : profile_(std::move(profile)), record_(record) {}

  Profile profile_;
  std::uint64_t record_;
};

}  // namespace cordon
