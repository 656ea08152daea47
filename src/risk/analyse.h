// Script + context → Analysis: what a command reads, writes, deletes, runs and reaches, and how grave that is.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/analysis.h"
#include "model/script.h"

namespace cordon::risk {

/// Judges every command in the script at any depth. Never fails: what cannot be known is dangerous and says so.
/// `read` is called on shell text found inside commands (bash -c, env -S, ssh …).
Analysis analyse(const Script& script, const RiskContext& context, const ReadScript& read);

/// The words of a call or of a deny pattern with option clusters split, abbreviations expanded, every option in its
/// first spelling and values apart: `rm -rf x`, `rm --recursive --force x` and `rm -fr x` hold the same words.
std::vector<std::string> canonical(std::span<const std::string> words);

}  // namespace cordon::risk
