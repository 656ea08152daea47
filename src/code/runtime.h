// Runs code in a sandbox, by the runner that is started there. Who may run what, and the record of it, are the
// guard's: it takes the profile from here, lets the audit log make a Clearance of it, and hands that back.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.h"
#include "code/language.h"
#include "code/reply.h"
#include "code/request.h"
#include "code/result.h"
#include "model/clearance.h"
#include "sandbox/sandbox.h"

namespace cordon::code {

/// Told of output while the code runs, and of the value of the last expression after it. Not more than the request's
/// limit.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void output(sandbox::Stream stream, std::string_view bytes) = 0;
};

/// A JavaScript context between two calls: `before` is where it starts from (empty: anew), `after` where it got to.
struct EngineState {
  std::string before;
  std::string after;
};

struct RunContext {
  sandbox::Sandbox& sandbox;
  Sink* sink = nullptr;
  std::stop_token stop;
  EngineState* state = nullptr;
};

class Runtime {
 public:
  /// `runner` is the path of cordon-runner; empty: beside this program, in ../libexec/cordon.
  static Result<Runtime> open(std::string runner = {});

  /// What the code runs in: the caller's profile (limits, workspace, binds, network) with the runner as its program.
  /// The limit of time becomes the request's.
  Profile profile_for(const Language& language, const CodeRequest& request, Profile base) const;
  /// The same for a program that answers many requests.
  Profile profile_for_session(const Language& language, Profile base) const;

  /// Spends the clearance, whose profile must come from profile_for. Everything that goes wrong is in the result.
  CodeResult run(const Language& language, const CodeRequest& request, Clearance clearance, RunContext context) const;

 private:
  explicit Runtime(std::string runner) : runner_(std::move(runner)) {}
  Profile with_runner(Profile base, std::vector<std::string> words) const;
  std::string runner_;
};

/// What a runner reads; `token` separates the code's output from what the runner says.
std::string encode_request(const Language& language, const CodeRequest& request, const std::string& token,
                           const Profile& profile, const EngineState* state);
/// 32 hexadecimal digits.
Result<std::string> make_token();

/// Keeps the first bytes of a stream, cut between characters, and passes them on.
class KeptStream {
 public:
  KeptStream(std::uint64_t limit, sandbox::Stream stream, Sink* sink) : limit_(limit), stream_(stream), sink_(sink) {}
  void add(std::string_view bytes);
  bool cut() const { return cut_; }
  /// For who reads along only: the result's text has no newline at its end.
  void end_line();
  /// Without the newline at its end; with the mark if it was cut.
  std::string finish(std::string_view mark);

 private:
  std::uint64_t limit_;
  sandbox::Stream stream_;
  Sink* sink_;
  std::string text_;
  bool cut_ = false;
};

/// What the caller's result is made from.
struct RunParts {
  const Language& language;
  const CodeRequest& request;
  Reply& reply;
  KeptStream& output;
  KeptStream& errors;
  std::uint64_t memory_bytes = 0;  // the sandbox's limit
};
CodeResult conclude(RunParts parts, RunReport report);

}  // namespace cordon::code
