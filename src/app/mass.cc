// mass: the clean room. What runs there sees a throwaway view of the current directory, and nothing stays.
#include <unistd.h>

#include <iostream>

#include "app/guard_for.h"
#include "app/streams.h"
#include "app/terminal.h"
#include "app/verbs.h"
#include "base/text.h"
#include "guard/backend.h"

namespace cordon::app {

namespace {

struct Options {
  std::vector<std::string> command;
  RequestOptions request;
  std::string timeout;
  std::string backend;
  bool input = false;
};

Result<int> run(const GlobalOptions& global, const Options& options) {
  if (options.command.empty())
    return fail(Fault::invalid_input, "say which command, e.g.: mass 'python3 untrusted.py'");
  const SystemClock clock;
  RequestOptions given = options.request;
  given.text = command_text(options.command);
  Request request = TRY(request_from(global, given));
  request.backend = TRY(guard::backend_named(options.backend));
  request.clean_room = true;
  request.input_given = options.input;
  if (!options.timeout.empty()) request.wall_ms = TRY(milliseconds_of(options.timeout, "--timeout"));
  auto guard = TRY(guard_for(global, request, options.request.presence, clock));
  const StopOnSignal stop;
  if (global.json) {
    sandbox::CapturedIo io;
    const guard::Execution execution = guard.execute(request, {}, io, stop.token());
    std::cout << guard::to_json(execution, {io.out, io.err}).dump(2, ' ', false, Json::error_handler_t::replace)
              << '\n';
    return guard::exit_code_of(execution);
  }
  guard::Execution execution;
  {
    PassingIo io(PassingIo::Progress::off, options.input);
    execution = guard.execute(request, {}, io, stop.token());
  }
  if (const std::string sentence = guard::sentence_of(execution); !sentence.empty()) {
    std::cerr << styled("cordon:", Style::red, STDERR_FILENO) << ' ' << sentence << '\n';
  }
  return guard::exit_code_of(execution);
}

}  // namespace

void define_mass(CommandLine& line) {
  const Verb verb = line.verb("mass", "Run a command in the clean room: no network, no secrets, nothing stays");
  const auto options = std::make_shared<Options>();
  verb.add_option("COMMAND", options->command, "The command, quoted as one word (or words after --)").type_name("TEXT");
  verb.add_option("--timeout", options->timeout, "End it after this time, e.g. 30s, 5m or 1500 (ms)").type_name("TIME");
  verb.add_option("--backend", options->backend, "How it is isolated: auto, native, docker, gvisor or runc")
      .type_name("NAME");
  verb.add_flag("-i,--stdin", options->input, "Give it this process's standard input");
  add_presence_options(verb, options->request.presence);
  verb.example("mass 'python3 untrusted_script.py'");
  verb.exits(exit_code::timed_out, "ended by its time limit");
  verb.exits(exit_code::not_run, "could not be run; nothing ran");
  verb.exits(exit_code::refused, "refused");
  line.does(verb, [&line, options] { return finish(run(line.global(), *options)); });
}

}  // namespace cordon::app
