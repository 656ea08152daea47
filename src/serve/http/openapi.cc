#include "serve/http/openapi.h"

#include "serve/http/message.h"

namespace cordon::serve::http {

namespace {

Json reference(const char* part, const std::string& name) {
  return {{"$ref", "#/components/" + std::string(part) + "/" + name}};
}

Json json_body(Json schema) { return {{"application/json", {{"schema", std::move(schema)}}}}; }

Json with_errors(Json responses) {
  for (const char* status :
       {"400", "401", "403", "404", "405", "408", "409", "410", "413", "415", "421", "429", "431", "500", "503"}) {
    responses[status] = reference("responses", "Error");
  }
  return responses;
}

Json tool_path(const Tool& tool) {
  const std::string name(tool.name);
  Json answer = json_body(reference("schemas", name));
  answer["text/event-stream"] = {{"schema", {{"type", "string"}}},
                                 {"x-events",
                                  {{"output", "{stream, text}: what runs has printed"},
                                   {"progress", "{done, message}: it is alive, or waits for a person"},
                                   {"result", "the answer"},
                                   {"error", "{code, message, fix}"}}}};
  return {{"post",
           {{"operationId", name},
            {"summary", std::string(tool.title)},
            {"description", std::string(tool.description)},
            {"requestBody", {{"required", true}, {"content", json_body(schema_of(tool.arguments))}}},
            {"responses", with_errors({{"200", {{"description", "The answer"}, {"content", std::move(answer)}}}})}}}};
}

Json get_path(const char* id, const char* summary, const char* type, Json security) {
  Json operation = {
      {"operationId", id},
      {"summary", summary},
      {"responses",
       with_errors(
           {{"200",
             {{"description", summary},
              {"content",
               {{type, {{"schema", {{"type", type == std::string("application/json") ? "object" : "string"}}}}}}}}}})}};
  if (!security.is_null()) operation["security"] = std::move(security);
  return {{"get", std::move(operation)}};
}

Json error_schema() {
  const Json text = {{"type", "string"}};
  return {{"type", "object"},
          {"properties",
           {{"error",
             {{"type", "object"},
              {"properties", {{"code", text}, {"message", text}, {"fix", text}}},
              {"required", {"code", "message", "fix"}}}}}},
          {"required", {"error"}}};
}

}  // namespace

Json openapi(const std::vector<const Tool*>& tools, const std::string& version) {
  Json paths = Json::object();
  Json schemas = {{"Error", error_schema()}};
  for (const Tool* tool : tools) {
    paths["/v1/tools/" + std::string(tool->name)] = tool_path(*tool);
    schemas[std::string(tool->name)] = tool->output_schema();
  }
  paths["/v1/events"] =
      get_path("events", "Records of requests and runs as they are written; an agent hears of its own",
               "text/event-stream", Json());
  paths["/v1/openapi.json"] = get_path("openapi", "This document", "application/json", Json());
  paths["/metrics"] = get_path("metrics", "Prometheus text, for an auditor or approver", "text/plain", Json());
  paths["/healthz"] = get_path("health", "Whether the server answers", "application/json", Json::array());
  paths["/mcp"] = {{"post",
                    {{"operationId", "mcp"},
                     {"summary", "Model Context Protocol, streamable HTTP"},
                     {"requestBody", {{"required", true}, {"content", json_body({{"type", "object"}})}}},
                     {"responses", with_errors({{"200", {{"description", "A JSON-RPC message, or a stream of them"}}},
                                                {"202", {{"description", "Taken: it needs no answer"}}}})}}}};
  return {
      {"openapi", "3.1.0"},
      {"info",
       {{"title", "Cordon"},
        {"version", version},
        {"description", "Commands of agents: judged, approved, isolated, recorded."}}},
      {"security", {{{"token", Json::array()}}}},
      {"paths", std::move(paths)},
      {"components",
       {{"schemas", std::move(schemas)},
        {"responses",
         {{"Error",
           {{"description", "What is wrong and what to do"}, {"content", json_body(reference("schemas", "Error"))}}}}},
        {"securitySchemes", {{"token", {{"type", "http"}, {"scheme", "bearer"}}}}}}}};
}

}  // namespace cordon::serve::http
