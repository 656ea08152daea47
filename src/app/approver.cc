// cordon approver: who may approve and loosen.
#include "approve/approver.h"

#include <iostream>

#include "app/changes.h"
#include "app/presence.h"
#include "app/terminal.h"
#include "app/verbs.h"
#include "base/json.h"

namespace cordon::app {

namespace {

struct Options {
  bool unattended = false;
  PresenceOptions presence;
};

Result<void> set_passphrase(const approve::ApproverStore& store) {
  const std::string first = TRY(ask_secret("New passphrase: "));
  if (TRY(ask_secret("Once more: ")) != first) return fail(Fault::invalid_input, "the two passphrases differ");
  return store.set_passphrase(first);
}

Result<int> init(const GlobalOptions& global, const Options& options) {
  const approve::ApproverStore store(TRY(state_directory(global)));
  if (!global.agent.empty()) return fail(Fault::denied, "an agent cannot make itself an approver");
  // Replacing an approver takes the power from who has it, so that one must agree.
  if (TRY(store.read())) TRY(prove_presence(global, options.presence, "Replace the approver?"));
  CHECK_OK(record_change(global, RecordKind::config_changed,
                         options.unattended ? "approver init: a token" : "approver init: a passphrase", {}));
  if (options.unattended) {
    const std::string token = TRY(store.make_token());
    if (global.json)
      std::cout << Json{{"token", token}}.dump(2) << '\n';
    else
      std::cout << token << '\n';
    if (!global.quiet) std::cerr << "Keep this token where no agent can read it. It is not shown again.\n";
    return exit_code::done;
  }
  CHECK_OK(set_passphrase(store));
  std::cerr << "Set. From now on approving and loosening ask for this passphrase.\n";
  return exit_code::done;
}

Result<int> status(const GlobalOptions& global) {
  const auto approver = TRY(approve::ApproverStore(TRY(state_directory(global))).read());
  const char* kind = !approver ? "none" : approver->kind == approve::Approver::Kind::token ? "token" : "passphrase";
  if (global.json)
    std::cout << Json{{"approver", kind}}.dump(2) << '\n';
  else
    std::cout << "Approver: " << kind << (approver ? "" : " (run: cordon approver init)") << '\n';
  return exit_code::done;
}

}  // namespace

void define_approver(CommandLine& line) {
  const Verb verb = line.verb("approver", "Set who may approve and loosen");
  verb.require_part();
  const auto options = std::make_shared<Options>();
  const Verb init_verb = CommandLine::part(verb, "init", "Set a passphrase, asked for from then on");
  init_verb.add_flag("--unattended", options->unattended,
                     "Print a token once instead, for set-up scripts and services");
  add_presence_options(init_verb, options->presence);
  init_verb.example("cordon approver init");
  init_verb.exits(exit_code::refused, "no presence: not a terminal, or not the approver's secret");
  line.does(init_verb, [&line, options] { return finish(init(line.global(), *options)); });
  const Verb status_verb = CommandLine::part(verb, "status", "Say whether an approver is set");
  status_verb.example("cordon approver status");
  line.does(status_verb, [&line] { return finish(status(line.global())); });
}

}  // namespace cordon::app
