#include "base/json.h"

template class nlohmann::detail::serializer<nlohmann::ordered_json>;

namespace cordon {

Json parse_json(std::string_view text) { return Json::parse(text.begin(), text.end(), nullptr, false); }

}  // namespace cordon
