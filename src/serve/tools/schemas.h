// What the tools answer, as JSON Schema: what can be relied on. More keys may be there.
#pragma once

#include "base/json.h"

namespace cordon::serve {

Json check_schema();
Json exec_schema();
Json list_schema();
Json answer_schema();
Json stats_schema();
Json change_schema();
Json coverage_schema();
Json run_schema();
Json explain_schema();
Json preview_schema();
Json commit_schema();

}  // namespace cordon::serve
