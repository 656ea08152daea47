// The HTTP interface described for programs, made from the tables that it works by.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "serve/tools/tool.h"

namespace cordon::serve::http {

/// OpenAPI 3.1 for a caller that has these tools.
Json openapi(const std::vector<const Tool*>& tools, const std::string& version);

}  // namespace cordon::serve::http
