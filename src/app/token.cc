// cordon token: bearer tokens for the HTTP interface of `cordon serve`.
#include "serve/token.h"

#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "app/asker.h"
#include "app/changes.h"
#include "app/presence.h"
#include "app/surroundings.h"
#include "app/terminal.h"
#include "app/verbs.h"
#include "base/text.h"

namespace cordon::app {

namespace {

struct Options {
  std::string role;
  std::string expires;
  std::string id;
  PresenceOptions presence;
};

const SystemClock system_clock;

Result<serve::Token> asked_for(const GlobalOptions& global, const Options& options) {
  serve::Token token;
  token.role = options.role == "approver"  ? serve::Role::approver
               : options.role == "auditor" ? serve::Role::auditor
                                           : serve::Role::agent;
  if (!global.agent.empty()) token.agent = global.agent;
  token.session = global.session;
  const config::Sources sources = TRY(sources_of(global, TRY(current_directory())));
  std::error_code error;
  token.workspace = std::filesystem::canonical(sources.workspace, error).string();
  if (error) return fail(Fault::invalid_input, "the workspace {}: {}", sources.workspace, error.message());
  if (options.expires.empty() || options.expires == "never") return token;
  const auto lasts = parse_duration(options.expires);
  if (!lasts || lasts->count() <= 0) {
    return fail(Fault::invalid_input, "--expires '{}': write a time like 12h or 30d, or never", options.expires);
  }
  token.expires_at = system_clock.now() + *lasts;
  return token;
}

Result<int> create(const GlobalOptions& global, const Options& options) {
  const serve::TokenStore store(TRY(state_directory(global)), system_clock);
  if (inside_sandbox()) return fail(Fault::denied, "a token is not made from inside a sandbox");
  const serve::Token token = TRY(asked_for(global, options));
  GlobalOptions person = global;
  // On the command line it names the token's agent; in the environment it says that an agent types.
  if (std::getenv("CORDON_AGENT") == nullptr) person.agent.clear();
  const approve::Presence presence =
      TRY(prove_presence(person, options.presence, "Make a token for the " + options.role + "?"));
  // What answers and reads for a person without one there takes more than a y.
  if (token.role != serve::Role::agent && presence == approve::Presence::confirmed) {
    return fail(Fault::denied,
                "a token of the {} takes the approver's passphrase or token; run first: cordon approver init",
                options.role);
  }
  CHECK_OK(record_change(person, RecordKind::config_changed, "token create: " + options.role,
                         {{"agent", token.agent}, {"session", token.session}, {"workspace", token.workspace}}));
  const std::string text = TRY(store.create(token));
  if (global.json)
    std::cout << Json{{"token", text}, {"id", serve::id_in(text).value_or("")}}.dump(2) << '\n';
  else
    std::cout << text << '\n';
  if (!global.quiet) std::cerr << "It is not shown again. Whoever has it acts as this " << options.role << ".\n";
  return exit_code::done;
}

Result<int> list(const GlobalOptions& global) {
  const Time now = system_clock.now();
  Json shown = Json::array();
  for (const serve::Token& token : TRY(serve::TokenStore(TRY(state_directory(global)), system_clock).list())) {
    if (global.json) {
      shown.push_back(serve::to_json(token, now));
      continue;
    }
    std::cout << fmt::format("{}  {:<8}  {:<7}  expires {:<27}  {} {} {}\n", token.id, serve::name_of(token.role),
                             token.state(now), token.expires_at ? to_rfc3339(*token.expires_at) : "never",
                             visible(token.agent, Lines::escape), visible(token.session, Lines::escape),
                             visible(token.workspace, Lines::escape));
  }
  if (global.json) std::cout << shown.dump(2) << '\n';
  return exit_code::done;
}

Result<int> revoke(const GlobalOptions& global, const Options& options) {
  // It tightens, so a log in trouble does not keep anyone from it.
  const serve::Token token = TRY(serve::TokenStore(TRY(state_directory(global)), system_clock).revoke(options.id));
  CHECK_OK(record_change(global, RecordKind::config_changed, "token revoke: " + token.id, {}));
  if (global.json)
    std::cout << serve::to_json(token, system_clock.now()).dump(2) << '\n';
  else
    std::cout << "Revoked " << token.id << ".\n";
  return exit_code::done;
}

}  // namespace

void define_token(CommandLine& line) {
  const Verb verb = line.verb("token", "Make, list and revoke tokens for the HTTP interface");
  verb.require_part();
  const auto options = std::make_shared<Options>();
  const Verb create_verb = CommandLine::part(verb, "create", "Make a token and show it once");
  create_verb.add_option("--role", options->role, "Whose tools it gives: agent, approver or auditor")
      .type_name("ROLE")
      .required()
      .one_of({"agent", "approver", "auditor"});
  create_verb.add_option("--expires", options->expires, "Counts for so long, e.g. 30d (default: never expires)")
      .type_name("TIME");
  add_presence_options(create_verb, options->presence);
  create_verb.example("cordon token create --role agent --agent coder --expires 30d --workspace ~/project");
  create_verb.exits(exit_code::refused, "no presence: not a terminal, or not the approver's secret");
  line.does(create_verb, [&line, options] { return finish(create(line.global(), *options)); });
  const Verb list_verb = CommandLine::part(verb, "list", "List them, with what each may do and until when");
  list_verb.example("cordon token list");
  line.does(list_verb, [&line] { return finish(list(line.global())); });
  const Verb revoke_verb = CommandLine::part(verb, "revoke", "From now on it does not count");
  revoke_verb.add_option("ID", options->id, "The token's id, as listed").required();
  revoke_verb.example("cordon token revoke tok_0123456789abcdef");
  line.does(revoke_verb, [&line, options] { return finish(revoke(line.global(), *options)); });
}

}  // namespace cordon::app
