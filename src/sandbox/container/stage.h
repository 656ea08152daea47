// What a container needs of the host for one run: a private directory with pid 1 as a file, the socket at which pid 1
// finds its launcher, and places to mount things on. It names the process it belongs to, so that the next start can
// tell what was left behind.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sys/fd.h"

namespace cordon::sandbox::container {

/// Where pid 1 and its socket are inside.
constexpr const char* inner_init = "/.cordon/init";
constexpr const char* inner_control = "/.cordon/control";

class Stage {
 public:
  /// Below `state_directory`, which is 0700 and ours.
  static Result<Stage> create(const std::string& state_directory);
  Stage(Stage&& other) noexcept = default;
  Stage& operator=(Stage&&) = delete;
  ~Stage();

  const std::string& id() const { return id_; }
  const std::string& path() const { return path_; }
  std::string init() const { return path_ + "/init"; }
  std::string control() const { return path_ + "/control"; }

  Result<std::string> write(std::string_view name, std::string_view content) const;
  Result<std::string> make_directory(std::string_view name) const;
  /// Something to mount a directory or file on. What is mounted there is unmounted before anything is removed.
  Result<std::string> make_mount_point(bool directory);

  /// Waits until pid 1 calls. `ended` becomes readable or hangs up when the container ends without; −1: nobody tells.
  Result<sys::Fd> wait_for_init(std::chrono::milliseconds patience, int ended);

 private:
  Stage(std::string path, std::string id, sys::Fd listener)
      : path_(std::move(path)), id_(std::move(id)), listener_(std::move(listener)) {}
  std::string path_;
  std::string id_;
  sys::Fd listener_;
  unsigned mounts_ = 0;
};

/// Removes the stages of processes that are gone, after `forget` was called with each one's id.
void sweep_stages(const std::string& state_directory, const std::function<void(const std::string&)>& forget);

}  // namespace cordon::sandbox::container
