#include "model/profile.h"

namespace cordon {

const char* name_of(WorkspaceAccess access) {
  switch (access) {
    case WorkspaceAccess::none:
      return "none";
    case WorkspaceAccess::ro:
      return "ro";
    case WorkspaceAccess::rw:
      return "rw";
    case WorkspaceAccess::overlay:
      return "overlay";
  }
  return "none";
}

const char* name_of(Network network) {
  switch (network) {
    case Network::none:
      return "none";
    case Network::loopback:
      return "loopback";
    case Network::rules:
      return "rules";
  }
  return "none";
}

const char* name_of(Level level) {
  switch (level) {
    case Level::L0:
      return "L0";
    case Level::L1:
      return "L1";
    case Level::L2:
      return "L2";
    case Level::L3:
      return "L3";
    case Level::L4:
      return "L4";
  }
  return "L4";
}

std::optional<Level> level_named(std::string_view name) {
  for (Level level : {Level::L0, Level::L1, Level::L2, Level::L3, Level::L4}) {
    if (name == name_of(level)) return level;
  }
  return std::nullopt;
}

}  // namespace cordon
