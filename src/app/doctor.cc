// cordon doctor: what isolation this machine can give, and whether agents' hooks answer; found by trying.
#include "sandbox/native/doctor.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "app/probe.h"
#include "app/terminal.h"
#include "app/verbs.h"
#include "base/json.h"
#include "base/text.h"

namespace cordon::app {

namespace {

using sandbox::native::Check;

void print(const Check& check) {
  const char* word = check.works ? "ok" : check.needed ? "MISSING" : "without";
  const Style style = check.works ? Style::green : check.needed ? Style::red : Style::yellow;
  std::cout << styled(fmt::format("{:<8}", word), style, STDOUT_FILENO) << check.name;
  if (!check.detail.empty()) std::cout << ": " << visible(check.detail, Lines::escape);
  std::cout << '\n';
  if (!check.fix.empty()) std::cout << "        " << visible(check.fix, Lines::keep) << '\n';
}

Result<int> run(const GlobalOptions& global) {
  std::vector<Check> checks = sandbox::native::examine();
  for (Check& check : probe_hooks(global)) checks.push_back(std::move(check));
  const bool sound =
      std::all_of(checks.begin(), checks.end(), [](const Check& check) { return check.works || !check.needed; });
  if (!global.json) {
    for (const Check& check : checks) print(check);
    return sound ? exit_code::done : exit_code::trouble;
  }
  Json list = Json::array();
  for (const Check& check : checks) {
    list.push_back({{"name", check.name},
                    {"works", check.works},
                    {"needed", check.needed},
                    {"detail", visible(check.detail, Lines::escape)},
                    {"fix", visible(check.fix, Lines::keep)}});
  }
  std::cout << Json{{"ok", sound}, {"checks", list}}.dump(2) << '\n';
  return sound ? exit_code::done : exit_code::trouble;
}

}  // namespace

void define_doctor(CommandLine& line) {
  const Verb verb =
      line.verb("doctor", "Try every step of isolation and every installed hook, and say how to get what is missing");
  verb.example("cordon doctor --json");
  verb.exits(0, "all that is needed is there");
  verb.exits(1, "something needed is missing");
  line.does(verb, [&line] { return finish(run(line.global())); });
}

}  // namespace cordon::app
