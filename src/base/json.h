// JSON with the key order in which it was built: what users read and what is hashed must not depend on sorting.
#pragma once

#include <nlohmann/json.hpp>

namespace cordon {

using Json = nlohmann::ordered_json;

}  // namespace cordon
