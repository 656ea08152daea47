// The name Json, for headers that only hand it on: what json.h includes takes seconds to compile.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace cordon {

using Json = nlohmann::ordered_json;

}  // namespace cordon
