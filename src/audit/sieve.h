// A filter made ready for many lines; what every question to the log begins with.
#pragma once

#include "audit/query.h"
#include "audit/verify/line_view.h"
#include "sys/directory.h"

namespace cordon::audit {

/// Fails when there is no log yet.
Result<sys::Directory> open_directory(const std::string& path);

class Sieve {
 public:
  /// `filter` must outlive it.
  explicit Sieve(const Filter& filter);

  bool lets_through(std::string_view line);
  /// Of the line that was let through last, as written.
  std::string_view kind() const { return value_of(members_, "kind"); }
  bool approved() const { return !value_of(members_, "approval").empty(); }
  /// All further lines backwards are before what is asked for.
  bool is_before(std::string_view line) const;
  bool wants_day(const std::string& day) const;
  /// A kept summary may say that a day holds nothing that is asked for.
  Result<bool> may_hold(const sys::Directory& directory, const DayReader& day) const;

 private:
  const Filter& filter_;
  std::string command_;
  std::string since_;
  std::string until_;
  std::string risk_;
  std::vector<Member> members_;
};

}  // namespace cordon::audit
