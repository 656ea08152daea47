// Where a session's commands run when nothing is elevated. Exec and explain ask this one function.
#pragma once

#include <string>
#include <string_view>

#include "model/settings.h"
#include "model/verdict.h"

namespace cordon::policy {

struct Placement {
  Where where = Where::sandbox;
  std::string reason;  // why it is not in the sandbox; empty: it is
  Origin origin;       // of the mode
};

Placement placement_of(const Settings& settings, std::string_view agent, std::string_view session);

}  // namespace cordon::policy
