// cordon run: code in a room of its own.
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <iostream>

#include "app/answer_here.h"
#include "app/daemon.h"
#include "app/guard_for.h"
#include "app/streams.h"
#include "app/terminal.h"
#include "app/verbs.h"
#include "base/digest.h"
#include "base/text.h"
#include "sys/file.h"

namespace cordon::app {

namespace {

constexpr std::size_t largest_code = 16U << 20;
constexpr std::size_t largest_file = 256U << 20;

struct Options {
  std::string language;
  std::optional<std::string> code;
  std::string file;
  std::vector<std::string> arguments;
  std::vector<std::string> files;
  std::string timeout;
  std::string max_output;
  std::string access;
  std::string fork_of;
  std::optional<std::int64_t> step;
  std::string artifacts;
  std::string approval;
  std::string wait;
  RequestOptions request;
};

Result<std::string> read_code(const std::string& path) {
  if (path != "-") return sys::read_file(path, largest_code);
  const sys::Fd input(::dup(STDIN_FILENO));
  return sys::read_all(input, "standard input", largest_code);
}

/// "data.csv", or "data.csv=/srv/numbers.csv" for another name inside.
Result<std::pair<std::string, std::string>> read_given_file(const std::string& given) {
  const std::size_t equals = given.find('=');
  const std::string path = equals == std::string::npos ? given : given.substr(equals + 1);
  const std::string name =
      equals == std::string::npos ? std::filesystem::path(path).filename().string() : given.substr(0, equals);
  if (name.empty()) return fail(Fault::invalid_input, "--file '{}': write FILE, or NAME=FILE", given);
  return std::pair{name, TRY(sys::read_file(path, largest_file))};
}

Result<std::uint64_t> bytes_of(const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return number;
  return fail(Fault::invalid_input, "--max-output '{}': write a number of bytes", text);
}

Result<WorkspaceAccess> access_named(const std::string& name) {
  if (name.empty() || name == "none") return WorkspaceAccess::none;
  if (name == "ro") return WorkspaceAccess::ro;
  if (name == "rw") return WorkspaceAccess::rw;
  return fail(Fault::invalid_input, "--access '{}': it is none, ro or rw", name);
}

/// The code, where it comes from, and what is left of the words for it.
Result<Snippet> snippet_of(const GlobalOptions& global, const Options& options) {
  Snippet snippet;
  snippet.language = options.language;
  snippet.arguments = options.arguments;
  if (options.code) {
    snippet.code = *options.code;
    // Then what stands in the file's place is the first argument.
    if (!options.file.empty()) snippet.arguments.insert(snippet.arguments.begin(), options.file);
  } else if (!options.file.empty()) {
    const code::Language* language = code::language_of_file(options.file);
    if (snippet.language.empty() && language != nullptr) snippet.language = language->name;
    snippet.code = TRY(read_code(options.file));
  }
  for (const std::string& given : options.files) snippet.files.push_back(TRY(read_given_file(given)));
  if (!options.max_output.empty()) snippet.output_bytes = TRY(bytes_of(options.max_output));
  snippet.session = global.session;
  snippet.fork_of = options.fork_of;
  if (options.step) {
    if (*options.step < 0) return fail(Fault::invalid_input, "--step {}: steps are counted from 0", *options.step);
    snippet.step = static_cast<std::uint64_t>(*options.step);
  }
  snippet.access = TRY(access_named(options.access));
  return snippet;
}

class PassingSink : public code::Sink {
 public:
  explicit PassingSink(PassingIo& io) : io_(io) {}
  void output(sandbox::Stream stream, std::string_view bytes) override { io_.output(stream, bytes); }

