#include "app/exec_answer.h"

#include <unistd.h>

#include <iostream>

#include "app/terminal.h"
#include "base/text.h"

namespace cordon::app {

namespace {

std::string text_of(const Json& json) {
  return json.is_string() ? visible(json.get<std::string>(), Lines::escape) : "";
}

/// What was refused, and the lines that would allow it, ready to be copied.
void say_network(const Json& network) {
  for (const Json& contact : network.value("contacts", Json::array())) {
    const std::string what = text_of(contact["what"]);
    if (what != "refused" && what != "failed") continue;
    std::cerr << "cordon: network: ";
    if (const std::string host = text_of(contact["host"]); !host.empty()) {
      std::cerr << host << ':' << contact["port"].dump() << ' ';
    }
    std::cerr << what << ": " << text_of(contact.value("reason", Json()));
    if (contact.contains("count")) std::cerr << " (" << contact["count"].dump() << " times)";
    std::cerr << '\n';
  }
  const Json rules = network.value("rules_to_allow", Json::array());
  if (rules.empty()) return;
  std::cerr << "cordon: to allow it, add under Network in SANDBOX.md and run: cordon trust\n";
  for (const Json& rule : rules) std::cerr << "- " << text_of(rule) << '\n';
}

/// Beside the command's own output. `object` is the exec object, whoever made it.
void say(const GlobalOptions& global, const Json& object, const std::string& sentence) {
  for (const Json& alert : object.value("alerts", Json::array())) {
    std::cerr << styled("cordon: " + text_of(alert), Style::red, STDERR_FILENO) << '\n';
  }
  if (!sentence.empty()) std::cerr << styled("cordon:", Style::red, STDERR_FILENO) << ' ' << sentence << '\n';
  if (object["blocked"] == true) {
    for (const Json& safer : object["safety"]["safer"]) std::cerr << "  safer: " << text_of(safer) << '\n';
  }
  for (const Json& one : object["quarantined"]) {
    std::cerr << "cordon: " << text_of(one["path"]) << " is protected; what the command made there was moved to "
              << text_of(one["kept"]) << '\n';
  }
  for (const Json& violation : object["violations"]) {
    std::cerr << "cordon: refused inside: " << text_of(violation["what"]) << " (" << text_of(violation["rule"]) << ")";
    if (violation["allow"].is_string()) std::cerr << "; to allow it: " << text_of(violation["allow"]);
    std::cerr << '\n';
  }
  say_network(object.value("network", Json::object()));
  const bool cut_out = object["truncated"]["stdout"] == true;
  if ((cut_out || object["truncated"]["stderr"] == true) && !global.quiet) {
    std::cerr << "cordon: " << (cut_out ? "stdout" : "stderr") << " was cut at the output limit\n";
  }
}

}  // namespace

int show_answer(const GlobalOptions& global, const ExecOptions& options, const serve::socket::Answer& answer) {
  if (global.json) {
    std::cout << answer.object.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
  } else {
    say(global, answer.object, answer.sentence);
    if (!options.from.empty() && answer.object["queued"] == true) {
      std::cerr
          << "cordon: you cannot approve it; tell the user what it is for, ask them to run that, then run the same "
             "command again\n";
    }
  }
  return answer.exit;
}

int finish_exec(const GlobalOptions& global, const Result<int>& result) {
  if (result) return *result;
  const bool denied = result.error().fault == Fault::denied;
  if (global.json) {
    std::cout << Json{{"success", false},
                      {"executed", false},
                      {"queued", false},
                      {"blocked", denied},
                      {"error", visible(result.error().sentence, Lines::escape)}}
                     .dump(2)
              << '\n';
  } else {
    complain(result.error());
  }
  if (result.error().fault == Fault::invalid_input) return exit_code::trouble;
  return denied ? exit_code::refused : exit_code::not_run;
}

}  // namespace cordon::app
