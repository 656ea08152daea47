#include "serve/socket/message.h"

#include <array>
#include <filesystem>

#include "base/text.h"
#include "config/workspace.h"
#include "plan/plan.h"

namespace cordon::serve::socket {

namespace {

constexpr std::array verbs = {std::pair{Verb::ping, "ping"}, std::pair{Verb::exec, "exec"},
                              std::pair{Verb::run, "run"}};
constexpr std::array all_passed = {Passed::cwd, Passed::input, Passed::output, Passed::errors};

const char* name_of(Verb verb) {
  for (const auto& [value, name] : verbs) {
    if (value == verb) return name;
  }
  return "ping";
}

/// Everything that settings are found by: a daemon with another home would read other ones.
Json describe(const config::Sources& world) {
  return {{"state", world.state_dir},
          {"home", world.home},
          {"settings", world.user_file},
          {"sockets", world.engine_sockets}};
}

Json encode_snippet(const Snippet& snippet) {
  Json files = Json::array();
  for (const auto& [name, content] : snippet.files) files.push_back({exact(name), exact(content)});
  Json arguments = Json::array();
  for (const std::string& argument : snippet.arguments) arguments.push_back(exact(argument));
  Json json = {{"language", snippet.language},
               {"code", exact(snippet.code)},
               {"arguments", std::move(arguments)},
               {"files", std::move(files)},
               {"maxOutputSize", snippet.output_bytes},
               {"session", snippet.session},
               {"fork", snippet.fork_of},
               {"access", cordon::name_of(snippet.access)}};
  if (snippet.step) json["step"] = *snippet.step;
  return json;
}

/// Fields that may be missing; one of another kind is an error.
class Reader {
 public:
  explicit Reader(const Json& json) : json_(json) {}

  Result<std::string> text(const char* key) const {
    if (!has(key)) return std::string();
    auto value = from_exact(json_[key]);
    if (!value) return fail(Fault::invalid_input, "'{}' must be a string", key);
    return value;
  }
  Result<std::optional<std::uint64_t>> number(const char* key) const {
    if (!has(key)) return std::optional<std::uint64_t>();
    if (!json_[key].is_number_unsigned()) return fail(Fault::invalid_input, "'{}' must be a whole number", key);
    return std::optional(json_[key].get<std::uint64_t>());
  }
  Result<bool> flag(const char* key) const {
    if (!has(key)) return false;
    if (!json_[key].is_boolean()) return fail(Fault::invalid_input, "'{}' must be true or false", key);
    return json_[key].get<bool>();
  }
  Result<std::vector<std::string>> texts(const char* key) const {
    std::vector<std::string> values;
    if (!has(key)) return values;
    if (!json_[key].is_array()) return fail(Fault::invalid_input, "'{}' must be a list", key);
    for (const Json& item : json_[key]) values.push_back(TRY(from_exact(item)));
    return values;
  }
  bool has(const char* key) const { return json_.contains(key) && !json_[key].is_null(); }
  const Json& operator[](const char* key) const { return json_[key]; }

