#include "sys/liveness.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace cordon::sys {

namespace {

/// Field 22 of /proc/PID/stat; the name in field 2 may hold blanks and brackets. Nothing for a process that is dead and
/// only waits to be reaped.
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
    if (i == 3 && (field == "Z" || field == "X")) return {};
  }
  return field;
}

}  // namespace

std::string own_liveness() {
  // A process that forks is two: what is remembered is one of them's.
  thread_local int remembered = 0;
  thread_local std::string mark;
  if (const int pid = ::getpid(); remembered != pid) {
    mark = liveness_of(pid);
    remembered = pid;
  }
  return mark;
}

std::string liveness_of(int pid) { return fmt::format("{}.{}", pid, start_time(pid)); }

bool is_alive(const std::string& mark) {
  auto dot = mark.find('.');
  if (dot == std::string::npos) return false;
  return start_time(std::strtol(mark.c_str(), nullptr, 10)) == mark.substr(dot + 1);
}

}  // namespace cordon::sys
