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

std::string spelled(const OptionShape& option) {
  std::string names;
  for (const std::string& flag : option.flags()) names += (names.empty() ? "" : ", ") + flag;
  if (names.empty()) return option.argument;
  return option.takes_value ? names + " " + option.type_name : names;
}

void write_options(const VerbShape& verb) {
  for (const OptionShape& option : verb.options) {
    std::cout << ".TP\n.B " << roff(spelled(option)) << '\n' << roff(option.description) << '\n';
  }
}

void write_notes(const VerbShape& verb) {
  for (const auto& [code, meaning] : verb.exits) {
    std::cout << ".TP\nexits " << code << '\n' << roff(meaning) << '\n';
  }
  if (verb.examples.empty()) return;
  std::cout << ".PP\nExample:\n.PP\n.nf\n.RS\n";
  for (const std::string& example : verb.examples) std::cout << roff(example) << '\n';
  std::cout << ".RE\n.fi\n";
}

void write_verbs(const VerbShape& verb, const std::string& path) {
  for (const VerbShape& part : verb.parts) {
    const std::string name = path + " " + part.name;
    std::cout << ".SS " << roff(name) << '\n' << roff(part.description) << ".\n";
    write_options(part);
    write_notes(part);
    write_verbs(part, name);
  }
}

int run(const VerbShape& root) {
  std::cout << ".TH CORDON 1 \"\" \"cordon " CORDON_VERSION "\" \"User Commands\"\n"
            << ".SH NAME\ncordon \\- " << roff("judge, approve, isolate and record what AI agents run") << '\n'
            << ".SH SYNOPSIS\n.B cordon\n[OPTIONS] VERB [ARGUMENTS]\n"
            << ".SH DESCRIPTION\n"
            << roff(root.description) << '\n'
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
  const Verb verb = line.verb("manual", "Print the manual page (roff)");
  verb.example("cordon manual | man -l -");
  line.does(verb, [&line] { return run(line.shape()); });
}

}  // namespace cordon::app
