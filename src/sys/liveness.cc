#include "sys/liveness.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace cordon::sys {

namespace {

/// Field 22 of /proc/PID/stat; the name in field 2 may hold blanks and brackets.
std::string start_time(long pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string line;
  if (!std::getline(file, line)) return {};
  auto close = line.rfind(')');
  if (close == std::string::npos) return {};
  std::istringstream fields(line.substr(close + 1));
  std::string field;
  for (int i = 3; i <= 22; ++i) {
    if (!(fields >> field)) return {};
  }
  return field;
}

}  // namespace

const std::string& own_liveness() {
  static const std::string mark = fmt::format("{}.{}", ::getpid(), start_time(::getpid()));
  return mark;
}

bool is_alive(const std::string& mark) {
  auto dot = mark.find('.');
  if (dot == std::string::npos) return false;
  return start_time(std::strtol(mark.c_str(), nullptr, 10)) == mark.substr(dot + 1);
}

}  // namespace cordon::sys
