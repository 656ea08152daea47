#include "shell/salvage.h"

#include <string_view>
#include <unordered_set>

namespace cordon::shell {
void salvage(Script& script, std::size_t begin) {
  std::string_view text = script.text;
  Command command;
  // Said twice, it is no other command; a million times, it would only fill memory.
  std::unordered_set<std::string_view> seen;
  std::string word;
  std::size_t word_begin = 0;
  auto end_word = [&](std::size_t at) {
    if (word.empty()) return;
    auto from = static_cast<std::uint32_t>(word_begin), to = static_cast<std::uint32_t>(at);
    Word made = Word::literal(word, {from, to});
    if (word.find_first_of("$*?[") != std::string::npos) made.pieces[0].kind = Piece::Kind::unknown;
    command.words.push_back(std::move(made));
    word.clear();
  };
  auto end_command = [&](std::size_t at) {
    end_word(at);
    if (command.words.empty()) return;
    command.where = {command.words.front().where.begin, command.words.back().where.end};
    command.conditional = true;
    command.directory = std::nullopt;
    const bool fresh = seen.insert(text.substr(command.where.begin, command.where.end - command.where.begin)).second;
    if (fresh) script.commands.push_back(std::move(command));
    command = {};
  };
  for (std::size_t i = begin; i < text.size(); ++i) {
    char c = text[i];
    if (c == ' ' || c == '\t') {
      end_word(i);
    } else if (std::string_view("\n;&|()<>{}`").find(c) != std::string_view::npos) {
      end_command(i);
    } else if (c == '\'' || c == '"' || c == '\\') {
      if (word.empty()) word_begin = i;
    } else {
      if (word.empty()) word_begin = i;
      word += c;
    }
  }
  end_command(text.size());
}

}  // namespace cordon::shell
