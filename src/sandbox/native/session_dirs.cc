#include "sandbox/native/session_dirs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sys/file.h"

namespace cordon::sandbox::native {

namespace {

/// In git's own quoting; a line break would start another setting.
std::string quoted(const std::string& value) {
  std::string result = "\"";
  for (char c : value) {
    if (c == '\n' || c == '\r' || c == '\0') continue;
    if (c == '"' || c == '\\') result.push_back('\\');
    result.push_back(c);
  }
  return result + "\"";
}

Result<void> place_gitconfig(const std::string& home, const std::string& content) {
  sys::Fd directory(::open(home.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (directory.get() < 0) return fail(Fault::unavailable, "session directory {}: {}", home, std::strerror(errno));
  struct stat status {};
  if (::fstatat(directory.get(), ".gitconfig", &status, AT_SYMLINK_NOFOLLOW) == 0) {
    if (S_ISREG(status.st_mode) && status.st_size == static_cast<off_t>(content.size())) return {};
    // The sandbox may add to its own settings; only what is no file at all is replaced.
    if (S_ISREG(status.st_mode)) return {};
    ::unlinkat(directory.get(), ".gitconfig", 0);
  }
  sys::Fd file(::openat(directory.get(), ".gitconfig", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (file.get() < 0) return fail(Fault::unavailable, "write {}/.gitconfig: {}", home, std::strerror(errno));
  return sys::write_all(file, home + "/.gitconfig", content);
}

}  // namespace

std::string gitconfig_for(const SessionDirectory& session, const std::string& workspace) {
  std::string text = "[safe]\n\tdirectory = /workspace\n\tdirectory = /agent\n";
  if (!workspace.empty()) text += "\tdirectory = " + quoted(workspace) + "\n";
  if (!session.git_name.empty() || !session.git_email.empty()) text += "[user]\n";
  if (!session.git_name.empty()) text += "\tname = " + quoted(session.git_name) + "\n";
  if (!session.git_email.empty()) text += "\temail = " + quoted(session.git_email) + "\n";
  return text;
}

Result<SessionDirectories> prepare_session(const SessionDirectory& session, const std::string& workspace) {
  SessionDirectories directories{session.path + "/home", session.path + "/tmp"};
  CHECK_OK(sys::ensure_private_directory(session.path));
  CHECK_OK(sys::ensure_private_directory(directories.home));
  CHECK_OK(sys::ensure_private_directory(directories.temporary));
  CHECK_OK(place_gitconfig(directories.home, gitconfig_for(session, workspace)));
  return directories;
}

}  // namespace cordon::sandbox::native
