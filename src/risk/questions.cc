// Calls that do less than their program can: asked for help, for a list, or to show what they would do.
#include <algorithm>

#include "risk/judge.h"

namespace cordon::risk {

namespace {

bool is_plain_word(const Arg& arg) {
  return arg.known && !arg.text.empty() && std::all_of(arg.text.begin(), arg.text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
                  c == ':';
         });
}

/// nvme help format, ip route help: a tool whose words are verbs explains them instead. Not where the table gives its
/// operands a meaning (a file called help is a file), nor where they are another command.
bool asks_by_verb(const Sorted& sorted) {
  const bool any_other = sorted.chain.size() > 1 && sorted.node->name.view() == "*";
  const Node& tool = any_other ? *sorted.chain[sorted.chain.size() - 2] : *sorted.node;
  const std::string_view verb = any_other ? sorted.chain_texts.back() : sorted.unknown_sub;
  constexpr std::uint32_t few = 2;
  if (verb != "help" || tool.subs_exact < few || !sorted.options.empty() || sorted.operands.size() > 3) return false;
  if (!sorted.carried.empty() || !sorted.line.empty() || sorted.marked(Mark::stdin_code)) return false;
  if (tool.base.rule && rows::rule_rows[tool.base.rule].name.view().starts_with("guard.")) return false;
  const bool meant = std::any_of(tool.roles().begin(), tool.roles().end(),
                                 [](const rows::RoleRow& role) { return role.kind() != Role::data; });
  return !meant && std::all_of(sorted.operands.begin(), sorted.operands.end(),
                               [](const Operand& operand) { return is_plain_word(operand.arg); });
}

/// aws s3 rm help, aws ec2 terminate-instances help; not aws s3 mv s3://b/k help, where it is a file.
bool asks_at_the_end(const Run& run) {
  const Sorted& sorted = run.sorted;
  const std::size_t before = sorted.chain.size() > 1 ? 0 : 2;  // service and verb, where the table knows neither
  return run.words.back().text == "help" && sorted.options.empty() && !sorted.operands.empty() &&
         sorted.operands.size() <= before + 1 && listed("help_last", sorted.program->name.view());
}

}  // namespace

bool Judge::asks_for_help(const Run& run) const {
  const Sorted& sorted = run.sorted;
  const bool grave = sorted.node->base.level >= static_cast<int>(Risk::dangerous);
  if (run.words.size() == 2) {
    const std::string_view only = run.words[1].text;
    // pytest -v, ninja -v, ctest -V: they say more of what they do.
    const std::string_view name = run.words[0].text.substr(run.words[0].text.rfind('/') + 1);
    if ((only == "-v" || only == "-V") && listed("talkative", name)) return false;
    if (only == "--version" || only == "--help") return true;
    if (only == "-V" && !sorted.find("-V")->option) return true;
    if (!grave && (only == "-V" || only == "-v" || only == "-version" || only == "-help" || only == "version" ||
                   only == "help")) {
      return !sorted.marked(Mark::wrapper) && !sorted.marked(Mark::elevate);
    }
    // Given lines to act on, a prompt may have another use for -h.
    if (!grave && only == "-h" && run.in.from != Stdin::From::text)
      return !sorted.marked(Mark::wrapper) && sorted.find("-h") && !sorted.find("-h")->option;
  }
  if (asks_by_verb(sorted)) return true;
  if (asks_at_the_end(run)) return true;
  // git push --help, kubectl delete --help: printed instead of done, wherever it stands before "--".
  return sorted.chain.size() > 1 && sorted.carried.empty() && sorted.line.empty() && sorted.has("--help") &&
         !sorted.find("--help")->option;
}