 private:
  const Json& json_;
};

Result<Snippet> decode_snippet(const Json& json) {
  if (!json.is_object()) return fail(Fault::invalid_input, "'snippet' must be an object");
  const Reader fields(json);
  Snippet snippet;
  // Of another kind: the texts that callers know say so.
  if (fields.has("language") && json["language"].is_string()) snippet.language = json["language"].get<std::string>();
  if (fields.has("code")) snippet.code = from_exact(json["code"]).value_or("");
  snippet.arguments = TRY(fields.texts("arguments"));
  if (fields.has("files")) {
    for (const Json& file : json["files"]) {
      if (!file.is_array() || file.size() != 2) return fail(Fault::invalid_input, "'files' must hold [name, content]");
      snippet.files.emplace_back(TRY(from_exact(file[0])), TRY(from_exact(file[1])));
    }
  }
  snippet.output_bytes = TRY(fields.number("maxOutputSize")).value_or(snippet.output_bytes);
  snippet.session = TRY(fields.text("session"));
  snippet.fork_of = TRY(fields.text("fork"));
  snippet.step = TRY(fields.number("step"));
  const std::string access = TRY(fields.text("access"));
  if (access == "ro") snippet.access = WorkspaceAccess::ro;
  if (access == "rw") snippet.access = WorkspaceAccess::rw;
  if (!access.empty() && access != "none" && snippet.access == WorkspaceAccess::none) {
    return fail(Fault::invalid_input, "'access' must be none, ro or rw");
  }
  return snippet;
}

/// Of a program that knows nothing of workspaces: the directory it names, or "/" for nothing at all.
Result<Request> plain_request(const Reader& fields) {
  Request request;
  std::error_code error;
  const std::string cwd = TRY(fields.text("cwd"));
  request.cwd = std::filesystem::canonical(cwd.empty() ? "/" : cwd, error).string();
  if (error) return fail(Fault::invalid_input, "cwd {}: {}", cwd, error.message());
  request.workspace = config::nearest_workspace(request.cwd);
  request.asker.agent = TRY(fields.text("agent"));
  if (request.asker.agent.empty()) request.asker.agent = "main";
  request.asker.is_agent = true;
  return request;
}

}  // namespace

const char* name_of(Passed passed) {
  switch (passed) {
    case Passed::cwd:
      return "cwd";
    case Passed::input:
      return "input";
    case Passed::output:
      return "output";
    case Passed::errors:
      return "errors";
  }
  return "cwd";
}

Json encode(const Question& question, const config::Sources& world) {
  Json passed = Json::array();
  for (const Passed one : question.passed) passed.push_back(name_of(one));
  Json body = {{"protocol", protocol},
               {"version", CORDON_VERSION},
               {"verb", name_of(question.verb)},
               {"world", describe(world)},
               {"request", plan::describe_request(question.request)},
               {"approval", question.approval},
               {"person", question.person_is_there},
               {"dry_run_is_fine", question.dry_run_is_fine},
               {"descriptors", std::move(passed)}};
  if (question.wait_ms) body["wait"] = *question.wait_ms;
  if (!question.input.empty()) body["input"] = exact(question.input);
  if (question.request.snippet) body["snippet"] = encode_snippet(*question.request.snippet);
  return body;
}

Result<Question> decode(const Json& body) {
  const Reader fields(body);
  Question question;
  const std::string verb = TRY(fields.text("verb"));
  const auto* known = std::find_if(verbs.begin(), verbs.end(), [&](const auto& row) { return row.second == verb; });
  if (known == verbs.end()) return fail(Fault::invalid_input, "unknown verb '{}'", visible(verb, Lines::escape));
  question.verb = known->first;
  if (question.verb == Verb::ping) return question;
  question.request = fields.has("request") ? TRY(plan::request_of(body)) : TRY(plain_request(fields));
  question.request.snippet.reset();
  if (question.verb == Verb::run) {
    question.request.snippet = TRY(decode_snippet(fields.has("snippet") ? fields["snippet"] : Json::object()));
  }
  if (const auto timeout = TRY(fields.number("timeout"))) question.request.wall_ms = timeout;
  question.input = TRY(fields.text("input"));
  question.approval = TRY(fields.text("approval"));
  question.wait_ms = TRY(fields.number("wait"));
  question.person_is_there = TRY(fields.flag("person"));
  question.dry_run_is_fine = TRY(fields.flag("dry_run_is_fine"));
  for (const std::string& name : TRY(fields.texts("descriptors"))) {
    const auto* found =
        std::find_if(all_passed.begin(), all_passed.end(), [&](Passed one) { return name == name_of(one); });
    if (found == all_passed.end()) return fail(Fault::invalid_input, "unknown descriptor '{}'", name);
    question.passed.push_back(*found);
  }
  return question;
}

std::string stranger(const Json& body, const config::Sources& world) {
  if (!body.contains("protocol") || body["protocol"] != protocol) return "another version of the protocol";
  // The SDKs speak the protocol, whatever version they are of; the command line must be the daemon's own.
  if (body.contains("version") && body["version"] != CORDON_VERSION) return "another version of Cordon";
  if (body.contains("world") && body["world"] != describe(world)) {
    return "another state, home or settings file than the daemon's";
  }
  return "";
}

}  // namespace cordon::serve::socket
