// Which variables reach a sandboxed program: a short list of the caller's, and what was asked for by name.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/request.h"

namespace cordon::plan {

/// Says why a variable loads or runs code ("preloads a library"), or nothing.
using LoadsCode = std::function<std::string(std::string_view name)>;

/// The caller's variables that pass unasked: language, time zone, colour. `environ`-style strings.
Variables inherited_variables(const char* const* environment);

/// The caller's variables that pass to a command on the host, which needs to find its agent, terminal and home. PATH
/// without relative directories, and without those below `unsafe`, where an agent may have put programs.
Variables host_variables(const char* const* environment, const std::vector<std::string>& unsafe);

/// Refuses names that are none, and names that load code.
Result<void> check_variables(const Variables& asked, const LoadsCode& loads_code);

}  // namespace cordon::plan
