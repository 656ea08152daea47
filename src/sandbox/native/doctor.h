// Tries every step of isolation on this machine and says how to get what is missing.
#pragma once

#include <string>
#include <vector>

#include "sandbox/native/native.h"

namespace cordon::sandbox::native {

struct Check {
  std::string name;  // "user namespace"
  bool works = false;
  bool needed = true;  // false: without it a level lower, or slower
  std::string detail;  // what was seen
  std::string fix;     // what to do; empty when it works
};

/// Each is tried for real, in a child. The last says which level a run would have now.
std::vector<Check> examine();

/// Ubuntu 23.10 and later: what lets one program make user namespaces.
std::string apparmor_profile(const std::string& program);

}  // namespace cordon::sandbox::native
