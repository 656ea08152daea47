// JSON with the key order in which it was built: what users read and what is hashed must not depend on sorting.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "base/json_fwd.h"

// Compiled once, in json.cc: each of reading and writing costs a second in every file that does it.
extern template class nlohmann::detail::serializer<nlohmann::ordered_json>;

namespace cordon {

/// What `text` says; `is_discarded()` where it is not JSON.
Json parse_json(std::string_view text);

}  // namespace cordon
