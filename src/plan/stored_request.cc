// A request as it stands in the description of a plan, and back (plan.h).
#include "base/text.h"
#include "plan/plan.h"

namespace cordon::plan {

namespace {

Json exact(const std::string& bytes) {
  if (is_utf8(bytes)) return bytes;
  return {{"base64", to_base64(bytes)}};
}

Result<std::string> from_exact(const Json& json) {
  if (json.is_string()) return json.get<std::string>();
  if (json.is_object() && json.contains("base64") && json["base64"].is_string()) {
    if (auto bytes = from_base64(json["base64"].get<std::string>())) return *std::move(bytes);
  }
  return fail(Fault::corrupt, "a stored request cannot be read");
}

Json exact(const Variables& variables) {
  Json list = Json::array();
  for (const auto& [name, value] : variables) list.push_back({exact(name), exact(value)});
  return list;
}

Result<Variables> variables_of(const Json& json) {
  Variables variables;
  if (!json.is_array()) return fail(Fault::corrupt, "a stored request cannot be read");
  for (const Json& pair : json) {
    if (!pair.is_array() || pair.size() != 2) return fail(Fault::corrupt, "a stored request cannot be read");
    variables.emplace_back(TRY(from_exact(pair[0])), TRY(from_exact(pair[1])));
  }
  return variables;
}

}  // namespace

Json describe_request(const Request& request) {
  return {{"text", exact(request.text)},
          {"user", request.asker.user},
          {"uid", request.asker.uid},
          {"agent", request.asker.agent},
          {"session", request.asker.session},
          {"surface", request.asker.surface},
          {"is_agent", request.asker.is_agent},
          {"cwd", exact(request.cwd)},
          {"workspace", exact(request.workspace)},
          {"home", exact(request.home)},
          {"config", exact(request.config)},
          {"environment", exact(request.environment)},
          {"inherited", exact(request.inherited)},
          {"of_host", exact(request.of_host)},
          {"wall_ms", request.wall_ms ? Json(*request.wall_ms) : Json()},
          {"require", request.require ? Json(name_of(*request.require)) : Json()},
          {"backend", request.backend},
          {"output_bytes", request.output_bytes ? Json(*request.output_bytes) : Json()},
          {"require_approval", request.require_approval},
          {"input_given", request.input_given},
          {"tty", request.tty},
          {"report_violations", request.report_violations},
          {"clean_room", request.clean_room},
          {"detached", request.detached},
          {"publish", request.publish},
          {"learn_network", request.learn_network}};
}

Result<Request> request_of(const Json& description) {
  const auto damaged = [] { return fail(Fault::corrupt, "a stored request cannot be read"); };
  if (!description.is_object() || !description.contains("request")) return damaged();
  const Json& json = description["request"];
  for (const char* key : {"text",          "user",         "uid",
                          "agent",         "session",      "surface",
                          "is_agent",      "cwd",          "workspace",
                          "home",          "config",       "environment",
                          "inherited",     "of_host",      "clean_room",
                          "wall_ms",       "require",      "require_approval",
                          "input_given",   "tty",          "report_violations",
                          "detached",      "output_bytes", "publish",
                          "learn_network", "backend"}) {
    if (!json.is_object() || !json.contains(key)) return damaged();
  }
  for (const char* key : {"user", "agent", "session", "surface", "backend"}) {
    if (!json[key].is_string()) return damaged();
  }
  for (const char* key : {"is_agent", "require_approval", "input_given", "tty", "report_violations", "clean_room",
                          "detached", "learn_network"}) {
    if (!json[key].is_boolean()) return damaged();
  }
  if (!json["uid"].is_number_unsigned() || !(json["wall_ms"].is_null() || json["wall_ms"].is_number_unsigned()) ||
      !(json["output_bytes"].is_null() || json["output_bytes"].is_number_unsigned()) ||
      !(json["require"].is_null() || json["require"].is_string())) {
    return damaged();
  }
  Request request;
  request.text = TRY(from_exact(json["text"]));
  request.asker = {.user = json["user"],
                   .uid = json["uid"],
                   .agent = json["agent"],
                   .session = json["session"],
                   .surface = json["surface"],
                   .is_agent = json["is_agent"]};
  request.cwd = TRY(from_exact(json["cwd"]));
  request.workspace = TRY(from_exact(json["workspace"]));
  request.home = TRY(from_exact(json["home"]));
  request.config = TRY(from_exact(json["config"]));
  request.environment = TRY(variables_of(json["environment"]));
  request.inherited = TRY(variables_of(json["inherited"]));
  request.of_host = TRY(variables_of(json["of_host"]));
  if (!json["wall_ms"].is_null()) request.wall_ms = json["wall_ms"].get<std::uint64_t>();
  if (!json["output_bytes"].is_null()) request.output_bytes = json["output_bytes"].get<std::uint64_t>();
  if (!json["require"].is_null()) {
    request.require = level_named(json["require"].get<std::string>());
    if (!request.require) return damaged();
  }
  request.backend = json["backend"];
  request.require_approval = json["require_approval"];
  request.input_given = json["input_given"];
  request.tty = json["tty"];
  request.report_violations = json["report_violations"];
  request.clean_room = json["clean_room"];
  request.detached = json["detached"];
  // The code and its files are not kept with an approval: who asked has them, and runs it.
  if (description.contains("code")) request.snippet.emplace();
  if (!json["publish"].is_array()) return damaged();
  for (const Json& port : json["publish"]) {
    if (!port.is_number_unsigned() || port.get<std::uint64_t>() > 65535) return damaged();
    request.publish.push_back(port.get<std::uint16_t>());
  }
  request.learn_network = json["learn_network"];
  return request;
}

}  // namespace cordon::plan
