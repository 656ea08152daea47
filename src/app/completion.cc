// Completions for bash, zsh and fish, made from the definition of the command line.
#include <iostream>
#include <map>

#include "app/verbs.h"

namespace cordon::app {

namespace {

std::vector<std::string> flags_of(const VerbShape& verb) {
  std::vector<std::string> flags;
  for (const OptionShape& option : verb.options)
    for (std::string& flag : option.flags()) flags.push_back(std::move(flag));
  return flags;
}

/// "cordon", "cordon config", "cordon config check" … with the words that may follow each.
void collect(const VerbShape& verb, const std::string& path, std::map<std::string, std::vector<std::string>>& follow) {
  std::vector<std::string>& words = follow[path];
  for (const VerbShape& part : verb.parts) words.push_back(part.name);
  for (std::string& flag : flags_of(verb)) words.push_back(std::move(flag));
  for (const VerbShape& part : verb.parts) collect(part, path + " " + part.name, follow);
}

std::string single_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

void write_bash(const VerbShape& root) {
  std::map<std::string, std::vector<std::string>> follow;
  collect(root, "cordon", follow);
  std::cout << "# bash completion for cordon\n"
               "_cordon() {\n"
               "  local path=cordon word words i current=${COMP_WORDS[COMP_CWORD]}\n"
               "  case ${COMP_WORDS[0]##*/} in\n"
               "    sandbox-*) path=\"cordon ${COMP_WORDS[0]##*/sandbox-}\"; path=${path/sandbox-/} ;;\n"
               "    mass) path='cordon mass' ;;\n"
               "  esac\n"
               "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
               "    word=${COMP_WORDS[i]}\n"
               "    case \"$path $word\" in\n";
  for (const auto& [path, words] : follow) {
    if (path != "cordon") std::cout << "      " << single_quoted(path) << ") path=" << single_quoted(path) << " ;;\n";
  }
  std::cout << "    esac\n  done\n  case $path in\n";
  for (const auto& [path, words] : follow) {
    std::cout << "    " << single_quoted(path) << ") words='";
    for (const std::string& word : words) std::cout << word << ' ';
    if (path != "cordon") {
      for (const std::string& flag : flags_of(root)) std::cout << flag << ' ';
    }
    std::cout << "' ;;\n";
  }
  std::cout << "  esac\n"
               "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
               "  if ((${#COMPREPLY[@]} == 0)); then mapfile -t COMPREPLY < <(compgen -f -- \"$current\"); fi\n"
               "}\n"
               "complete -o filenames -F _cordon cordon sandbox-check sandbox-exec sandbox-queue sandbox-audit "
               "sandbox-allowlist mass\n";
}

std::string zsh_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') escaped += '\\';
    if (c == '\'') escaped += "'\\'";
    escaped += c;
  }
  return escaped;
}

void write_zsh_arguments(const VerbShape& verb, const VerbShape& root) {
  std::vector<const VerbShape*> levels = {&verb};
  if (&verb != &root) levels.push_back(&root);
  for (const VerbShape* level : levels) {
    for (const OptionShape& option : level->options) {
      for (const std::string& flag : option.flags()) {
        std::cout << " \\\n    '" << flag << '[' << zsh_escaped(option.description) << ']'
                  << (option.takes_value ? ":" + zsh_escaped(option.type_name) + ":_files" : "") << '\'';
      }
    }
  }
}

void write_zsh_function(const VerbShape& verb, const VerbShape& root, const std::string& name) {
  std::cout << "_" << name << "() {\n  local line state\n  _arguments -C";
  write_zsh_arguments(verb, root);
  if (verb.parts.empty()) {
    std::cout << " \\\n    '*:argument:_files'\n}\n";
    return;
  }
  std::cout << " \\\n    '1: :->verb' '*:: :->rest'\n  case $state in\n    verb) local -a verbs=(";
  for (const VerbShape& part : verb.parts) {
    std::cout << "\n      '" << part.name << ':' << zsh_escaped(part.description) << '\'';
  }
  std::cout << ")\n      _describe verb verbs ;;\n    rest) case $line[1] in\n";
  for (const VerbShape& part : verb.parts) {
    std::cout << "      " << part.name << ") _" << name << '_' << part.name << " ;;\n";
  }
  std::cout << "    esac ;;\n  esac\n}\n";
  for (const VerbShape& part : verb.parts) write_zsh_function(part, root, name + "_" + part.name);
}

void write_zsh(const VerbShape& root) {
  std::cout << "#compdef cordon\n";
  write_zsh_function(root, root, "cordon");
  std::cout << "_cordon \"$@\"\n";
}

void write_fish_options(const VerbShape& verb, const std::string& condition) {
  for (const OptionShape& option : verb.options) {
    if (option.flags().empty()) continue;
    std::cout << "complete -c cordon" << (condition.empty() ? "" : " -n " + single_quoted(condition));
    for (const std::string& name : option.short_names) std::cout << " -s " << name;
    for (const std::string& name : option.long_names) std::cout << " -l " << name;
    if (option.takes_value) std::cout << " -r";
    std::cout << " -d " << single_quoted(option.description) << '\n';
  }
}

void write_fish_verbs(const VerbShape& verb, const std::string& seen) {
  std::string others;
  for (const VerbShape& part : verb.parts) others += " " + part.name;
  const std::string here = (seen.empty() ? "" : "__fish_seen_subcommand_from " + seen + "; and ") +
                           "not __fish_seen_subcommand_from" + others;
  for (const VerbShape& part : verb.parts) {
    std::cout << "complete -c cordon -n " << single_quoted(here) << " -f -a " << part.name << " -d "
              << single_quoted(part.description) << '\n';
    write_fish_options(part, "__fish_seen_subcommand_from " + part.name);
    if (!part.parts.empty()) write_fish_verbs(part, part.name);
  }
}

void write_fish(const VerbShape& root) {
  std::cout << "# fish completion for cordon\n";
  write_fish_options(root, "");
  write_fish_verbs(root, "");
}

}  // namespace

void define_completion(CommandLine& line) {
  const Verb verb = line.verb("completion", "Print the completion script for your shell");
  const auto shell = std::make_shared<std::string>();
  verb.add_option("SHELL", *shell, "bash, zsh or fish").required().one_of({"bash", "zsh", "fish"});
  verb.example("source <(cordon completion bash)");
  line.does(verb, [&line, shell] {
    if (*shell == "bash") write_bash(line.shape());
    if (*shell == "zsh") write_zsh(line.shape());
    if (*shell == "fish") write_fish(line.shape());
    return exit_code::done;
  });
}

}  // namespace cordon::app
