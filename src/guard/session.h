// Sessions: one piece of work whose steps share HOME and /tmp. A directory of the state each, by its key.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "model/profile.h"
#include "model/request.h"
#include "model/settings.h"

namespace cordon::guard {

struct Session {
  std::string key;
  std::string agent;
  std::string workspace;
  std::string directory;  // on the host
  Time created{};
  Time used{};
};

class Sessions {
 public:
  explicit Sessions(std::string state_dir) : root_(std::move(state_dir) + "/sessions") {}

  /// The key under which this request's files live, by the scope that the settings give.
  static std::string key_of(const Request& request, SandboxScope scope);

  /// Where its files are or would be; makes and notes nothing.
  Session look(const std::string& key, const Request& request) const;
  /// Makes the directory where it is missing, and notes the use.
  Result<Session> enter(const std::string& key, const Request& request, Time now) const;
  /// Every session seen so far, the last used first. What cannot be read is left out.
  Result<std::vector<Session>> list() const;
  /// Deletes the session's files.
  Result<void> remove(const std::string& key) const;

 private:
  std::string directory_of(std::string_view key) const;
  std::string root_;
};

/// Name and email of the user's own git settings, for the generated ~/.gitconfig.
void add_git_identity(const std::string& home, SessionDirectory& session);

}  // namespace cordon::guard
