// Which exact contents of workspace files a person has trusted. Kept in the state directory, where no sandbox reaches.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/digest.h"
#include "base/result.h"

namespace cordon::config {

struct Trusted {
  Digest digest;     // of the file's bytes
  std::string text;  // the bytes themselves, so that a later change can be shown as a difference
  Time when;
};

/// By the file's real path.
using TrustRecords = std::map<std::string, Trusted>;

/// Opened anew for each question: other processes change it too.
class TrustStore {
 public:
  explicit TrustStore(std::string state_dir) : state_dir_(std::move(state_dir)) {}

  /// A store that does not exist is empty; one that cannot be understood is an error, and nothing runs.
  Result<TrustRecords> load() const;
  Result<void> add(const std::string& real_path, std::string_view bytes, Time now) const;
  /// False when it was not there.
  Result<bool> remove(const std::string& real_path) const;

  static std::string file_in(const std::string& state_dir) { return state_dir + "/trust.json"; }

 private:
  std::string file() const { return file_in(state_dir_); }
  Result<void> save(const TrustRecords& records) const;

  std::string state_dir_;
};

}  // namespace cordon::config
