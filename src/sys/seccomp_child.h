// Test support: one-way changes (filters, Landlock) are tried in a child that is thrown away.
#pragma once

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <ostream>
#include <string>

namespace cordon::sys {

struct ChildReport {
  int status;        // as from waitpid
  std::string text;  // what the child had to say
  bool operator==(const ChildReport&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const ChildReport& report) {
    return out << "status " << report.status << ": " << report.text;
  }
};

/// Runs `work` in a forked child with no_new_privs and brings back what it returns. The status tells if it was killed.
inline ChildReport in_child(const std::function<std::string()>& work) {
  int ends[2];
  if (::pipe(ends) != 0) return {-1, "no pipe"};
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    const std::string said = work();
    const bool written = ::write(ends[1], said.data(), said.size()) == static_cast<ssize_t>(said.size());
    ::_exit(written ? 0 : 99);
  }
  ::close(ends[1]);
  ChildReport report{-1, {}};
  char buffer[4096];
  for (ssize_t got; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    report.text.append(buffer, static_cast<std::size_t>(got));
  ::close(ends[0]);
  ::waitpid(child, &report.status, 0);
  return report;
}

}  // namespace cordon::sys
