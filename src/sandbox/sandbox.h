// The interface of every backend: native, docker, oci, host.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "model/clearance.h"
#include "model/outcome.h"
#include "sys/fd.h"

namespace cordon::sandbox {

enum class Stream { out, err };

/// The caller's side of stdin, stdout and stderr. Called from the thread that runs the sandbox, and never with more
/// than the profile's output limit allows; a slow reader slows nothing but the caller.
class Io {
 public:
  virtual ~Io() = default;
  virtual void output(Stream stream, std::string_view bytes) = 0;

  /// It is recorded and about to run.
  virtual void started() {}

  /// Where stdin is read from when the profile says `given`: first the text of `input_text`, then a descriptor of the
  /// caller that is only read from, until its end.
  virtual std::optional<int> input_descriptor() { return std::nullopt; }
  virtual std::string_view input_text() { return {}; }

  // About the network; called from another thread than the rest, one at a time.

  /// Something became of a host that the program reached for.
  virtual void contact(const Contact&) {}
  /// The rules as they are now, where they may have changed since the run began; nothing: the profile's.
  virtual std::optional<std::vector<std::string>> network_rules() { return std::nullopt; }
  /// Asked before a refusal for want of a rule. Yes counts for this host and port until the run ends.
  virtual bool allow_contact(const Contact&) { return false; }

  /// With a tty: rows and columns; asked at the start and whenever the caller's terminal changed its size.
  struct WindowSize {
    unsigned short rows = 24;
    unsigned short columns = 80;
  };
  virtual WindowSize window_size() { return {}; }

  /// With an overlay that is handed over: the memory in which the run wrote, `upper/` for the workspace, `tmp/` and
  /// `home/`. Called once, when everybody in the sandbox is dead: nobody changes it any more, and nothing in it is to
  /// be trusted.
  virtual void left(sys::Fd) {}
};

/// Keeps what was written.
class CapturedIo : public Io {
 public:
  explicit CapturedIo(std::string input = {}) : input_(std::move(input)) {}
  void output(Stream stream, std::string_view bytes) override { (stream == Stream::out ? out : err).append(bytes); }
  std::string_view input_text() override { return input_; }

  std::string out;
  std::string err;

 private:
  std::string input_;
};

/// A place for one run that is being built. Unused, it goes and leaves nothing.
class Preparation {
 public:
  virtual ~Preparation() = default;
};

class Sandbox {
 public:
  virtual ~Sandbox() = default;
  /// Clearance by value: running spends it. Stopping ends the whole tree and is reported as Killed, reason `signal`.
  virtual RunReport run(Clearance clearance, Io& io, std::stop_token stop) = 0;

  /// Begins to build the place for such a run while its record is written; nothing where that gains nothing. No program
  /// is started in it without a clearance for the same profile, by the thread that began it.
  virtual std::unique_ptr<Preparation> prepare(const Profile&) { return nullptr; }
  virtual RunReport run_prepared(std::unique_ptr<Preparation>, Clearance clearance, Io& io, std::stop_token stop) {
    return run(std::move(clearance), io, std::move(stop));
  }
};

}  // namespace cordon::sandbox
