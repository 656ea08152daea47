// What every server of one state has in common: the log, the sandbox with what it keeps ready, the live sessions. A
// channel (socket, HTTP, MCP) brings a request with the principal that it knows, and gets the guard's answer.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "config/load.h"
#include "guard/guard.h"

namespace cordon::serve {

struct ServiceOptions {
  config::Sources sources;  // workspace and extra files are the request's
  std::function<guard::Alarm(const config::Sources&, std::vector<audit::KnownSecret>)> alarm;
  guard::PreviewMaker make_preview;
  std::chrono::milliseconds idle = std::chrono::minutes(10);  // then a live session is ended
  std::size_t most_sessions = 32;
};

class Service {
 public:
  /// `clock` must outlive it. `note` says what is not as fast as it could be; empty: all is well.
  static Result<std::unique_ptr<Service>> open(ServiceOptions options, const Clock& clock, std::string& note);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  const config::Sources& sources() const { return options_.sources; }
  const std::shared_ptr<guard::RuleBook>& rules() const { return kept_.rules; }

  /// The guard for this request: settings as they are now, everything else as it is kept here. May be called from many
  /// threads at once.
  Result<guard::Guard> guard_for(const Request& request);

  /// Ends idle sessions, signs the log. Called now and then.
  void keep_house();

 private:
  Service(ServiceOptions options, const Clock& clock) : options_(std::move(options)), clock_(&clock) {}
  Result<void> record(RecordKind kind);
  Result<std::shared_ptr<audit::Log>> log();

  ServiceOptions options_;
  const Clock* clock_;
  guard::Kept kept_;
  std::mutex lock_;
  std::shared_ptr<audit::Log> log_;
  std::atomic<bool> log_in_trouble_ = false;
};

}  // namespace cordon::serve
