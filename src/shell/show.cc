#include "shell/show.h"

#include <fmt/format.h>

namespace cordon::shell {
namespace {

// As a person would type it, if it needs quotes at all.
std::string quoted(std::string_view text) {
  bool plain = !text.empty() &&
               text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=,:@%+") ==
                   std::string_view::npos;
  if (plain) return std::string(text);
  std::string out = "'";
  for (char c : text) {
    if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + "'";
}

std::string show_piece(const Piece& piece) {
  switch (piece.kind) {
    case Piece::Kind::literal:
      return quoted(piece.text);
    case Piece::Kind::glob:
      return "‹glob " + piece.text + "›";
    case Piece::Kind::number:
      return "‹number " + piece.text + "›";
    case Piece::Kind::unknown:
      return (piece.quoted ? "‹\"" : "‹") + piece.text + (piece.quoted ? "\"›" : "›");
    case Piece::Kind::process_in:
      return "‹<›";
    case Piece::Kind::process_out:
      return "‹>›";
  }
  return {};
}

std::string show_redirect(const Redirect& redirect) {
  static constexpr std::string_view operators[] = {"<", ">", ">>", "<>", "<<<", "&"};
  return fmt::format("{}{}{}{}", redirect.fd, operators[static_cast<int>(redirect.kind)],
                     redirect.also_stderr ? "both " : "", show(redirect.target));
}

}  // namespace

std::string show(const cordon::Word& word) {
  if (word.pieces.empty()) return "''";
  std::string out;
  for (const Piece& piece : word.pieces) out += show_piece(piece);
  return out;
}

std::string show(const Command& command) {
  std::string out;
  auto add = [&](const std::string& text) { out += (out.empty() ? "" : " ") + text; };
  for (std::uint32_t i = 0; i < command.in_substitution; ++i) add("$");
  if (command.background) add("&");
  if (command.conditional) add("?");
  if (command.kind == Command::Kind::builtin) add("b:");
  if (command.kind == Command::Kind::function) add("f:");
  if (command.kind == Command::Kind::compound) add("c:");
  for (const Assignment& assignment : command.assignments) {
    add(fmt::format("{}{}={}", assignment.name, assignment.append ? "+" : "", show(assignment.value)));
  }
  for (const cordon::Word& word : command.words) add(show(word));
  for (const Redirect& redirect : command.redirects) add(show_redirect(redirect));
  if (!command.piped_from.empty()) add(fmt::format("|{}", fmt::join(command.piped_from, ",")));
  if (command.input) add("in=" + quoted(*command.input));
  if (!command.directory || !command.directory->empty()) add("dir=" + command.directory.value_or("‹›"));
  for (const Assignment& assignment : command.exported)
    add(fmt::format("export:{}={}", assignment.name, show(assignment.value)));
  return out;
}

std::string show(const Script& script) {
  static constexpr std::string_view kinds[] = {"recursion", "fork_bomb", "filling",  "alias",
                                               "shadowed",  "limit",     "too_long", "invisible_text"};
  std::string out;
  for (const Command& command : script.commands) out += show(command) + "\n";
  for (const Oddity& oddity : script.oddities) {
    out += fmt::format("! {} {}\n", kinds[static_cast<int>(oddity.kind)], oddity.detail);
  }
  if (!script.understood)
    out += fmt::format("!! {} at {}-{}\n", script.trouble, script.trouble_at.begin, script.trouble_at.end);
  return out;
}

}  // namespace cordon::shell
