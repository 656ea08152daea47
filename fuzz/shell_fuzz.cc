// Any bytes: reading them ends, every span lies inside the text, and a tree printed and read again is the same tree.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "shell/parser.h"
#include "shell/printer.h"
#include "shell/read.h"

namespace cordon::shell {
namespace {

struct Tree {
  Arena arena;
  Limits limits;
  Dialect dialect;
  List all;
  bool good = true;

  explicit Tree(std::string_view text) {
    limits.max_reread = 4 * text.size() + 65536;
    Parser parser(text, arena, limits, dialect);
    while (List* unit = parser.next_unit()) {
      for (const Item& item : unit->items) all.items.push(arena, item);
    }
    good = !parser.failed() && parser.late_trouble() == nullptr;
  }
};

void require(bool condition) {
  if (!condition) std::abort();
}

void check_span(Span span, std::size_t size) { require(span.begin <= span.end && span.end <= size); }

void check(const Script& script) {
  std::size_t size = script.text.size();
  check_span(script.trouble_at, size);
  require(script.understood || !script.trouble.empty());
  for (const Oddity& oddity : script.oddities) check_span(oddity.where, size);
  for (const Command& command : script.commands) {
    check_span(command.where, size);
    for (const cordon::Word& word : command.words) {
      check_span(word.where, size);
      for (const Piece& piece : word.pieces) {
        for (std::uint32_t from : piece.from) require(from < script.commands.size());
      }
    }
    for (const Redirect& redirect : command.redirects) check_span(redirect.where, size);
    for (std::uint32_t from : command.piped_from) require(from < script.commands.size());
  }
}

}  // namespace
}  // namespace cordon::shell

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace cordon::shell;
  std::string_view text(reinterpret_cast<const char*>(bytes), size);
  cordon::ShellState state;
  state.variables["HOME"] = "/home/me";
  state.positional = {"bash", "one", "two words"};
  check(read(text, state));
  // Bash can be given no NUL, so there is nothing that printing one must mean.
  if (text.find('\0') != std::string_view::npos) return 0;
  Tree tree(text);
  if (!tree.good) return 0;
  std::string printed = print(tree.all);
  Tree again(printed);
  // Printing may add a level that only the limit of depth forbids.
  if (!again.good && again.limits.depth == 0 && tree.limits.reread > 0) return 0;
  require(again.good && same(tree.all, again.all));
  return 0;
}
