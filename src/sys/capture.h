// Asks another program a question and takes its answer.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"

namespace cordon::sys {

struct Question {
  std::vector<std::string> argv;         // argv[0] absolute
  std::vector<std::string> environment;  // "NAME=value", all of it
  std::string directory = "/";
  std::chrono::milliseconds patience{5000};
  std::size_t limit = 1 << 20;  // bytes of the answer
};

/// What it wrote to stdout when it exited with 0. Its stdin is empty and its stderr goes nowhere; when patience ends it
/// is killed.
Result<std::string> capture(const Question& question);

}  // namespace cordon::sys
