// Runs that outlive whoever asked for them: one directory each, with what is known and what it wrote.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "model/request.h"
#include "sandbox/sandbox.h"
#include "sys/fd.h"

namespace cordon::guard {

struct DetachedRun {
  std::string id;  // "run_…"
  std::string command;
  std::string workspace;
  std::string agent;
  std::string keeper;  // liveness mark of the process that holds it
  Time started{};
  std::optional<Time> ended;
  Json result;            // the exec object, without output
  std::string directory;  // holds stdout and stderr

  /// "running", what the result says, or "lost" when its keeper died without a word.
  std::string status() const;
  bool running() const;
};
Json to_json(const DetachedRun& run);

class DetachedRuns {
 public:
  explicit DetachedRuns(std::string state_dir) : root_(std::move(state_dir) + "/runs") {}

  /// Noted with this process as its keeper.
  Result<DetachedRun> begin(const Request& request, Time now) const;
  Result<void> end(DetachedRun run, Time now, Json result) const;
  /// Ids are matched whole.
  Result<DetachedRun> find(std::string_view id) const;
  /// The newest first.
  Result<std::vector<DetachedRun>> list() const;
  /// Asks its keeper to end it; the whole tree ends with it.
  Result<void> stop(const DetachedRun& run) const;
  /// Removes runs that ended before `before`.
  void forget(Time before) const;

 private:
  Result<void> write(const DetachedRun& run) const;
  std::string root_;
};

/// Keeps what a detached run writes in its two files.
class FileIo : public sandbox::Io {
 public:
  static Result<FileIo> create(const DetachedRun& run);
  void output(sandbox::Stream stream, std::string_view bytes) override;

 private:
  FileIo(sys::Fd out, sys::Fd err) : out_(std::move(out)), err_(std::move(err)) {}
  sys::Fd out_;
  sys::Fd err_;
};

}  // namespace cordon::guard
