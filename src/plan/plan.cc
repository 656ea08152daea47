#include "plan/plan.h"

#include <algorithm>

#include "base/text.h"

namespace cordon::plan {

namespace {

// A change of what is hashed is a new version: an approval of the old one must not fit.
constexpr std::string_view digest_version = "cordon plan 2";

class Fields {
 public:
  Fields& text(std::string_view value) {
    hash_.add_field(value);
    return *this;
  }
  Fields& number(std::uint64_t value) { return text(std::to_string(value)); }
  Fields& texts(const std::vector<std::string>& values) {
    number(values.size());
    for (const std::string& value : values) text(value);
    return *this;
  }
  Fields& variables(Variables values) {
    std::sort(values.begin(), values.end());
    number(values.size());
    for (const auto& [name, value] : values) text(name).text(value);
    return *this;
  }
  /// Times change with a touch, and nothing that runs does.
  Fields& file(const FrozenFile& file) {
    return text(file.path).number(file.identity.device).number(file.identity.inode).text(file.content.view());
  }
  Digest finish() { return hash_.finish(); }

 private:
  Sha256 hash_;
};

void add_snippet(Fields& fields, const Snippet& snippet) {
  fields.text(snippet.language).text(snippet.code).texts(snippet.arguments);
  fields.variables(snippet.files).number(snippet.output_bytes).text(snippet.session).text(snippet.fork_of);
  fields.number(snippet.step.has_value()).number(snippet.step.value_or(0)).text(name_of(snippet.access));
}

void add_profile(Fields& fields, const Profile& profile) {
  fields.texts(profile.program.argv).number(profile.program.shell_text.has_value());
  fields.text(profile.program.shell_text.value_or(""));
  fields.text(profile.cwd).variables(profile.environment);
  const Workspace& workspace = profile.workspace;
  fields.text(workspace.path).text(name_of(workspace.access)).texts(workspace.protected_paths);
  fields.texts(workspace.hidden_paths);
  fields.number(profile.binds.size());
  for (const Bind& bind : profile.binds) {
    fields.text(bind.source).text(bind.target).number(bind.access == Bind::Access::rw);
  }
  const Limits& limits = profile.limits;
  for (const std::uint64_t limit : {limits.wall_ms, limits.cpu_ms, limits.memory_bytes, limits.pids, limits.file_bytes,
                                    limits.disk_bytes, limits.inodes, limits.open_files, limits.output_bytes}) {
    fields.number(limit);
  }
  fields.number(static_cast<std::uint64_t>(limits.cpus * 1000)).number(static_cast<std::uint64_t>(profile.network));
  fields.texts(profile.network_rules).number(profile.published.size());
  for (const std::uint16_t port : profile.published) fields.number(port);
  fields.number(limits.connections).number(limits.network_bytes).number(limits.connection_ms);
  fields.text(profile.session.path).text(profile.session.home);
  fields.number(profile.program.waits_for_input)
      .number(profile.input == Input::given)
      .number(profile.tty)
      .text(name_of(profile.require));
  fields.text(profile.backend).text(profile.image).text(profile.image_user);
  fields.number(profile.kept.idle_ms).number(profile.kept.age_ms);
}

const char* word_for(Need::Kind kind) {
  switch (kind) {
    case Need::Kind::read_path:
      return "read";
    case Need::Kind::write_path:
      return "write";
    case Need::Kind::host:
      return "host";
    case Need::Kind::elevation:
      return "elevation";
  }
  return "elevation";
}

/// JSON holds text only; bytes that are none travel as base64.
std::string shown(const std::string& bytes) { return is_utf8(bytes) ? bytes : visible(bytes, Lines::keep); }

/// Without the code itself, which is in the text, and without the content of files.
Json describe(const Snippet& snippet) {
  Json files = Json::array();
  for (const auto& [name, content] : snippet.files) {
    files.push_back({{"name", shown(name)}, {"bytes", content.size()}, {"sha256", sha256(content).hex()}});
  }
  return {{"language", snippet.language},
          {"sha256", sha256(snippet.code).hex()},
          {"bytes", snippet.code.size()},
          {"files", std::move(files)},
          {"session", snippet.session.empty() ? Json() : Json(snippet.session)},
          {"access", name_of(snippet.access)}};
}

Json describe(const FrozenFile& file) {
  return {{"path", shown(file.path)},
          {"device", file.identity.device},
          {"inode", file.identity.inode},
          {"bytes", file.identity.size},
          {"sha256", file.content.hex()}};
}

Json describe_limits(const Limits& limits) {
  return {{"time_ms", limits.wall_ms},       {"memory_bytes", limits.memory_bytes}, {"processes", limits.pids},
          {"disk_bytes", limits.disk_bytes}, {"output_bytes", limits.output_bytes}, {"cpus", limits.cpus}};
}

}  // namespace

Digest Plan::digest() const {
  Fields fields;
  fields.text(digest_version).text(request.text);
  const Principal& asker = request.asker;
  fields.text(asker.user).number(asker.uid).text(asker.agent).text(asker.session).number(asker.is_agent);
  fields.number(executable.has_value());
  if (executable) fields.file(*executable);
  fields.number(cwd.device).number(cwd.inode);
  fields.number(operands.size());
  for (const FrozenFile& operand : operands) fields.file(operand);
  fields.texts(unpinned).number(grants.size());
  for (const Need& grant : grants) fields.text(word_for(grant.kind)).text(grant.target);
  fields.text(name_of(where)).text(policy.view());
  add_profile(fields, profile);
  if (request.snippet) add_snippet(fields, *request.snippet);
  return fields.finish();
}

Json describe_run(const Plan& plan) {
  const Profile& profile = plan.profile;
  Json environment = Json::array();
  for (const auto& [name, value] : profile.environment) environment.push_back(shown(name));
  Json operands = Json::array();
  for (const FrozenFile& operand : plan.operands) operands.push_back(describe(operand));
  Json grants = Json::array();
  for (const Need& grant : plan.grants)
    grants.push_back({{"kind", word_for(grant.kind)}, {"target", shown(grant.target)}});
  Json binds = Json::array();
  for (const Bind& bind : profile.binds) {
    binds.push_back(
        shown(fmt::format("{}:{}:{}", bind.source, bind.target, bind.access == Bind::Access::rw ? "rw" : "ro")));
  }
  Json arguments = Json::array();
  for (const std::string& argument : profile.program.argv) arguments.push_back(shown(argument));
  Json description = {
      {"runs", profile.program.shell_text ? Json("bash") : std::move(arguments)},
      {"where", name_of(plan.where)},
      {"backend", plan.where == Where::host ? "host" : profile.backend},
      {"image", profile.image.empty() ? Json() : Json(profile.image)},
      {"program", plan.executable ? describe(*plan.executable) : Json()},
      {"cwd", {{"path", shown(plan.request.cwd)}, {"device", plan.cwd.device}, {"inode", plan.cwd.inode}}},
      {"workspace", {{"path", shown(profile.workspace.path)}, {"access", name_of(profile.workspace.access)}}},
      {"environment", std::move(environment)},
      {"files", std::move(operands)},
      {"unpinned", plan.unpinned},
      {"grants", std::move(grants)},
      {"binds", std::move(binds)},
      {"network", profile.network == Network::rules ? Json(profile.network_rules) : Json(name_of(profile.network))},
      {"published", profile.published},
      {"limits", describe_limits(profile.limits)},
      {"not_twice", plan.not_twice.empty() ? Json() : Json(plan.not_twice)}};
  if (plan.request.snippet) description["code"] = describe(*plan.request.snippet);
  return description;
}

Json to_json(const Plan& plan) {
  Json environment = Json::object();
  for (const auto& [name, value] : plan.profile.environment) environment[shown(name)] = shown(value);
  Json description = {{"digest", plan.digest().hex()}};
  description.update(describe_run(plan));
  description["environment"] = std::move(environment);
  description["policy"] = plan.policy.hex();
  description["request"] = describe_request(plan.request);
  return description;
}

}  // namespace cordon::plan
