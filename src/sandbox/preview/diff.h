// The difference of two texts, for a person. Bounded in time and size whatever the texts are.
#pragma once

#include <optional>
#include <string_view>

#include "sandbox/preview/change.h"

namespace cordon::sandbox::preview {

struct DiffLimits {
  std::size_t input_bytes = 1U << 20;  // of either text; larger ones are not compared
  std::size_t output_bytes = 64 * 1024;
  std::size_t edits = 1000;  // beyond it the part that differs is shown as replaced as a whole
};

/// Whether a person can read it: UTF-8 without NUL bytes.
bool is_text(std::string_view bytes);

/// Unified form, hunks only, three lines around each. Nothing where one of them is no text or too large.
std::optional<Difference> diff(std::string_view before, std::string_view after, const DiffLimits& limits);

}  // namespace cordon::sandbox::preview
