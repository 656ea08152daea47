// Values that a request itself carries and that must not be read in the log.
#pragma once

#include <vector>

#include "audit/redactor.h"
#include "model/request.h"

namespace cordon::guard {

/// The variables whose names say that they hold a secret.
std::vector<audit::KnownSecret> secrets_in(const Variables& variables);

}  // namespace cordon::guard
