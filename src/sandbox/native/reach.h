// The way back into a workspace after a run: a run may have taken the rights of its directories away, from us as well.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "sys/fd.h"

namespace cordon::sandbox::native {

/// Gives itself the rights that it needs on directories of our own user, one at a time and without following a link;
/// at its end they are as the run left them.
class Reach {
 public:
  Reach() = default;
  Reach(const Reach&) = delete;
  Reach& operator=(const Reach&) = delete;
  ~Reach();

  /// The directory at an absolute path (O_PATH); −1 with errno where there is none, or a link on the way.
  sys::Fd directory(const std::string& path);
  /// As the calls of these names, no link followed; where rights are missing once more with them.
  bool stat(int parent, const std::string& name, struct stat& status);
  bool unlink(int parent, const std::string& name, int flags);
  bool rename(int parent, const std::string& name, int to, const std::string& new_name);

 private:
  bool open_up(int directory);
  std::vector<std::pair<sys::Fd, mode_t>> changed_;
};

}  // namespace cordon::sandbox::native
