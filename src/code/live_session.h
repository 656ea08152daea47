// An interpreter that lives on between calls, in a sandbox of its own.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "code/runtime.h"
#include "sys/fd.h"

namespace cordon::code {

class LiveSession {
 public:
  /// Starts the sandbox on a thread of its own. The clearance's profile comes from profile_for_session.
  static Result<std::unique_ptr<LiveSession>> start(const Language& language, Clearance clearance,
                                                    sandbox::Sandbox& sandbox);
  ~LiveSession();
  LiveSession(const LiveSession&) = delete;
  LiveSession& operator=(const LiveSession&) = delete;

  /// One call at a time. When the code is over its time it is interrupted, and lives on if it lets itself be; else,
  /// and when it ends the interpreter, the session is over.
  CodeResult call(const CodeRequest& request, Sink* sink, const std::stop_token& stop);
  bool over();
  std::chrono::steady_clock::time_point last_used();

 private:
  class Channel;
  struct Call;
  LiveSession(const Language& language, std::unique_ptr<Channel> channel, std::uint64_t memory_bytes);
  void live(Clearance clearance, sandbox::Sandbox& sandbox);

  const Language& language_;
  std::unique_ptr<Channel> channel_;
  std::uint64_t memory_bytes_;
  std::atomic<bool> lost_{false};  // known before the sandbox is gone
  std::mutex one_at_a_time_;
  std::stop_source stop_;
  std::thread thread_;
};

/// The live sessions of one daemon, by name; those that nobody used for a while are ended.
class LiveSessions {
 public:
  LiveSessions(std::size_t most, std::chrono::milliseconds idle) : most_(most), idle_(idle) {}

  std::shared_ptr<LiveSession> find(const std::string& name);
  /// Fails when there are too many: none is ended for another's sake.
  Result<std::shared_ptr<LiveSession>> add(const std::string& name, std::unique_ptr<LiveSession> session);
  void remove(const std::string& name);
  /// Ends what was idle too long; says how many.
  std::size_t expire(std::chrono::steady_clock::time_point now);
  std::size_t size();

 private:
  std::size_t most_;
  std::chrono::milliseconds idle_;
  std::mutex lock_;
  std::map<std::string, std::shared_ptr<LiveSession>> sessions_;
};

}  // namespace cordon::code
