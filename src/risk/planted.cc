// What is planted for somebody else to run: settings whose lines are commands, workflows of a forge, files that run
// unasked.
#include <algorithm>

#include "risk/judge.h"

namespace cordon::risk {

namespace {

/// The command without what belongs to the line around it: a comma, a bracket, a quote that was opened before it.
std::string_view without_end(std::string_view line) {
  std::string_view command = line.substr(0, line.find_last_not_of(" \t\r,)]}") + 1);
  for (char quote : {'"', '\''}) {
    if (command.ends_with(quote) && std::count(command.begin(), command.end(), quote) % 2 == 1)
      command.remove_suffix(1);
  }
  return command;
}

bool is_command_key(std::string_view key) {
  const std::size_t end = key.find_last_not_of(" \t\"'");
  key = key.substr(0, end == std::string_view::npos ? 0 : end + 1);
  return key == "command" || key == "run" || key == "cmd" || key == "entry" || key == "script" || key == "shell";
}

}  // namespace

/// Settings whose lines may be commands: "command = rm -rf x", "- run: rm -rf x", "COMMAND rm -rf x".
void Judge::run_lines(Run& run, std::string_view text, const Arg& arg) {
  while (!text.empty() && !too_deep(run)) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    bool said = false;  // that what follows is a command
    // What follows each mark that may stand before a command, from the outermost on.
    for (std::size_t tries = 0; tries < 12 && !line.empty(); ++tries) {
      line.remove_prefix(std::min(line.find_first_not_of(" \t-\"'[{>|@"), line.size()));
      std::string_view command = without_end(line);
      if (begins_a_command(command) || said) {
        shell_text(run, synthetic(std::string(command), arg), {});
        break;
      }
      const std::size_t mark = line.find_first_of(":=\"'(");
      const std::size_t word = line.find("COMMAND ");
      if (mark == std::string_view::npos && word == std::string_view::npos) break;
      said = mark != std::string_view::npos && is_command_key(line.substr(0, mark)) &&
             line.find_first_not_of(" :=|>\"'[{") != std::string_view::npos &&
             line.find_first_not_of(" |>-+", std::min(mark + 1, line.size())) != std::string_view::npos &&
             line[mark] != '(' && line.find('{', mark) == std::string_view::npos;
      line.remove_prefix(word != std::string_view::npos ? word + 8 : mark + 1);
    }
  }
}

namespace {

/// The shell text of a workflow's line: without "- run:" before it, and with what the forge puts in as variables.
std::string workflow_line(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t-"), line.size()));
  for (std::string_view key : {"run:", "script:"}) {
    const std::size_t at = line.starts_with('{') || line.find("[{") != std::string_view::npos ? line.find(key) : 0;
    if (at == std::string_view::npos || !line.substr(at).starts_with(key)) continue;
    line.remove_prefix(at + key.size());
    line = without_end(line);
  }
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  if (line.size() > 1 && (line[0] == '"' || line[0] == '\'') && line.ends_with(line[0]))
    line = line.substr(1, line.size() - 2);
  std::string text;
  while (!line.empty()) {
    const std::size_t open = std::min(line.find("${{"), line.size());
    text += line.substr(0, open);
    line.remove_prefix(open);
    if (line.empty()) break;
    const std::size_t close = std::min(line.find("}}"), line.size());
    const bool secret = line.substr(0, close).find("secrets") != std::string_view::npos;
    text += secret ? "${FORGE_SECRET}" : "${FORGE_VALUE}";
    line.remove_prefix(std::min(close + 2, line.size()));
  }
  return text;
}

}  // namespace

/// cat > .github/workflows/x.yml <<E …; git commit: the forge's machines will run it, with the forge's secrets. That a
/// workflow builds, deletes and installs is its job; what counts is a line that fetches or sends.
void Judge::committed_workflows(Run& run) {
  if (run.sorted.program->name.view() != "git" || run.sorted.chain.size() < 2 || run.rehearsal) return;
  const std::string_view verb = run.sorted.chain[1]->name.view();
  if (verb != "push" && verb != "commit") return;
  std::vector<std::string> lines;
  for (const auto& [path, text] : written_) {
    if (!listed("workflow", path)) continue;
    if (!may_copy(text.size())) {
      raise(run, "shell.limit", run.where);
      return;
    }
    const bool by_the_clock = text.find("cron:") != std::string::npos && text.find("self-hosted") != std::string::npos;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const std::string_view line = std::string_view(text).substr(at, end - at);
      const bool fetches = line.find("curl ") != std::string_view::npos || line.find("wget ") != std::string_view::npos;
      // Many a workflow fetches its tools; what it does with secrets, or by the clock on a machine of one's own, counts
      // before it is pushed.
      const bool counts = fetches && (verb == "push" || by_the_clock || line.find("secrets") != std::string_view::npos);
      if (counts && picks_up(path + ":" + std::to_string(at))) lines.push_back(workflow_line(line));
      at = end + 1;
    }
  }
  const Frame before = run.frame;
  run.frame.away = true;
  for (std::string& line : lines) {
    if (!too_deep(run)) shell_text(run, synthetic(std::move(line), run.words[0]), {});
  }
  run.frame = before;
}

namespace {

bool names_interpreter(std::string_view after_pipe) {
  after_pipe.remove_prefix(std::min(after_pipe.find_first_not_of(" \t|"), after_pipe.size()));
  const std::string_view word = after_pipe.substr(0, after_pipe.find_first_of(" \t\"')\\;&,]}"));
  for (std::string_view name : {"sh", "bash", "zsh", "dash", "python", "python3", "perl", "ruby", "node", "sudo"}) {
    if (word == name) return true;
  }
  return false;
}

/// curl … | sh, exec(urlopen(…)): never an ordinary line of a file that runs unasked. Of a makefile only what it does
/// while it is read counts, $(shell …); its targets may well install tools.
bool fetches_and_runs(std::string_view text, bool makefile) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    auto find = [&](std::string_view part) { return line.find(part); };
    if (makefile && find("$(shell") == std::string_view::npos) continue;
    const std::size_t fetch = std::min(find("curl "), find("wget "));
    const std::size_t pipe = fetch == std::string_view::npos ? fetch : line.find('|', fetch);
    if (pipe != std::string_view::npos && names_interpreter(line.substr(pipe))) return true;
    const std::size_t evaluates = std::min(find("exec("), find("eval("));
    if (evaluates != std::string_view::npos && std::min(find("urlopen("), find("requests.get(")) > evaluates &&
        (find("urlopen(") != std::string_view::npos || find("requests.get(") != std::string_view::npos))
      return true;
  }
  return false;
}

}  // namespace

bool plants(std::string_view path, std::string_view text) {
  return listed("run_unasked", path) && fetches_and_runs(text, path.ends_with("akefile"));
}

}  // namespace cordon::risk
