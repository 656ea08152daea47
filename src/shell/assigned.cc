// What a body may change, found without running it: a loop has to forget all of it before its first round.
#include "shell/builtin_names.h"
#include "shell/characters.h"
#include "shell/evaluator.h"

namespace cordon::shell {
namespace {

// What is only read keeps its value, which may hold something that runs.
bool may_assign(std::string_view before, std::string_view after) {
  constexpr std::string_view blanks = " \t\n";
  before = before.substr(0, before.find_last_not_of(blanks) + 1);
  const std::size_t at = after.find_first_not_of(blanks);
  if (before.ends_with("++") || before.ends_with("--") || at == std::string_view::npos) return true;
  after = after.substr(at);
  if (after[0] == '=') return !after.starts_with("==");
  for (std::string_view op : {"++", "--", "[", "+=", "-=", "*=", "/=", "%=", "&=", "^=", "|=", "<<=", ">>="}) {
    if (after.starts_with(op)) return true;
  }
  return false;
}

}  // namespace

void Evaluator::collect(const List* list, Assigned& out) const {
  if (list == nullptr || out.everything) return;
  for (const Item& item : list->items) {
    for (const Link& link : item.links) {
      for (const Node* node : link.pipeline.stages) collect(*node, out);
    }
  }
}

void Evaluator::collect(const Seq<Redirection>& redirects, Assigned& out) const {
  for (const Redirection& redirect : redirects) {
    collect(redirect.target, out);
    if (redirect.has_variable) out.names.insert(std::string(redirect.variable.substr(0, redirect.variable.find('['))));
    if (redirect.here != nullptr) collect(redirect.here->body, out);
  }
}

void Evaluator::collect(const Condition* test, Assigned& out) const {
  if (test == nullptr) return;
  collect(test->left, out);
  collect(test->right, out);
  bool numeric = test->kind == Condition::Kind::binary && test->op.size() == 3;
  if (numeric) collect_arithmetic(test->left.parts, out), collect_arithmetic(test->right.parts, out);
  collect(test->first, out);
  collect(test->second, out);
}

void Evaluator::collect(const Node& node, Assigned& out) const {
  collect(node.redirects, out);
  if (node.kind == Node::Kind::simple) return collect_simple(node, out);
  for (const Word& word : node.words) collect(word, out);
  if (node.kind == Node::Kind::for_ || node.kind == Node::Kind::select) {
    out.names.insert(std::string(node.name));
    if (node.kind == Node::Kind::select) out.names.insert("REPLY");
  }
  if (node.kind == Node::Kind::function) {
    out.names.insert(State::function_key(node.name));
    if (node.inner != nullptr) out.functions[std::string(node.name)].push_back(node.inner);
    bool leaves = out.leaves;
    if (node.inner != nullptr && out.seen.insert(node.inner).second) collect(*node.inner, out);
    out.leaves = leaves;
    return;
  }
  if (node.kind == Node::Kind::coproc) {
    out.names.insert(node.name.empty() ? "COPROC" : std::string(node.name));
    return;
  }
  collect(node.condition, out);
  collect(node.body, out);
  collect(node.otherwise, out);
  if (node.inner != nullptr) collect(*node.inner, out);
  for (const CaseClause& clause : node.clauses) {
    for (const Word& word : clause.patterns) collect(word, out);
    collect(clause.body, out);
  }
  collect(node.test, out);
  for (const Parts& parts : node.arithmetic) collect(parts, out), collect_arithmetic(parts, out);
}

void Evaluator::collect(const Word& word, Assigned& out) const { collect(word.parts, out); }

void Evaluator::collect(const Parts& parts, Assigned& out) const {
  for (const Part& part : parts) {
    switch (part.kind) {
      case Part::Kind::command:
      case Part::Kind::backquote:
      case Part::Kind::process_in:
      case Part::Kind::process_out:
        break;  // a subshell changes nothing here
      case Part::Kind::arithmetic:
        collect_arithmetic(part.parts, out);
        break;
      case Part::Kind::parameter: {
        const Parameter& parameter = *part.parameter;
        if (parameter.op == "=" || parameter.op == ":=") {
          if (parameter.indirect) out.everything = true;
          out.names.insert(std::string(parameter.name));
        }
        if (parameter.has_subscript) collect_arithmetic(parameter.subscript, out);
        if (parameter.op == ":") collect_arithmetic(parameter.first, out), collect_arithmetic(parameter.second, out);
        collect(parameter.first, out);
        collect(parameter.second, out);
        break;
      }
      default:
        break;
    }
    if (part.kind != Part::Kind::parameter) collect(part.parts, out);
    if (part.words != nullptr) {
      for (const Word& word : *part.words) collect(word, out);
    }
  }
}

void Evaluator::collect_arithmetic(const Parts& parts, Assigned& out) const {
  collect(parts, out);
  for (const Part& part : parts) {
    std::string_view text = part.text;
    const bool last = &part == &parts.back();
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (!is_name_start(text[i])) continue;
      std::size_t end = i;
      while (end < text.size() && is_name_char(text[end])) ++end;
      const std::string_view after = end == text.size() && last ? ")" : text.substr(end);
      if (may_assign(text.substr(0, i), after)) out.names.insert(std::string(text.substr(i, end - i)));
      i = end;
    }
    if (part.kind == Part::Kind::dquote) collect_arithmetic(part.parts, out);
  }
}

