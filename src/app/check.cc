// cordon check: what a command would do and how it would be decided; nothing runs.
#include <unistd.h>

#include <iostream>

#include "app/surroundings.h"
#include "app/terminal.h"
#include "app/verbs.h"
#include "base/json.h"
#include "base/text.h"
#include "guard/judge.h"

namespace cordon::app {

namespace {

constexpr std::size_t longest_line = 4U << 20;

struct Options {
  std::vector<std::string> command;
  std::string cwd;
  std::string user;
  bool text = false;
  bool batch = false;
};

int exit_code_of(Risk risk) {
  if (risk >= Risk::critical) return exit_code::critical;
  return risk == Risk::dangerous ? exit_code::dangerous : exit_code::done;
}

Style style_of(Risk risk) {
  if (risk >= Risk::critical) return Style::red;
  return risk == Risk::dangerous ? Style::yellow : Style::green;
}

const char* sentence_of(Action action) {
  switch (action) {
    case Action::allow:
      return "would run";
    case Action::ask:
      return "would wait for approval";
    case Action::deny:
      return "would be refused";
  }
  return "would be refused";
}

void print_text(const guard::Judgement& judgement) {
  const Verdict& verdict = judgement.verdict;
  std::cout << styled(name_of(verdict.risk), style_of(verdict.risk), STDOUT_FILENO) << ": "
            << sentence_of(verdict.action) << (verdict.where == Where::host ? " on the host" : "") << '\n';
  for (const std::string& reason : guard::reasons_of(judgement))
    std::cout << "  - " << visible(reason, Lines::escape) << '\n';
  for (const Effect& effect : judgement.analysis.effects) {
    std::cout << "  " << name_of(effect.kind) << ' ' << visible(effect.target, Lines::escape) << '\n';
  }
  for (const Finding& finding : judgement.analysis.findings) {
    if (!finding.safer.empty()) std::cout << "  safer: " << visible(finding.safer, Lines::escape) << '\n';
  }
  std::cout << "  decided by " << verdict.rule << " (" << verdict.origin.text() << ")\n";
}

/// One line of --batch: a bare command, or {"command", "context": {"working_dir", "user"}, "policy": {"deny": […]}}.
Result<Json> judge_line(const std::string& line, const Surroundings& base) {
  Surroundings here = base;
  std::string command = line;
  if (line.starts_with("{")) {
    const Json json = parse_json(line);
    // A command may begin with a brace too: only an object with a command in it is one of ours.
    if (json.is_object() && json.contains("command")) {
      if (!json["command"].is_string()) return fail(Fault::invalid_input, "\"command\" must be a string");
      command = json["command"].get<std::string>();
      CHECK_OK(here.apply(json));
    }
  }
  return guard::to_json(guard::judge(command, here.circumstances()));
}

Result<int> run_batch(const Surroundings& here) {
  std::ios::sync_with_stdio(false);
  std::string line;
  while (std::getline(std::cin, line)) {
    const auto answer = line.size() > longest_line
                            ? fail(Fault::invalid_input, "a line of more than {} bytes", longest_line)
                            : judge_line(line, here);
    std::cout << (answer ? *answer : Json{{"error", answer.error().sentence}}).dump() << '\n';
    std::cout.flush();
  }
  return exit_code::done;
}

Result<int> run(const GlobalOptions& global, const Options& options) {
  const Surroundings here = TRY(Surroundings::find(global, {.cwd = options.cwd, .user = options.user}));
  if (options.batch) return run_batch(here);
  if (options.command.empty()) {
    return fail(Fault::invalid_input, "say which command, e.g.: sandbox-check 'rm -rf build' (or --batch)");
  }
  const guard::Judgement judgement = guard::judge(command_text(options.command), here.circumstances());
  if (options.text)
    print_text(judgement);
  else
    std::cout << guard::to_json(judgement).dump(2) << '\n';
  return exit_code_of(judgement.verdict.risk);
}

}  // namespace

void define_check(CommandLine& line) {
  const Verb verb = line.verb("check", "Say how risky a command is and how it would be decided; nothing runs");
  const auto options = std::make_shared<Options>();
  verb.add_option("COMMAND", options->command, "The command, quoted as one word (or words after --)").type_name("TEXT");
  verb.add_option("--cwd", options->cwd, "As if started in this directory").type_name("DIR");
  verb.add_option("--user", options->user, "As if started by this user").type_name("NAME");
  verb.add_flag("--text", options->text, "Answer for a person instead of as JSON");
  verb.add_flag("--batch", options->batch, "Read commands (one per line, plain or as JSON objects) from stdin");
  verb.example("sandbox-check 'rm -rf build'");
  verb.example("sandbox-check --batch < commands.txt");
  verb.exits(0, "safe or normal");
  verb.exits(exit_code::dangerous, "dangerous");
  verb.exits(exit_code::critical, "critical or disallowed");
  line.does(verb, [&line, options] { return finish(run(line.global(), *options)); });
}

}  // namespace cordon::app
