// Other processes, each with a hard end.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace cordon::notify {

/// Runs `work` in a process of its own that nobody waits for: no descriptors, no terminal, default signals, and dead
/// after `limit` at the latest. Returns at once; what cannot even be started is lost.
void detach(const std::function<void()>& work, std::chrono::seconds limit);

/// Runs `work` in a child and waits for what it says; one that takes longer is killed.
Result<void> within(std::chrono::milliseconds limit, const std::function<Result<void>()>& work);

struct Hook {
  std::vector<std::string> argv;         // argv[0] absolute; no shell
  std::vector<std::string> environment;  // "NAME=value", all of it
  std::string input;
};
/// Its output goes nowhere. Anything but exit code 0 is a failure. To be called in `within`.
Result<void> run_hook(const Hook& hook);
/// The same, and what it said on its standard output, up to `most` bytes.
Result<std::string> ask_hook(const Hook& hook, std::size_t most);

}  // namespace cordon::notify
