#include "runner/artifacts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace cordon::code::runner {

namespace {

constexpr int maximum_depth = 8;
constexpr std::size_t maximum_count = 256;

std::int64_t nanoseconds(const timespec& time) { return time.tv_sec * 1'000'000'000LL + time.tv_nsec; }

bool plain_name(const std::string& name) {
  if (name.empty() || name.front() == '/' || name.size() > 1024) return false;
  for (std::size_t start = 0; start <= name.size();) {
    const std::size_t end = std::min(name.find('/', start), name.size());
    const std::string part = name.substr(start, end - start);
    if (part.empty() || part == "." || part == "..") return false;
    start = end + 1;
  }
  return true;
}

void make_parents(const std::string& path) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    ::mkdir(path.substr(0, slash).c_str(), 0755);
  }
}

bool write_new(const std::string& path, const std::string& content, GivenFile& identity) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (file < 0) return false;
  std::string_view rest = content;
  while (!rest.empty()) {
    const ssize_t sent = ::write(file, rest.data(), rest.size());
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) break;
    rest.remove_prefix(static_cast<std::size_t>(sent));
  }
  struct stat status {};
  ::fstat(file, &status);
  ::close(file);
  identity = {status.st_ino, nanoseconds(status.st_ctim)};
  return rest.empty();
}

class Collector {
 public:
  Collector(GivenFiles& given, std::uint64_t room, Reply& reply) : given_(given), room_(room), reply_(reply) {}

  void visit(int directory, const std::string& prefix, int depth) {
    DIR* list = ::fdopendir(directory);
    if (!list) {
      ::close(directory);
      return;
    }
    std::vector<std::string> names;
    while (const dirent* item = ::readdir(list)) {
      const std::string name = item->d_name;
      if (name != "." && name != ".." && name != "__pycache__") names.push_back(name);
      if (names.size() > 4 * maximum_count) break;
    }
    std::ranges::sort(names);
    for (const std::string& name : names) look_at(::dirfd(list), name, prefix + name, depth);
    ::closedir(list);
  }

 private:
  void look_at(int directory, const std::string& name, const std::string& path, int depth) {
    if (count_ >= maximum_count) return;
    struct stat status {};
    if (::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return;
    if (S_ISDIR(status.st_mode)) {
      if (depth >= maximum_depth) return leave_out(path, "too deep");
      const int inner = ::openat(directory, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      if (inner >= 0) visit(inner, path + "/", depth + 1);
      return;
    }
    if (S_ISLNK(status.st_mode)) return leave_out(path, "a symbolic link");
    if (!S_ISREG(status.st_mode)) return leave_out(path, "not a regular file");
    const auto given = given_.find(path);
    if (given != given_.end() && given->second.inode == status.st_ino &&
        given->second.changed_ns == nanoseconds(status.st_ctim)) {
      return;
    }
    given_[path] = {status.st_ino, nanoseconds(status.st_ctim)};
    if (static_cast<std::uint64_t>(status.st_size) > room_) return leave_out(path, "too large");
    read_into_reply(directory, name, path);
  }

  void read_into_reply(int directory, const std::string& name, const std::string& path) {
    const int file = ::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) return leave_out(path, "unreadable");
    std::string record = path + '\0';
    const std::size_t start = record.size();
    char buffer[65536];
    ssize_t got;
    while ((got = ::read(file, buffer, sizeof buffer)) > 0 && record.size() - start <= room_) {
      record.append(buffer, static_cast<std::size_t>(got));
    }
    ::close(file);
    if (record.size() - start > room_) return leave_out(path, "too large");
    room_ -= record.size() - start;
    ++count_;
    reply_.add(wire::Tag::artifact, record);
  }

  void leave_out(const std::string& path, const char* reason) {
    ++count_;
    reply_.add(wire::Tag::left_out, path + '\0' + reason);
  }

  GivenFiles& given_;
  std::uint64_t room_;
  std::size_t count_ = 0;
  Reply& reply_;
};

}  // namespace

bool place_files(const Request& request, GivenFiles& given, std::string& trouble) {
  ::mkdir(wire::code_directory, 0755);
  if (::mkdir(wire::output_directory, 0755) != 0 && errno != EEXIST) {
    trouble = std::string("cannot make the output directory: ") + std::strerror(errno);
    return false;
  }
  for (const auto& [name, content] : request.files) {
    const std::string path = std::string(wire::output_directory) + "/" + name;
    if (plain_name(name)) make_parents(path);
    if (!plain_name(name) || !write_new(path, content, given[name])) {
      trouble = "cannot place file " + name;
      return false;
    }
  }
  return true;
}

void add_artifacts(const Request& request, GivenFiles& given, Reply& reply) {
  if (request.artifact_bytes == 0) return;
  const int directory = ::open(wire::output_directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (directory >= 0) Collector(given, request.artifact_bytes, reply).visit(directory, "", 0);
}

}  // namespace cordon::code::runner
