#include "sandbox/native/process_tree.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace cordon::sandbox::native {

std::vector<int> process_tree(int root) {
  std::vector<int> tree{root};
  constexpr std::size_t enough = 100'000;
  for (std::size_t i = 0; i < tree.size() && tree.size() < enough; ++i) {
    std::error_code error;
    for (const auto& task : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", tree[i]), error)) {
      std::ifstream children(task.path() / "children");
      for (int child; children >> child;) tree.push_back(child);
    }
  }
  return tree;
}

std::uint64_t resident_bytes(const std::vector<int>& processes) {
  static const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::uint64_t sum = 0;
  for (int pid : processes) {
    std::ifstream file(fmt::format("/proc/{}/statm", pid));
    std::uint64_t total = 0;
    std::uint64_t resident = 0;
    if (file >> total >> resident) sum += resident * page;
  }
  return sum;
}

std::uint64_t cpu_ms(const std::vector<int>& processes) {
  static const auto per_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  std::uint64_t ticks = 0;
  for (int pid : processes) {
    std::ifstream file(fmt::format("/proc/{}/stat", pid));
    std::string line;
    if (!std::getline(file, line)) continue;
    std::istringstream fields(line.substr(line.rfind(')') + 1));
    std::string skipped;
    for (int field = 3; field < 14; ++field) fields >> skipped;
    for (int field = 14; field <= 17; ++field) {  // utime, stime, cutime, cstime
      std::uint64_t value = 0;
      if (fields >> value) ticks += value;
    }
  }
  return ticks * 1000 / per_second;
}

}  // namespace cordon::sandbox::native
