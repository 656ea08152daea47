// Containers that are kept between runs, one for each session directory: a program is started in one that is there,
// which takes a fraction of making a new one. It holds nothing of its own: HOME, /tmp and the workspace are the host's,
// so one that is gone is made again and nothing is lost.
//
// Its pid 1 takes calls at a socket whose name is in the session's own directory, which no container sees: whoever
// answers there is that pid 1, and whoever can call is the session's owner. One that does not answer is not the
// session's container any more, whatever the engine says.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/container/layout.h"
#include "sandbox/docker/engine.h"
#include "sandbox/docker/request.h"
#include "sys/fd.h"
#include "sys/file.h"

namespace cordon::sandbox::docker {

struct Kept {
  std::string id;
  std::string session;  // the session's directory
};

/// Whether a run may use one: it has a session, and what it sees is not thrown away after it.
bool may_be_kept(const Profile& profile);

/// Over all that is fixed when a container is made: mounts, limits, image, user, how long it lives.
std::string made_of(const container::Layout& layout, const ContainerRequest& request);

/// Those of this session that run now, by the engine's word.
Result<std::vector<Kept>> find_kept(const Engine& engine, const std::string& session_directory);

/// Where a session's container is called. One process at a time.
class KeptPlace {
 public:
  static Result<KeptPlace> enter(const std::string& session_directory);

  struct Noted {
    std::string id;
    int pid = 0;          // of its pid 1, as the host counts
    std::string made_of;  // digest
  };
  /// The one that was made last. A note that cannot be read is none.
  std::optional<Noted> noted() const;
  Result<void> note(const Noted& made) const;

  /// Nothing: nobody answers.
  std::optional<sys::Fd> call() const;
  /// The socket for a new one; who listened before cannot be called any more.
  Result<sys::Fd> listen() const;
  /// Nobody can be called any more.
  void forget() const;

 private:
  KeptPlace(sys::Fd directory, std::string path, sys::FileLock lock)
      : directory_(std::move(directory)), path_(std::move(path)), lock_(std::move(lock)) {}
  sys::Fd directory_;
  std::string path_;
  sys::FileLock lock_;
};

}  // namespace cordon::sandbox::docker
