// A settings file as bytes that are fit to be read: regular, bounded, UTF-8, no NUL.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cordon::config {

inline constexpr std::size_t largest_source = 1 << 20;

/// Nothing when there is no such file. `name` begins every error.
Result<std::optional<std::string>> read_source(const std::string& path, std::string_view name);

/// The checks alone, for text that is already here. A byte order mark is fine.
Result<void> check_source_text(std::string_view text, std::string_view name);

}  // namespace cordon::config
