// Which names bash runs itself, and which everyone takes for a certain program.
#pragma once

#include <string_view>

namespace cordon::shell {

bool is_builtin(std::string_view name);
/// To another shell it is a program that is not there.
bool is_only_of_bash(std::string_view name);
/// Builtins that take something from stdin.
bool reads_stdin(std::string_view builtin);
/// Programs whose name a function has no business taking.
bool is_well_known(std::string_view name);

}  // namespace cordon::shell
