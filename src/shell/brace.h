// {a,b} and {1..9}.
#pragma once

#include <vector>

#include "shell/syntax.h"

namespace cordon::shell {

bool may_have_braces(const Parts& parts);
/// `$@`, `$*`, `${a[@]}`: what may become any number of words even in quotes.
bool is_list(const Part& part);
/// `complete` is cleared when there would be too many words.
std::vector<Parts> expand_braces(const Parts& parts, Arena& arena, bool& complete);

}  // namespace cordon::shell
