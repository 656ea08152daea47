// Checks a log from its files and a public key alone (docs/audit-format.md). This folder uses base/ and nothing else,
// and no writer uses it: cordon-verify is these files and a main.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/result.h"

namespace cordon::audit {

struct VerifyRequest {
  std::string directory;
  std::optional<std::string> key;    // name+id+base64; without one the log's own key.pub is believed
  std::vector<std::string> against;  // checkpoints that were kept elsewhere: the log must still hold what they say
  std::string from;                  // days, both included; empty: no bound
  std::string to;
};

/// The numbers are exit codes.
enum class Soundness { good = 0, damaged = 2, unsigned_tail = 3 };

struct Damage {
  std::string file;
  std::uint64_t line = 0;  // counted from 1; 0: the file as a whole
  std::uint64_t byte = 0;  // where that line begins
  std::string what;

  std::string text() const;
};

struct VerifyReport {
  std::vector<Damage> damage;
  std::vector<std::string> remarks;  // what is not damage and should be known
  std::uint64_t days = 0;
  std::uint64_t sealed_days = 0;
  std::uint64_t deleted_days = 0;  // whose contents were deleted and whose seals remain
  std::uint64_t records = 0;       // read and checked
  std::uint64_t notices = 0;       // of deleted days
  std::uint64_t blobs = 0;
  std::uint64_t size = 0;           // of the whole log
  std::uint64_t signed_size = 0;    // how much of it is signed
  std::uint64_t unsigned_tail = 0;  // records
  bool open_end = false;            // something at the end is unfinished: a torn line, a day without its seal

  Soundness soundness() const;
  /// One line: "30/30 days sealed · 312204 records · …".
  std::string summary() const;
};

VerifyReport verify_log(const VerifyRequest& request);

/// What a proof (see proof.h) shows: that this line is record `index` of the log.
struct ProvenLine {
  std::uint64_t index = 0;
  std::uint64_t size = 0;
  std::string line;
};
Result<ProvenLine> check_proof(std::string_view proof, std::string_view key);

}  // namespace cordon::audit
