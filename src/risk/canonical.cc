// One spelling for every way to write the same options.
#include "risk/analyse.h"
#include "risk/judge.h"

namespace cordon::risk {

namespace {

/// A program the tables do not know: -abc may be one word or three; split on both sides of a comparison it matches
/// broadly.
std::vector<std::string> split_all(std::span<const Arg> words) {
  std::vector<std::string> all;
  bool operands = false;
  for (const Arg& word : words) {
    const std::string_view text = word.text;
    if (text == "--") operands = true;
    if (operands || all.empty() || text.size() < 2 || text[0] != '-') {
      if (text != "--") all.emplace_back(text);
    } else if (text[1] == '-') {
      const std::size_t equals = text.find('=');
      all.emplace_back(text.substr(0, equals));
      if (equals != std::string_view::npos) all.emplace_back(text.substr(equals + 1));
    } else {
      for (char letter : text.substr(1)) all.push_back({'-', letter});
    }
  }
  return all;
}

}  // namespace

std::vector<std::string> canonical_of(const Sorted& sorted, std::span<const Arg> words) {
  if (!sorted.node) {
    std::vector<std::string> all = split_all(words);
    if (!all.empty() && words[0].known) all[0] = all[0].substr(all[0].rfind('/') + 1);
    return all;
  }
  std::vector<std::string> all;
  all.emplace_back(words[0].text.substr(words[0].text.rfind('/') + 1));
  for (std::size_t i = 1; i < sorted.chain.size(); ++i) {
    const std::string_view name = sorted.chain[i]->name.view();
    all.emplace_back(name.find('*') == std::string_view::npos ? name : sorted.chain_texts[i]);
  }
  for (const GivenOption& given : sorted.options) {
    if (given.name.ends_with('=')) {
      // dd's if=x is one word to whoever writes a pattern.
      all.push_back(std::string(given.name) + std::string(given.value.text));
      continue;
    }
    all.emplace_back(given.name);
    if (given.has_value) all.emplace_back(given.value.text);
  }
  for (const Operand& operand : sorted.operands) all.emplace_back(operand.arg.text);
  for (const Arg& arg : sorted.carried) all.emplace_back(arg.text);
  for (const Arg& arg : sorted.line) all.emplace_back(arg.text);
  for (std::span<const Arg> part : sorted.until) {
    for (const Arg& arg : part) all.emplace_back(arg.text);
  }
  return all;
}

std::vector<std::string> canonical(std::span<const std::string> words) {
  if (words.empty()) return {};
  std::vector<Arg> args;
  args.reserve(words.size());
  for (const std::string& word : words) {
    Arg arg;
    arg.text = word;
    args.push_back(arg);
  }
  const std::string_view name = std::string_view(words[0]).substr(words[0].rfind('/') + 1);
  const Node* program = find_program(name);
  if (!program) return canonical_of(Sorted{}, args);
  return canonical_of(sort_words(*program, args), args);
}

}  // namespace cordon::risk
