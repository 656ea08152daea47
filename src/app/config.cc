// cordon config: what the settings files say, and what counts.
#include <unistd.h>

#include <iostream>

#include "app/surroundings.h"
#include "app/terminal.h"
#include "app/verbs.h"
#include "base/text.h"
#include "config/bind.h"
#include "config/describe.h"

namespace cordon::app {

namespace {

struct Options {
  bool effective = false;
  bool origin = false;
};

Result<config::Sources> sources(const GlobalOptions& global) { return sources_of(global, TRY(current_directory())); }

std::string counts(std::size_t number, const char* one, const char* many) {
  return fmt::format("{} {}", number, number == 1 ? one : many);
}

void print_remarks(const config::Loaded& loaded) {
  for (const config::Remark& remark : loaded.remarks) {
    const bool warning = remark.kind == config::Remark::Kind::warning;
    std::cerr << styled(warning ? "warning:" : "note:", warning ? Style::yellow : Style::dim, STDERR_FILENO) << ' '
              << visible(remark.sentence, Lines::escape) << '\n';
  }
}

void print_ignored(const config::Loaded& loaded) {
  for (const config::Ignored& ignored : loaded.ignored) {
    std::cerr << styled("ignored:", Style::yellow, STDERR_FILENO) << ' ' << ignored.origin.text() << ": " << ignored.key
              << " = " << visible(ignored.value, Lines::escape) << " (" << ignored.reason << ")\n";
  }
}

Json to_json(const config::Loaded& loaded) {
  Json files = Json::array(), remarks = Json::array(), ignored = Json::array();
  for (const config::SourceFile& file : loaded.files) {
    files.push_back({{"path", file.path}, {"state", config::name_of(file.state)}});
  }
  for (const config::Remark& remark : loaded.remarks) {
    remarks.push_back({{"kind", remark.kind == config::Remark::Kind::warning ? "warning" : "note"},
                       {"sentence", visible(remark.sentence, Lines::escape)}});
  }
  for (const config::Ignored& entry : loaded.ignored) {
    ignored.push_back({{"key", entry.key},
                       {"value", visible(entry.value, Lines::escape)},
                       {"origin", entry.origin.text()},
                       {"reason", entry.reason}});
  }
  return {{"files", files}, {"remarks", remarks}, {"ignored", ignored}};
}

Result<int> check(const GlobalOptions& global) {
  const config::Loaded loaded = TRY(config::load(TRY(sources(global))));
  if (global.json) {
    Json answer = {{"ok", true}};
    answer.update(to_json(loaded));
    std::cout << answer.dump(2) << '\n';
    return exit_code::done;
  }
  print_remarks(loaded);
  print_ignored(loaded);
  std::size_t read = 0;
  for (const config::SourceFile& file : loaded.files) {
    if (file.state == config::SourceFile::State::missing) continue;
    ++read;
    if (!global.quiet) std::cout << file.path << ": " << config::name_of(file.state) << '\n';
  }
  if (!global.quiet) std::cout << counts(read, "file", "files") << " read, no errors\n";
  return exit_code::done;
}

Result<int> show(const GlobalOptions& global, const Options& options) {
  const config::Loaded loaded = TRY(config::load(TRY(sources(global))));
  const auto rows = config::describe(loaded.settings);
  if (global.json) {
    Json settings = Json::array();
    for (const config::Described& row : rows) {
      if (!options.effective && row.origin.file.empty()) continue;
      settings.push_back({{"key", row.key}, {"value", row.value}, {"origin", row.origin_text()}});
    }
    Json answer = {{"settings", settings}};
    answer.update(to_json(loaded));
    std::cout << answer.dump(2) << '\n';
    return exit_code::done;
  }
  print_remarks(loaded);
  print_ignored(loaded);
  for (const config::SourceFile& file : loaded.files) {
    if (file.state == config::SourceFile::State::untrusted || file.state == config::SourceFile::State::changed) {
      std::cerr << styled(config::name_of(file.state), Style::yellow, STDERR_FILENO) << ": " << file.path
                << " can only tighten until you run: cordon trust\n";
    }
  }
  for (const config::Described& row : rows) {
    if (!options.effective && row.origin.file.empty()) continue;
    std::cout << row.key << " = " << visible(row.text, Lines::escape);
    if (options.origin) std::cout << "  " << styled("# " + row.origin_text(), Style::dim, STDOUT_FILENO);
    std::cout << '\n';
  }
  return exit_code::done;
}

}  // namespace

void define_config(CommandLine& line) {
  const Verb verb = line.verb("config", "Look at the settings");
  verb.require_part();
  const auto options = std::make_shared<Options>();
  const Verb check_verb = CommandLine::part(verb, "check", "Read every settings file and say what is wrong");
  check_verb.example("cordon config check --workspace ~/project");
  line.does(check_verb, [&line] { return finish(check(line.global())); });
  const Verb show_verb = CommandLine::part(verb, "show", "Print the settings that files say");
  show_verb.add_flag("--effective", options->effective, "All settings that count, defaults too");
  show_verb.add_flag("--origin", options->origin, "With the file and line of each");
  show_verb.example("cordon config show --effective --origin");
  line.does(show_verb, [&line, options] { return finish(show(line.global(), *options)); });
}

}  // namespace cordon::app
