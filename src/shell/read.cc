#include "shell/read.h"

#include <fmt/format.h>

#include <algorithm>

#include "shell/evaluator.h"
#include "shell/invisible.h"
#include "shell/salvage.h"

namespace cordon::shell {
namespace {

constexpr std::size_t max_text = std::size_t{2} << 20;
constexpr std::uint32_t max_texts = 32;

Script refused(Script script, std::string trouble, Span where) {
  script.understood = false;
  script.trouble = std::move(trouble);
  script.trouble_at = where;
  return script;
}

// "(line 3, column 6)", counted as editors do.
std::string place(std::string_view text, std::size_t at) {
  std::string_view before = text.substr(0, std::min(at, text.size()));
  std::size_t line = 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
  std::size_t start = before.rfind('\n');
  std::size_t column = start == std::string_view::npos ? before.size() + 1 : before.size() - start;
  return fmt::format(" (line {}, column {})", line, column);
}

}  // namespace

Script read(std::string_view text, const ShellState& state) {
  Script script;
  if (text.size() > max_text) {
    // Not even listed, so that no deny rule could be asked.
    script.oddities.push_back({Oddity::Kind::too_long, {}, {}});
    return refused(std::move(script), "the text is too long", {});
  }
  script.text = text;
  if (state.depth > max_texts) {
    salvage(script, 0);
    return refused(std::move(script), "shell inside shell, nested too deeply", {});
  }
  std::size_t nul = text.find('\0');
  Arena arena;
  Limits limits;
  limits.max_reread = 4 * text.size() + 65536;
  limits.max_work = 64 * text.size() + (std::uint64_t{4} << 20);
  note_invisible(script);
  // Deny rules must see what stands behind a mistake or a limit, too.
  if (auto left_at = Evaluator(script, arena, limits, state).run()) salvage(script, *left_at);
  if (!script.understood) script.trouble += place(text, script.trouble_at.begin);
  // No program can be given a NUL: what bash would see ends before it.
  if (nul != std::string_view::npos) {
    auto at = static_cast<std::uint32_t>(nul);
    return refused(std::move(script), "a NUL byte", {at, at + 1});
  }
  return script;
}

}  // namespace cordon::shell