// "$@" that is known to begin with the name of neither a builtin nor a function.
bool Evaluator::runs_plain_program(const Word& word) const {
  if (word.parts.size() != 1 || state_.around.positional == nullptr || state_.around.positional->empty()) return false;
  const Part& only = word.parts[0];
  const bool quoted = only.kind == Part::Kind::dquote && only.parts.size() == 1 &&
                      only.parts[0].kind == Part::Kind::variable && only.parts[0].text == "@";
  const Value& name = state_.around.positional->front();
  if (!quoted || !name.known || is_builtin(name.text)) return false;
  const Variable* function = state_.find(State::function_key(name.text));
  return function == nullptr || function->kind != Variable::Kind::function;
}

void Evaluator::collect_simple(const Node& node, Assigned& out) const {
  std::uint32_t first = 0;
  for (const Word& word : node.words) collect(word, out);
  while (first < node.words.size() && node.words[first].assignment) {
    std::string_view text = node.words[first].parts[0].text;
    std::size_t end = 0;
    while (end < text.size() && is_name_char(text[end])) ++end;
    out.names.insert(std::string(text.substr(0, end)));
    const Word& word = node.words[first];
    if (word.parts.size() > 1 && word.parts[1].kind == Part::Kind::subscript)
      collect_arithmetic(word.parts[1].parts, out);
    ++first;
  }
  if (first >= node.words.size()) return;
  std::string_view name = node.words[first].plain();
  bool certain = !name.empty() && name.find_first_of("*?[{~\\") == std::string_view::npos;
  if (name == "[") certain = true;
  if (!certain && runs_plain_program(node.words[first])) return;
  if (!certain) {
    // It may be any builtin or function.
    bool path = node.words[first].parts.size() > 0 && node.words[first].parts[0].kind == Part::Kind::literal &&
                node.words[first].parts[0].text.find('/') != std::string_view::npos;
    if (!path) out.everything = true, out.leaves = true;
    return;
  }
  const Variable* function = state_.functions() > 0 ? state_.find(State::function_key(name)) : nullptr;
  if (function != nullptr && function->kind == Variable::Kind::function) {
    if (!function->certain) out.everything = true;
    bool leaves = out.leaves;
    for (const Node* body : function->bodies) {
      if (out.seen.insert(body).second) collect(*body, out);
    }
    out.leaves = leaves;
    return;
  }
  // One that is defined in this very body has been collected with it, but may be redefined by what it does.
  if (out.names.contains(State::function_key(name))) return;
  if (name == "break" || name == "continue" || name == "return" || name == "exit" || name == "exec") out.leaves = true;
  if (name == "cd" || name == "pushd" || name == "popd") {
    out.directory = true;
    out.names.insert("PWD");
    out.names.insert("OLDPWD");
  }
  if (name == "set" || name == "shift") out.positional = true;
  if (name == "set" || name == "shopt") out.options = true;
  if (name == "eval" || name == "." || name == "source" || name == "command" || name == "builtin" || name == "trap" ||
      name == "enable" || name == "fc" || name == "compgen") {
    out.everything = true;
    out.leaves = true;
    return;
  }
  bool names_variables = name == "read" || name == "mapfile" || name == "readarray" || name == "printf" ||
                         name == "declare" || name == "typeset" || name == "local" || name == "export" ||
                         name == "readonly" || name == "unset" || name == "let" || name == "getopts" || name == "wait";
  if (!names_variables) return;
  for (std::string_view own : {"REPLY", "MAPFILE", "OPTARG", "OPTIND"}) out.names.insert(std::string(own));
  bool printf_target = false;
  const bool maps = name == "mapfile" || name == "readarray";
  for (std::uint32_t i = first + 1; i < node.words.size(); ++i) {
    std::string_view text = node.words[i].parts.empty() ? std::string_view() : node.words[i].parts[0].text;
    bool literal = !node.words[i].parts.empty() && node.words[i].parts[0].kind == Part::Kind::literal;
    // What it calls may change anything.
    if (maps && literal && text.starts_with('-') && text.find('C') != std::string_view::npos) out.everything = true;
    if (name == "printf") {
      // Only -v names a variable.
      bool may_be_option = i == first + 1 && (!literal || node.words[i].plain().empty());
      bool quoted_format = !node.words[i].parts.empty() && (node.words[i].parts[0].kind == Part::Kind::single ||
                                                            node.words[i].parts[0].kind == Part::Kind::dquote);
      if (may_be_option && (!quoted_format || text.starts_with('-'))) out.everything = true;
      if (printf_target) {
        if (!literal) out.everything = true;
        printf_target = false;
      } else if (literal && text.starts_with("-v")) {
        printf_target = text == "-v";
        text.remove_prefix(2);
      } else {
        continue;
      }
    }
    if (name == "let") {
      collect_arithmetic(node.words[i].parts, out);
      continue;
    }
    std::size_t end = 0;
    while (end < text.size() && is_name_char(text[end])) ++end;
    if (!literal || (end == text.size() && node.words[i].parts.size() > 1)) {
      out.everything = true;
      return;
    }
    if (end > 0) out.names.insert(std::string(text.substr(0, end)));
    if (text.size() > 2 && text[0] == '-') out.names.insert(std::string(text.substr(2)));
    if (name == "unset") out.names.insert(State::function_key(text));
  }
}

}  // namespace cordon::shell
