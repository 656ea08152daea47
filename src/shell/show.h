// A Script as lines of text: for tables of expectations, `cordon explain` and eyes.
#pragma once

#include <string>

#include "model/script.h"

namespace cordon::shell {

/// One line per command. Unknown pieces stand in ‹…›, patterns and what else is not literal too, with a mark of their
/// kind.
std::string show(const Script& script);
std::string show(const Command& command);
std::string show(const cordon::Word& word);

}  // namespace cordon::shell