/// nomad job status, rc-service --list: the first words ask and none of them changes, or the options do nothing else.
/// Only where the tables say of the tool as a whole that it changes something, never of the subcommand that was given;
/// by verb only where its words are verbs at all: pkg_add tree installs a tree.
bool Judge::only_asks(const Sorted& sorted, bool by_verb) {
  if (sorted.node != sorted.program && sorted.node->name.view() != "*") return false;
  bool question = false;
  for (const GivenOption& given : sorted.options) {
    if (given.option && given.option->spec.level >= static_cast<int>(Risk::dangerous)) return false;
    if (!given.option && !listed("question_option", given.name)) return false;
    question |= !given.option;
  }
  std::vector<std::string_view> words(sorted.chain_texts.begin() + 1, sorted.chain_texts.end());
  for (const Operand& operand : sorted.operands) words.push_back(operand.arg.known ? operand.arg.text : "");
  if (!by_verb) return question && words.empty();
  constexpr std::size_t reach = 3;
  for (std::size_t i = 0; i < std::min(words.size(), reach); ++i) {
    if (words[i].empty() || listed("verb_changes", words[i]) || verb_risk(words[i]) == Risk::dangerous) return false;
    question |= listed("question", words[i]);
  }
  return question;
}

namespace {

bool says_no(std::string_view value) {
  for (std::string_view no : {"false", "False", "none", "no", "off", "0"}) {
    if (value == no) return true;
  }
  return false;
}

/// An option that makes the call less grave.
bool lowers(const Sorted& sorted, std::string_view name) {
  return std::any_of(sorted.chain.begin(), sorted.chain.end(), [&](const Node* node) {
    const Option* option = find_option(*node, name);
    return option && (option->spec.replaces || option->spec.has(Mark::rehearses));
  });
}

/// --log-file-format --dry-run: an option that no row names may take the word after it, whatever that looks like.
bool may_be_swallowed(const Run& run) {
  for (std::size_t i = 2; i < run.words.size(); ++i) {
    const std::string_view before = run.words[i - 1].text;
    const bool bare = before.starts_with("--") && before.size() > 2 && before.find('=') == std::string_view::npos;
    const std::string_view word = run.words[i].text;
    if (!bare || !word.starts_with('-') || !lowers(run.sorted, word.substr(0, word.find('=')))) continue;
    const bool named = std::any_of(run.sorted.chain.begin(), run.sorted.chain.end(),
                                   [&](const Node* node) { return find_option(*node, before) != nullptr; });
    if (!named) return true;
  }
  return false;
}

}  // namespace

/// --dry-run=none, --no-dry-run, --dry-run false: what was asked for is taken back.
bool Judge::takes_back(const Run& run) {
  for (std::size_t i = 1; i < run.words.size(); ++i) {
    const std::string_view word = run.words[i].text;
    if (!word.starts_with('-')) continue;
    const std::size_t equals = word.find('=');
    const bool next = i + 1 < run.words.size() && says_no(run.words[i + 1].text);
    const bool refused = equals == std::string_view::npos ? next : says_no(word.substr(equals + 1));
    if (refused && lowers(run.sorted, word.substr(0, equals))) return true;
    constexpr std::string_view no = "--no-";
    if (word.starts_with(no) && lowers(run.sorted, "--" + std::string(word.substr(no.size())))) return true;
  }
  return false;
}

/// kubectl delete --dry-run=client. Only where the table knows the option for this very subcommand, and where every
/// word is known: one that is not might take it back.
bool Judge::rehearses(const Run& run) {
  const bool asked = std::any_of(run.sorted.options.begin(), run.sorted.options.end(), [](const GivenOption& given) {
    return given.option && given.option->spec.has(Mark::rehearses);
  });
  return asked && !takes_back(run) && !may_be_swallowed(run) &&
         std::all_of(run.words.begin(), run.words.end(), [](const Arg& word) { return word.known; });
}

/// aws --endpoint-url http://localhost:4566, awslocal: nothing out there changes.
bool Judge::is_emulated(const Run& run) {
  const std::string_view path = run.words[0].text;
  if (path.substr(path.rfind('/') + 1) == "awslocal") return true;
  bool local = false;
  for (const GivenOption& given : run.sorted.options) {
    if (!given.option || given.option->name.view() != "--endpoint-url") continue;
    // The last one counts.
    local = given.has_value && given.value.known && given.value.text.starts_with("http") &&
            is_local_host(host_of(given.value.text));
  }
  return local && std::all_of(run.words.begin(), run.words.end(), [](const Arg& word) { return word.known; });
}

}  // namespace cordon::risk
