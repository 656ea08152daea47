// What is to be run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "code/language.h"

namespace cordon::code {

struct CodeRequest {
  std::string language;
  std::string code;
  std::uint64_t timeout_ms = 30'000;
  std::uint64_t max_output = 1ULL << 20;  // bytes kept of each stream
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> files;  // name relative to the working directory, content
  std::string input;                                       // what the code reads from stdin
  std::optional<int> input_descriptor;                     // instead, or after it
  std::uint64_t engine_memory = 128ULL << 20;              // JavaScript: of its values
  std::uint64_t max_artifacts = 16ULL << 20;               // bytes of files to take back; 0: none
};

constexpr std::uint64_t longest_timeout_ms = 24ULL * 60 * 60 * 1000;

/// The language's row, or the sentence that users and programs know.
Result<const Language*> check(const CodeRequest& request);

}  // namespace cordon::code
