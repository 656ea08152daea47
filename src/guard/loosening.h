// What a caller may not claim without a person's presence.
#pragma once

#include <string>

#include "model/request.h"
#include "model/settings.h"

namespace cordon::guard {

/// Why this request wants more than the settings give to anyone; empty: it does not.
std::string loosening(const Request& request, const Settings& settings);

}  // namespace cordon::guard
