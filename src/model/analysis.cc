#include "model/analysis.h"

#include <array>

namespace cordon {

namespace {
constexpr std::array risk_names = {"safe", "normal", "dangerous", "critical", "disallowed"};
constexpr std::array effect_names = {"reads",   "writes",    "deletes",  "runs",
                                     "reaches", "privilege", "persists", "unknown"};
}  // namespace

const char* name_of(Risk risk) { return risk_names[static_cast<std::size_t>(risk)]; }

std::optional<Risk> risk_named(std::string_view name) {
  for (std::size_t i = 0; i < risk_names.size(); ++i) {
    if (name == risk_names[i]) return static_cast<Risk>(i);
  }
  return std::nullopt;
}

const char* name_of(Effect::Kind kind) { return effect_names[static_cast<std::size_t>(kind)]; }

}  // namespace cordon
