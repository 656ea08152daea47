// Which runs have begun and not ended, one small file per process, locked while the process lives. A file that can be
// locked belongs to a process that died: what it had begun may have run.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "sys/directory.h"

namespace cordon::audit {

class Running {
 public:
  explicit Running(const sys::Directory& directory) : directory_(&directory) {}
  /// Called before the intent is written; `seq` is a number that the intent's will not be below.
  Result<void> begin(const std::string& request, std::uint64_t seq);
  void end(const std::string& request);
  /// Forgets the file when nothing is open.
  void close();

 private:
  Result<void> create();
  const sys::Directory* directory_;
  std::mutex mutex_;
  std::optional<sys::Fd> file_;
  std::string name_;
  std::multiset<std::string> open_;
};

struct OpenRuns {
  std::uint64_t from = 0;  // the intents' numbers are not below
  std::set<std::string> requests;
  std::string name;
  std::optional<sys::Fd> held;  // locked: nobody else looks after it
};

struct RunningFiles {
  std::vector<OpenRuns> abandoned;
  std::set<std::string> alive;  // requests of processes that still run
};
Result<RunningFiles> look_for_abandoned(const sys::Directory& directory);

}  // namespace cordon::audit