 private:
  PassingIo& io_;
};

std::string text_of(const Json& json) {
  return json.is_string() ? visible(json.get<std::string>(), Lines::escape) : "";
}

/// Files that the code made, below a directory that the caller named.
Result<void> keep_artifacts(const std::string& directory, const Json& artifacts) {
  if (directory.empty()) return {};
  for (const Json& artifact : artifacts) {
    // Named inside the sandbox: every part must be a plain name, and nothing that exists is written over.
    const std::filesystem::path path(artifact["path"].get<std::string>());
    for (const auto& part : path) {
      if (path.is_absolute() || part == ".." || part == "." || part.empty()) {
        return fail(Fault::denied, "the code named a file '{}', which is no plain name", path.string());
      }
    }
    const std::filesystem::path target = std::filesystem::path(directory) / path;
    std::error_code error;
    std::filesystem::create_directories(target.parent_path(), error);
    if (error) return fail(Fault::unavailable, "{}: {}", target.parent_path().string(), error.message());
    const auto content = from_base64(artifact.value("base64", ""));
    if (!content) return fail(Fault::corrupt, "the content of {} did not arrive", path.string());
    CHECK_OK(sys::create_file(target.string(), *content, 0644));
  }
  return {};
}

/// Beside the code's own output. `object` is the run object, whoever made it.
void say(const GlobalOptions& global, const Json& object) {
  for (const Json& alert : object.value("alerts", Json::array())) complain({Fault::internal, text_of(alert)});
  if (object["truncated"]["stdout"] == true) std::cerr << "[Output truncated]\n";
  if (object["truncated"]["stderr"] == true) std::cerr << "[Error output truncated]\n";
  if (object["error"].is_string() && (object["executed"] == false || object["killed_by"].is_string())) {
    std::cerr << styled("cordon:", Style::red, STDERR_FILENO) << ' ' << text_of(object["error"]) << '\n';
  }
  if (global.quiet) return;
  for (const Json& artifact : object["artifacts"]) {
    std::cerr << "cordon: it made " << text_of(artifact["path"]) << " (" << text_of(artifact["mime"]) << ", "
              << artifact["bytes"] << " bytes)\n";
  }
  for (const Json& left : object.value("leftOut", Json::array())) {
    std::cerr << "cordon: " << text_of(left["path"]) << " was left behind: " << text_of(left["reason"]) << '\n';
  }
  if (object["session"].is_object() && object["session"]["survived"] == false) {
    std::cerr << "cordon: the session " << text_of(object["session"]["id"]) << " is over\n";
  }
}

/// Here, in this process.
Result<serve::socket::Answer> run_here(const GlobalOptions& global, const Options& options, const Request& request,
                                       const serve::socket::Question& question, bool input) {
  static const SystemClock clock;
  guard::Asking asking;
  asking.approval = question.approval;
  if (question.wait_ms) asking.wait = std::chrono::milliseconds(*question.wait_ms);
  if (!question.wait_ms) asking.on_the_spot = answer_here(global, options.request.presence, request);
  auto guard = TRY(guard_for(global, request, options.request.presence, clock));
  PassingIo io(PassingIo::Progress::off, false);
  PassingSink sink(io);
  guard::CodeStreams streams;
  if (!global.json) streams.sink = &sink;
  if (input) streams.input_descriptor = STDIN_FILENO;
  const StopOnSignal stop;
  const guard::CodeExecution done = guard.run_code(request, asking, streams, stop.token());
  return serve::socket::Answer{guard::to_json(done), guard::exit_code_of(done), ""};
}

Result<int> run(const GlobalOptions& global, const Options& options) {
  Request request = TRY(request_from(global, options.request));
  request.snippet = TRY(snippet_of(global, options));
  if (!options.timeout.empty()) request.wall_ms = TRY(milliseconds_of(options.timeout, "--timeout"));
  serve::socket::Question question{.verb = serve::socket::Verb::run, .request = request, .approval = options.approval};
  if (!options.wait.empty()) question.wait_ms = TRY(milliseconds_of(options.wait, "--wait"));
  question.person_is_there =
      !question.wait_ms && static_cast<bool>(answer_here(global, options.request.presence, request));
  // The code's own input is ours, unless the code itself came from there or a person would have to type it.
  const bool from_input = !options.code && options.file == "-";
  const bool input = !from_input && !is_terminal(STDIN_FILENO);
  std::optional<serve::socket::Answer> answer = TRY(ask_daemon(question, {global, options.request.presence, input}));
  if (!answer) answer = TRY(run_here(global, options, request, question, input));
  if (global.json) {
    std::cout << answer->object.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
  } else {
    say(global, answer->object);
  }
  CHECK_OK(keep_artifacts(options.artifacts, answer->object["artifacts"]));
  return answer->exit;
}

int finish_run(const GlobalOptions& global, const Result<int>& result) {
  if (result) return *result;
  if (global.json) {
    const guard::CodeExecution nothing{{}, code::refused(result.error())};
    std::cout << guard::to_json(nothing).dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
  } else {
    complain(result.error());
  }
  if (result.error().fault == Fault::invalid_input) return exit_code::trouble;
  return result.error().fault == Fault::denied ? exit_code::refused : exit_code::not_run;
}

}  // namespace

void define_run(CommandLine& line) {
  const Verb verb = line.verb("run", "Run code in a room of its own: no network, no files of yours, nothing stays");
  const auto options = std::make_shared<Options>();
  verb.add_option("FILE", options->file, "The code's file, - for standard input").type_name("FILE");
  verb.add_option("ARGUMENT", options->arguments, "Arguments for the code (after -- if they begin with -)")
      .type_name("TEXT");
  verb.add_option("-c,--code", options->code, "The code itself").type_name("CODE");
  verb.add_option("-l,--lang", options->language,
                  "javascript, typescript, python, bash, ruby, perl, lua, php, c or c++ (default: by FILE's ending)")
      .type_name("NAME");
  verb.add_option("--timeout", options->timeout, "End it after this time, e.g. 30s, 5m or 1500 (ms; default 30s)")
      .type_name("TIME");
  verb.add_option("--max-output", options->max_output, "Keep so many bytes of each stream (default 1048576)")
      .type_name("BYTES");
  verb.add_option("--file", options->files, "Place a copy of this file where it runs (NAME=FILE for another name)")
      .type_name("FILE");
  verb.add_option("--artifacts", options->artifacts, "Put the files that it makes below this directory")
      .type_name("DIR");
  verb.add_option("--fork", options->fork_of, "JavaScript: the new --session begins where this one stands")
      .type_name("NAME");
  verb.add_option("--step", options->step, "JavaScript: take the --session back to this step first").type_name("N");
  verb.add_option("--access", options->access, "Give it the workspace, ro or rw; it is then judged as a command is")
      .type_name("none|ro|rw");
  verb.add_option("--approval", options->approval, "Run by this approval").type_name("ID");
  verb.add_option("--wait", options->wait, "If it needs approval, wait for it at most so long and then run")
      .type_name("TIME");
  add_presence_options(verb, options->request.presence);
  verb.example("cordon run --lang python -c 'print(6 * 7)'");
  verb.example("cordon run --file sales.csv --artifacts out report.py -- --year 2026");
  verb.example("cordon run --json --session sums -l js -c 'let total = 40; total + 2'");
  verb.exits(exit_code::queued, "not started: waits for approval");
  verb.exits(exit_code::timed_out, "ended by its time limit");
  verb.exits(exit_code::not_run, "could not be run; nothing ran");
  verb.exits(exit_code::refused, "refused");
  line.does(verb, [&line, options] { return finish_run(line.global(), run(line.global(), *options)); });
}

}  // namespace cordon::app
