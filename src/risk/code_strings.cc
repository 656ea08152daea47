// Strings in inline code that count by where they stand: called by value, members by their names, what awk pipes to.
#include "risk/code_judge.h"

namespace cordon::risk {

namespace {

/// print | "sort -k2": what awk is ever so often told to sort or to show elsewhere.
bool only_filters(std::string_view command) {
  const std::string_view program = command.substr(0, command.find(' '));
  const bool aside = command == "cat 1>&2" || command == "cat >&2" || command == "cat > /dev/stderr";
  return aside || ((program == "sort" || program == "uniq" || program == "column" || program == "wc" ||
                    program == "head" || program == "tail") &&
                   command.find_first_of("><|;&`$(") == std::string_view::npos);
}

}  // namespace

/// m["ex"+"ec"]("rm -rf x"), $f("rm -rf x"): what is called is not known, what it is given is.
void CodeJudge::called_by_value(const Tokens& tokens, std::size_t i) {
  if (i < 2 || !is(tokens, i - 1, "(")) return;
  const Token& callee = tokens[i - 2];
  const bool by_value = is(tokens, i - 2, "]") || is(tokens, i - 2, ")") ||
                        (callee.kind == Token::Kind::name && callee.text.starts_with('$') && name_ == "php");
  std::string_view line = tokens[i].text;
  if (!by_value || !begins_a_command(line)) return;
  judge_.raise(run_, "exec.inline", arg_.where);
  run_shell(std::string(line), true);
}

/// cp["execSync"]("…"), globals()["exec"]("…"): a member by its name.
void CodeJudge::member(const Tokens& tokens, std::size_t i, int depth) {
  const std::string& text = tokens[i].text;
  const bool module =
      is(tokens, i - 2, ")") && i > 4 && tokens[i - 3].kind == Token::Kind::string && is(tokens, i - 4, "(");
  const std::string owner = module                                    ? tokens[i - 3].text
                            : tokens[i - 2].kind == Token::Kind::name ? full_name(tokens, i - 2)
                                                                      : std::string();
  std::string_view what = find_call(language_, owner + "." + text);
  if (what.empty()) what = find_call(language_, "." + text);
  if (what.empty()) what = find_call(language_, text);
  if (!what.empty()) act(what, tokens, i + 1, depth);
}

/// awk runs and writes by strings alone: "cmd" | getline, print | "cmd", print > "file".
void CodeJudge::string_token(const Tokens& tokens, std::size_t i, int depth) {
  literal_path(tokens[i].text);
  seen_.start_name |= tokens[i].text.ends_with(".pth") || tokens[i].text.ends_with("sitecustomize.py") ||
                      tokens[i].text.ends_with("usercustomize.py");
  called_by_value(tokens, i);
  if (i > 1 && is(tokens, i - 1, "[") && is(tokens, i + 1, "]") && is(tokens, i + 2, "(")) member(tokens, i, depth);
  // $`…` of zx and Bun.
  if (name_ == "javascript" && i > 0 && (is(tokens, i - 1, "$") || tokens[i - 1].text.ends_with(".$")))
    run_shell(tokens[i].text, !tokens[i].unknown);
  // set output '|sh' of gnuplot
  if (name_ == "generic" && tokens[i].text.size() > 1 && tokens[i].text[0] == '|' && i > 0 &&
      is(tokens, i - 1, "output")) {
    judge_.raise(run_, "exec.inline", arg_.where);
    run_shell(tokens[i].text.substr(1), true);
  }
  if (name_ == "awk" && i > 0 && tokens[i - 1].text == "@include") include(tokens[i].text);
  if (name_ == "java" && is(tokens, i + 1, ".") && is(tokens, i + 2, "!")) run_shell(tokens[i].text, true);
  if (name_ == "javascript" && i >= 1 && tokens[i].text.starts_with("http") &&
      (is(tokens, i - 1, "import") || is(tokens, i - 1, "from") || (i >= 2 && is(tokens, i - 2, "import"))))
    judge_.raise(run_, "net.run", arg_.where);
  if (name_ != "awk") return;
  const bool from = i >= 1 && is(tokens, i - 1, "|");
  const bool into = is(tokens, i + 1, "|") && is(tokens, i + 2, "getline");
  const bool coprocess = i >= 2 && is(tokens, i - 1, "&") && is(tokens, i - 2, "|");
  if (tokens[i].text.starts_with("/inet/")) {
    judge_.raise(run_, "net.reverse_shell", arg_.where);
    return;
  }
  if (from || into || coprocess) {
    if (!from || !only_filters(tokens[i].text)) judge_.raise(run_, "exec.inline", arg_.where);
    run_shell(tokens[i].text, !tokens[i].unknown);
    return;
  }
  if (i >= 1 && is(tokens, i - 1, ">") && i >= 2 && tokens[i - 2].text != "(") {
    std::size_t back = i;
    bool printed = false;
    while (back > 0 && !is(tokens, back, ";") && !is(tokens, back, "{")) {
      printed |= is(tokens, back, "print") || is(tokens, back, "printf");
      --back;
    }
    printed |= back == 0 && (is(tokens, 0, "print") || is(tokens, 0, "printf"));
    if (printed) writes_to(tokens[i].text);
  }
  if (i >= 1 && is(tokens, i - 1, "<")) judge_.reads(run_, path_arg(tokens[i].text, true), false);
}

/// print > name: something is written, whatever the name turns out to be.
void CodeJudge::awk_output(const Tokens& tokens, std::size_t i) {
  int depth = 0;
  for (std::size_t k = i + 1; k < tokens.size() && k < i + 60; ++k) {
    if (is(tokens, k, "(")) ++depth;
    if (is(tokens, k, ")")) --depth;
    if (is(tokens, k, ";") || is(tokens, k, "}")) return;
    if (depth == 0 && is(tokens, k, ">")) {
      judge_.at_least(run_, Risk::normal);
      return;
    }
    // print | cmd: what it is called is in a variable.
    const bool pipe = depth == 0 && is(tokens, k, "|") && !is(tokens, k - 1, "|") && !is(tokens, k + 1, "|");
    if (pipe && k + 1 < tokens.size() && tokens[k + 1].kind == Token::Kind::name)
      judge_.raise(run_, "exec.inline", arg_.where);
  }
}

}  // namespace cordon::risk
