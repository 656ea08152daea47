// Completions for bash, zsh and fish, made from the definition of the command line.
#include <iostream>
#include <map>

#include "app/verbs.h"

namespace cordon::app {

namespace {

std::vector<const CLI::App*> verbs_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* a) { return !a->get_group().empty(); });
}

std::vector<std::string> flags_of(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_snames()) flags.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  return flags;
}

/// "cordon", "cordon config", "cordon config check" … with the words that may follow each.
void collect(const CLI::App& app, const std::string& path, std::map<std::string, std::vector<std::string>>& follow) {
  std::vector<std::string>& words = follow[path];
  for (const CLI::App* verb : verbs_of(app)) words.push_back(verb->get_name());
  for (std::string& flag : flags_of(app)) words.push_back(std::move(flag));
  for (const CLI::App* verb : verbs_of(app)) collect(*verb, path + " " + verb->get_name(), follow);
}

std::string single_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

void write_bash(const CLI::App& root) {
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

void write_zsh_arguments(const CLI::App& app, const CLI::App& root) {
  std::vector<const CLI::App*> levels = {&app};
  if (&app != &root) levels.push_back(&root);
  for (const CLI::App* level : levels) {
    for (const CLI::Option* option : level->get_options()) {
      if (option->get_group().empty()) continue;
      std::vector<std::string> names;
      for (const std::string& name : option->get_snames()) names.push_back("-" + name);
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
      const bool takes_value = option->get_expected_max() > 0 && option->get_type_size_max() > 0;
      for (const std::string& name : names) {
        std::cout << " \\\n    '" << name << '[' << zsh_escaped(option->get_description()) << ']'
                  << (takes_value ? ":" + zsh_escaped(option->get_type_name()) + ":_files" : "") << '\'';
      }
    }
  }
}

void write_zsh_function(const CLI::App& app, const CLI::App& root, const std::string& name) {
  const auto verbs = verbs_of(app);
  std::cout << "_" << name << "() {\n  local line state\n  _arguments -C";
  write_zsh_arguments(app, root);
  if (verbs.empty()) {
    std::cout << " \\\n    '*:argument:_files'\n}\n";
    return;
  }
  std::cout << " \\\n    '1: :->verb' '*:: :->rest'\n  case $state in\n    verb) local -a verbs=(";
  for (const CLI::App* verb : verbs) {
    std::cout << "\n      '" << verb->get_name() << ':' << zsh_escaped(verb->get_description()) << '\'';
  }
  std::cout << ")\n      _describe verb verbs ;;\n    rest) case $line[1] in\n";
  for (const CLI::App* verb : verbs) {
    std::cout << "      " << verb->get_name() << ") _" << name << '_' << verb->get_name() << " ;;\n";
  }
  std::cout << "    esac ;;\n  esac\n}\n";
  for (const CLI::App* verb : verbs) write_zsh_function(*verb, root, name + "_" + verb->get_name());
}

void write_zsh(const CLI::App& root) {
  std::cout << "#compdef cordon\n";
  write_zsh_function(root, root, "cordon");
  std::cout << "_cordon \"$@\"\n";
}

void write_fish_options(const CLI::App& app, const std::string& condition) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty() || (option->get_snames().empty() && option->get_lnames().empty())) continue;
    std::cout << "complete -c cordon" << (condition.empty() ? "" : " -n " + single_quoted(condition));
    for (const std::string& name : option->get_snames()) std::cout << " -s " << name;
    for (const std::string& name : option->get_lnames()) std::cout << " -l " << name;
    if (option->get_expected_max() > 0 && option->get_type_size_max() > 0) std::cout << " -r";
    std::cout << " -d " << single_quoted(option->get_description()) << '\n';
  }
}

void write_fish_verbs(const CLI::App& app, const std::string& seen) {
  std::string others;
  for (const CLI::App* verb : verbs_of(app)) others += " " + verb->get_name();
  const std::string here = (seen.empty() ? "" : "__fish_seen_subcommand_from " + seen + "; and ") +
                           "not __fish_seen_subcommand_from" + others;
  for (const CLI::App* verb : verbs_of(app)) {
    std::cout << "complete -c cordon -n " << single_quoted(here) << " -f -a " << verb->get_name() << " -d "
              << single_quoted(verb->get_description()) << '\n';
    write_fish_options(*verb, "__fish_seen_subcommand_from " + verb->get_name());
    if (!verbs_of(*verb).empty()) write_fish_verbs(*verb, verb->get_name());
  }
}

void write_fish(const CLI::App& root) {
  std::cout << "# fish completion for cordon\n";
  write_fish_options(root, "");
  write_fish_verbs(root, "");
}

}  // namespace

void define_completion(CommandLine& line) {
  CLI::App& verb = line.verb("completion", "Print the completion script for your shell");
  const auto shell = std::make_shared<std::string>();
  verb.add_option("SHELL", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  line.does(verb, [&line, shell] {
    if (*shell == "bash") write_bash(line.root());
    if (*shell == "zsh") write_zsh(line.root());
    if (*shell == "fish") write_fish(line.root());
    return exit_code::done;
  });
}

}  // namespace cordon::app
