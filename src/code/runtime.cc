#include "code/runtime.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>

#include "base/digest.h"
#include "code/wire.h"
#include "sys/own_program.h"

namespace cordon::code {

namespace {

constexpr const char* runner_inside = "/run/cordon-runner";
// The runner ends a run at its deadline and tells so; the sandbox ends a runner that cannot.
constexpr std::uint64_t grace_ms = 300;
constexpr std::uint64_t most_output_written = 256ULL << 20;
constexpr std::uint64_t largest_state = 512ULL << 20;

/// Everything under /usr is in the sandbox already.
bool visible_inside(const std::string& path) { return path.starts_with("/usr/"); }

const char* runner_mode(const Language& language) {
  switch (language.engine) {
    case Engine::javascript:
      return "javascript";
    case Engine::python:
      return "python";
    case Engine::program:
      // A shell reads its script as it goes: it can be started before there is one.
      return language.command.front() == "bash" ? "shell" : "program";
  }
  return "program";
}

class CodeIo : public sandbox::Io {
 public:
  CodeIo(const CodeRequest& request, std::string input, ReplyReader& reader, KeptStream& out, KeptStream& err)
      : request_(request), input_(std::move(input)), reader_(reader), out_(out), err_(err) {}
  void output(sandbox::Stream stream, std::string_view bytes) override {
    if (stream == sandbox::Stream::err) return err_.add(bytes);
    reader_.feed(bytes, [this](std::string_view raw) { out_.add(raw); });
  }
  std::string_view input_text() override { return input_; }
  std::optional<int> input_descriptor() override { return request_.input_descriptor; }

 private:
  const CodeRequest& request_;
  std::string input_;
  ReplyReader& reader_;
  KeptStream& out_;
  KeptStream& err_;
};

}  // namespace

Result<Runtime> Runtime::open(std::string runner) {
  if (runner.empty()) {
    runner = TRY(sys::beside_own_program("../libexec/cordon/cordon-runner"));
  }
  char resolved[PATH_MAX];
  if (!::realpath(runner.c_str(), resolved) || ::access(resolved, X_OK) != 0) {
    return fail(Fault::unavailable, "{} is missing: code can not be run (is Cordon installed whole?)", runner);
  }
  return Runtime(resolved);
}

Profile Runtime::with_runner(Profile base, std::vector<std::string> words) const {
  Profile profile = std::move(base);
  const bool there = visible_inside(runner_);
  if (!there) profile.binds.push_back({runner_, runner_inside, Bind::Access::ro});
  words.insert(words.begin(), there ? runner_ : runner_inside);
  profile.program = {};
  profile.program.argv = std::move(words);
  profile.program.waits_for_input = true;
  profile.input = Input::given;
  profile.tty = false;
  // One thread per library: a sandbox for a snippet is no place for a pool.
  profile.environment.emplace_back("OPENBLAS_NUM_THREADS", "1");
  profile.limits.output_bytes = 0;
  profile.limits.output_kill_bytes = most_output_written;
  return profile;
}

Profile Runtime::profile_for(const Language& language, const CodeRequest& request, Profile base) const {
  // Started ahead, an interpreter is for one call: its own mode. Arguments and files come with the request.
  Profile profile = with_runner(std::move(base), {runner_mode(language)});
  profile.limits.wall_ms = request.timeout_ms + grace_ms;
  return profile;
}

Profile Runtime::profile_for_session(const Language& language, Profile base) const {
  Profile profile = with_runner(std::move(base), {runner_mode(language), "stay"});
  profile.program.waits_for_input = false;
  profile.limits.wall_ms = 0;
  profile.limits.output_kill_bytes = 0;
  return profile;
}

std::string encode_request(const Language& language, const CodeRequest& request, const std::string& token,
                           const Profile& profile, const EngineState* state) {
  using wire::append;
  using wire::Tag;
  std::string message;
  append(message, Tag::token, token);
  append(message, Tag::code, request.code);
  append(message, Tag::code_name, language.code_name);
  for (std::string_view word : language.command) append(message, Tag::command, word);
  for (std::string_view word : language.compile) append(message, Tag::compile, word);
  for (const std::string& argument : request.arguments) append(message, Tag::argument, argument);
  for (const auto& [name, content] : request.files) append(message, Tag::file, name + '\0' + content);
  append(message, Tag::deadline, std::to_string(request.timeout_ms));
  append(message, Tag::memory, std::to_string(request.engine_memory));
  append(message, Tag::artifacts, std::to_string(language.engine == Engine::javascript ? 0 : request.max_artifacts));
  if (profile.workspace.access != WorkspaceAccess::none) {
    append(message, Tag::directory, profile.cwd.empty() ? profile.workspace.path : profile.cwd);
  }
  if (state) {
    if (!state->before.empty()) append(message, Tag::snapshot, state->before);
    append(message, Tag::keep, "1");
  }
  append(message, Tag::go, {});
  return message;
}

Result<std::string> make_token() { return to_hex(TRY(random_bytes(wire::token_length / 2))); }

CodeResult Runtime::run(const Language& language, const CodeRequest& request, Clearance clearance,
                        RunContext context) const {
  auto token = make_token();
  if (!token) return refused(token.error());
  const std::size_t records = (context.state ? largest_state : 0) + 2 * request.max_artifacts + (64ULL << 20);
  ReplyReader reader(*token, records, ReplyReader::Start::with_ready_byte);
  KeptStream output(request.max_output, sandbox::Stream::out, context.sink);
  KeptStream errors(request.max_output, sandbox::Stream::err, context.sink);
  std::string input = encode_request(language, request, *token, clearance.profile(), context.state);
  input += request.input;
  CodeIo io(request, std::move(input), reader, output, errors);
  const std::uint64_t memory = clearance.profile().limits.memory_bytes;
  RunReport report = context.sandbox.run(std::move(clearance), io, std::move(context.stop));
  reader.finish([&](std::string_view raw) { output.add(raw); });
  if (context.state) context.state->after = std::move(reader.reply().snapshot);
  return conclude({language, request, reader.reply(), output, errors, memory}, std::move(report));
}

}  // namespace cordon::code
