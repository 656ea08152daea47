#include "sandbox/native/cgroup.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "sys/fd.h"
#include "sys/liveness.h"

namespace cordon::sandbox::native {

namespace {

/// mountinfo writes blanks in names as \040.
std::string unescape(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      result.push_back(static_cast<char>(std::stoi(text.substr(i + 1, 3), nullptr, 8)));
      i += 3;
    } else {
      result.push_back(text[i]);
    }
  }
  return result;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

/// Our group of each hierarchy, by its list of controllers ("" for v2).
std::map<std::string, std::string> own_groups() {
  std::map<std::string, std::string> groups;
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    auto first = line.find(':');
    auto second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    groups[line.substr(first + 1, second - first - 1)] = line.substr(second + 1);
  }
  return groups;
}

/// The directory of `group` as seen through a mount that shows `root` at `point`.
std::optional<std::string> seen_through(const std::string& root, const std::string& point, const std::string& group) {
  if (root == "/") return group == "/" ? point : point + group;
  if (group == root) return point;
  if (group.starts_with(root + "/")) return point + group.substr(root.size());
  return std::nullopt;
}

}  // namespace

std::vector<Hierarchy> own_hierarchies() {
  std::vector<Hierarchy> found;
  const auto groups = own_groups();
  std::ifstream file("/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    auto dash = line.find(" - ");
    if (dash == std::string::npos || !line.substr(dash + 3).starts_with("cgroup")) continue;
    auto before = split(line.substr(0, dash), ' ');
    auto after = split(line.substr(dash + 3), ' ');
    if (before.size() < 5 || after.size() < 3) continue;
    const int version = after[0] == "cgroup2" ? 2 : 1;
    for (const auto& [controllers, group] : groups) {
      if ((version == 2) != controllers.empty()) continue;
      std::vector<std::string> names = split(controllers, ',');
      auto options = split(after[2], ',');
      bool same = version == 2;
      for (const std::string& name : names) {
        for (const std::string& option : options) same = same || option == name;
      }
      if (!same) continue;
      if (auto directory = seen_through(unescape(before[3]), unescape(before[4]), group)) {
        found.push_back({version, names, *directory, unescape(before[4])});
      }
    }
  }
  return found;
}

std::string new_group_name() {
  static std::atomic<unsigned> counter{0};
  return fmt::format("cordon-{}-{}", sys::own_liveness(), counter.fetch_add(1));
}

LeftGroups::~LeftGroups() {
  for (const std::string& path : busy_) ::rmdir(path.c_str());
}

void LeftGroups::sweep(const std::string& parent) {
  std::error_code error;
  for (const auto& item : std::filesystem::directory_iterator(parent, error)) {
    const std::string name = item.path().filename();
    if (!name.starts_with("cordon-")) continue;
    const std::string mark = name.substr(7, name.rfind('-') - 7);
    // Only names that new_group_name makes: others may belong to somebody else.
    const bool ours = mark.find('.') != std::string::npos && mark.find_first_not_of("0123456789.") == std::string::npos;
    if (ours && !sys::is_alive(mark) && ::rmdir(item.path().c_str()) != 0 && errno == EBUSY)
      busy_.push_back(item.path());
  }
}

Result<void> write_control(const std::string& path, const std::string& value) {
  sys::Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.get() < 0 || ::write(file.get(), value.data(), value.size()) < 0) {
    return fail(Fault::unavailable, "write {}: {}", path, std::strerror(errno));
  }
  return {};
}

std::unique_ptr<Cgroups> find_cgroups() {
  const std::vector<Hierarchy> hierarchies = own_hierarchies();
  if (auto found = find_cgroups_v2(hierarchies)) return found;
  return find_cgroups_v1(hierarchies);
}

}  // namespace cordon::sandbox::native
