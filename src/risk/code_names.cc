// What a name in inline code stands for: modules, what is imported from them, and functions that the code defines.
#include "risk/code_judge.h"

namespace cordon::risk {

/// import os as o · from os import system · cp = require('child_process') · const {exec} = require(…)
void CodeJudge::aliases(const Tokens& tokens) {
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].kind != Token::Kind::name) continue;
    const std::string& word = tokens[i].text;
    if (is(tokens, i + 1, "=") && i + 2 < tokens.size() && tokens[i + 2].kind == Token::Kind::name)
      other_name(tokens, i);
    if (word == "import" && tokens[i + 1].kind == Token::Kind::name) import(tokens, i + 1);
    if (word == "from" && i + 3 < tokens.size() && is(tokens, i + 2, "import")) from_import(tokens, i);
    if ((word == "require" || word == "__import__" || word == "importlib.import_module") && is(tokens, i + 1, "(") &&
        i + 2 < tokens.size() && tokens[i + 2].kind == Token::Kind::string) {
      std::string module = tokens[i + 2].text;
      if (module.starts_with("node:")) module = module.substr(5);
      // run = require("child_process").execSync
      const bool part = is(tokens, i + 3, ")") && is(tokens, i + 4, ".") && i + 5 < tokens.size() &&
                        tokens[i + 5].kind == Token::Kind::name && !is(tokens, i + 6, "(");
      if (i >= 2 && is(tokens, i - 1, "=") && tokens[i - 2].kind == Token::Kind::name)
        alias_[tokens[i - 2].text] = part ? module + "." + tokens[i + 5].text : module;
      if (i >= 2 && is(tokens, i - 1, "=") && is(tokens, i - 2, "}")) names_in_braces(tokens, i - 2, module);
    }
    if (word == "from" && i > 0 && is(tokens, i - 1, "}") && tokens[i + 1].kind == Token::Kind::string)
      names_in_braces(tokens, i - 1, tokens[i + 1].text);
  }
}

/// def sh(c): subprocess.run(c, shell=True): what it is called with is what runs, and every call is in the code.
void CodeJudge::find_helpers(const Functions& functions, const Tokens& tokens) {
  std::map<const Function*, bool> plain;
  for (std::size_t i = 0; i + 2 < tokens.size() && helpers_.size() < 100; ++i) {
    if (tokens[i].kind != Token::Kind::name || !is(tokens, i + 1, "(")) continue;
    const std::string_view what = find_call(language_, full_name(tokens, i));
    if (what != "shell" && what != "argv") continue;
    const Token& given = tokens[i + 2];
    const bool alone = is(tokens, i + 3, ",") || is(tokens, i + 3, ")");
    const Function* function = given.kind == Token::Kind::name ? functions.around(i) : nullptr;
    if (!function || function->parameters.empty()) continue;
    const std::string& first = function->parameters[0];
    const bool split = given.text == first + ".split";
    const bool split_by = given.text == "shlex.split" && i + 4 < tokens.size() && tokens[i + 4].text == first;
    if (!(alone && given.text == first) && !split && !split_by) continue;
    auto [asked, fresh] = plain.try_emplace(function, false);
    if (fresh) asked->second = Functions::only_called(tokens, *function);
    if (!asked->second) continue;
    helpers_[function->name] = what;
    inside_helper_.insert(i);
  }
}

/// f = os.system: from here on f is it.
void CodeJudge::other_name(const Tokens& tokens, std::size_t i) {
  for (std::string_view more : {"(", ".", "["}) {
    if (is(tokens, i + 3, more)) return;
  }
  const std::string name = full_name(tokens, i + 2);
  if (!find_call(language_, name).empty()) alias_[tokens[i].text] = name;
}

/// import {execSync as e} from "child_process" · const {exec: e} = require("child_process")
void CodeJudge::names_in_braces(const Tokens& tokens, std::size_t close, std::string module) {
  if (module.starts_with("node:")) module = module.substr(5);
  for (std::size_t i = close; i > 1 && !is(tokens, i, "{"); --i) {
    const bool renamed = is(tokens, i - 1, "as") || is(tokens, i - 1, ":");
    if (renamed && tokens[i].kind == Token::Kind::name) alias_[tokens[i].text] = module + "." + tokens[i - 2].text;
  }
}

void CodeJudge::import(const Tokens& tokens, std::size_t at) {
  while (at < tokens.size() && tokens[at].kind == Token::Kind::name) {
    const std::string module = tokens[at].text;
    if (is(tokens, at + 1, "as") && at + 2 < tokens.size()) {
      alias_[tokens[at + 2].text] = module;
      at += 2;
    }
    if (is(tokens, at + 1, "from") && at + 2 < tokens.size() && tokens[at + 2].kind == Token::Kind::string) {
      std::string source = tokens[at + 2].text;
      alias_[module] = source.starts_with("node:") ? source.substr(5) : source;
    }
    if (!is(tokens, at + 1, ",")) break;
    at += 2;
  }
}

void CodeJudge::from_import(const Tokens& tokens, std::size_t at) {
  const std::string module = tokens[at + 1].text;
  std::size_t i = at + 3;
  if (is(tokens, i, "*")) whole_modules_.push_back(module);
  while (i < tokens.size() && tokens[i].kind == Token::Kind::name) {
    const std::string name = tokens[i].text;
    std::string shown = name;
    if (is(tokens, i + 1, "as") && i + 2 < tokens.size()) {
      shown = tokens[i + 2].text;
      i += 2;
    }
    alias_[shown] = module + "." + name;
    if (!is(tokens, i + 1, ",")) break;
    i += 2;
  }
}

std::string CodeJudge::full_name(const Tokens& tokens, std::size_t at) const {
  std::string name = tokens[at].text;
  // require('fs').rmSync(…): the module is the string two tokens back.
  if (at >= 4 && is(tokens, at - 1, ".") && is(tokens, at - 2, ")") && tokens[at - 3].kind == Token::Kind::string &&
      is(tokens, at - 4, "(")) {
    std::string module = tokens[at - 3].text;
    if (module.starts_with("node:")) module = module.substr(5);
    return module + "." + name;
  }
  if (at >= 1 && is(tokens, at - 1, ".")) return "." + name;
  const std::size_t dot = name.find('.');
  auto found = alias_.find(name.substr(0, dot));
  if (found != alias_.end()) return dot == std::string::npos ? found->second : found->second + name.substr(dot);
  return name;
}

}  // namespace cordon::risk
