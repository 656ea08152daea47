// The manual page, made from the definition of the command line.
#include <iostream>

#include "app/verbs.h"

namespace cordon::app {

namespace {

std::string roff(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\')
      escaped += "\\e";
    else if (c == '-')
      escaped += "\\-";
    else if ((c == '.' || c == '\'') && (escaped.empty() || escaped.back() == '\n'))
      escaped += std::string("\\&") + c;
    else
      escaped += c;
  }
  return escaped;
}

bool shown(const CLI::Option* option) { return !option->get_group().empty(); }

std::string spelled(const CLI::Option* option) {
  std::string names;
  for (const std::string& name : option->get_snames()) names += (names.empty() ? "-" : ", -") + name;
  for (const std::string& name : option->get_lnames()) names += (names.empty() ? "--" : ", --") + name;
  if (names.empty()) return option->get_name(true);
  if (option->get_expected_max() > 0 && option->get_type_size_max() > 0) names += " " + option->get_type_name();
  return names;
}

void write_options(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (!shown(option)) continue;
    std::cout << ".TP\n.B " << roff(spelled(option)) << '\n' << roff(option->get_description()) << '\n';
  }
}

void write_verbs(const CLI::App& app, const std::string& path) {
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App* a) { return !a->get_group().empty(); })) {
    const std::string name = path + " " + verb->get_name();
    std::cout << ".SS " << roff(name) << '\n' << roff(verb->get_description()) << ".\n";
    write_options(*verb);
    write_verbs(*verb, name);
  }
}

int run(const CLI::App& root) {
  std::cout << ".TH CORDON 1 \"\" \"cordon " CORDON_VERSION "\" \"User Commands\"\n"
            << ".SH NAME\ncordon \\- " << roff("judge, approve, isolate and record what AI agents run") << '\n'
            << ".SH SYNOPSIS\n.B cordon\n[OPTIONS] VERB [ARGUMENTS]\n"
            << ".SH DESCRIPTION\n"
            << roff(root.get_description()) << '\n'
            << ".SH OPTIONS\nThese stand before or after the verb.\n";
  write_options(root);
  std::cout << ".SH VERBS\n";
  write_verbs(root, "cordon");
  std::cout << ".SH EXIT STATUS\n"
               ".TP\n0\nDone.\n.TP\n1\nWrong usage or an internal error, with a sentence on standard error.\n"
               ".TP\n2, 3\nFrom check: critical or disallowed; dangerous.\n"
               ".TP\n75\nQueued for approval.\n.TP\n124\nTimed out.\n.TP\n125\nCordon could not run it; nothing ran.\n"
               ".TP\n126\nRefused.\n"
               ".SH FILES\n.TP\n.I SANDBOX.md\nRules of a workspace.\n"
               ".TP\n.I .cordon/config.json5\nSettings of a workspace.\n"
               ".TP\n.I ~/.config/cordon/config.json5\nYour settings.\n"
               ".TP\n.I $XDG_STATE_HOME/cordon\nTrust, allowlist, queue and log.\n";
  return exit_code::done;
}

}  // namespace

void define_manual(CommandLine& line) {
  CLI::App& verb = line.verb("manual", "Print the manual page (roff; try: cordon manual | man -l -)");
  line.does(verb, [&line] { return run(line.root()); });
}

}  // namespace cordon::app
