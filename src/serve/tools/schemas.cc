#include "serve/tools/schemas.h"

#include <initializer_list>
#include <utility>

namespace cordon::serve {

namespace {

using Members = std::initializer_list<std::pair<const char*, Json>>;

Json type(const char* name) { return {{"type", name}}; }
Json or_null(const char* name) { return {{"type", {name, "null"}}}; }
Json list_of(Json item) { return {{"type", "array"}, {"items", std::move(item)}}; }
Json one_of(std::initializer_list<const char*> words) {
  Json list = Json::array();
  for (const char* word : words) list.push_back(word);
  return {{"type", "string"}, {"enum", std::move(list)}};
}

/// All of them are always there.
Json object(Members members) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const auto& [name, schema] : members) {
    properties[name] = schema;
    required.push_back(name);
  }
  return {{"type", "object"}, {"properties", std::move(properties)}, {"required", std::move(required)}};
}

}  // namespace

Json check_schema() {
  return object({{"command", type("string")},
                 {"risk_level", one_of({"safe", "normal", "dangerous", "critical", "disallowed"})},
                 {"risk_reasons", list_of(type("string"))},
                 {"requires_approval", type("boolean")},
                 {"suggested_action", one_of({"execute", "queue_for_approval", "block"})},
                 {"understood", type("boolean")},
                 {"rule", type("string")},
                 {"effects", list_of(type("object"))},
                 {"safer", list_of(type("string"))}});
}

Json exec_schema() {
  Json schema = object({{"success", type("boolean")},
                        {"command", type("string")},
                        {"stdout", type("string")},
                        {"stderr", type("string")},
                        {"exit_code", or_null("integer")},
                        {"duration_ms", type("integer")},
                        {"executed", type("boolean")},
                        {"safety", check_schema()},
                        {"queued", type("boolean")},
                        {"queue_id", or_null("string")},
                        {"blocked", type("boolean")},
                        {"error", or_null("string")},
                        {"isolation", or_null("object")},
                        {"killed_by", or_null("string")},
                        {"truncated", type("object")},
                        {"usage", type("object")}});
  schema["properties"]["message"] = type("string");
  schema["properties"]["approval_instructions"] = type("string");
  return schema;
}

Json list_schema() { return object({{"entries", list_of(type("object"))}, {"count", type("integer")}}); }

// An approved command may run right here: then the answer is the exec object, else the entry.
Json answer_schema() { return object({{"success", type("boolean")}}); }

Json stats_schema() {
  return object({{"total_commands", type("integer")},
                 {"safe", type("integer")},
                 {"normal", type("integer")},
                 {"dangerous", type("integer")},
                 {"critical", type("integer")},
                 {"disallowed", type("integer")},
                 {"by_status", type("object")},
                 {"by_user", type("object")},
                 {"top_commands", list_of(type("object"))},
                 {"time_range", type("object")}});
}

Json change_schema() {
  return object({{"success", type("boolean")}, {"pattern", type("string")}, {"message", type("string")}});
}

Json coverage_schema() {
  return object({{"matched", type("boolean")},
                 {"pattern", or_null("string")},
                 {"reason", type("string")},
                 {"covers", list_of(type("object"))}});
}

Json run_schema() {
  return object({{"success", type("boolean")},
                 {"output", type("string")},
                 {"stderr", type("string")},
                 {"exitCode", type("integer")},
                 {"executionTime", type("integer")},
                 {"error", or_null("string")}});
}

Json explain_schema() { return type("object"); }

Json preview_schema() {
  return object({{"id", type("string")},
                 {"command", type("string")},
                 {"workspace", type("string")},
                 {"created_at", type("string")},
                 {"expires_at", type("string")},
                 {"queue_id", or_null("string")},
                 {"counts", type("object")},
                 {"changes", list_of(type("object"))},
                 {"stdout", type("string")},
                 {"stderr", type("string")},
                 {"conflicts", list_of(type("string"))}});
}

Json commit_schema() {
  return object({{"success", type("boolean")},
                 {"preview", type("string")},
                 {"committed", type("boolean")},
                 {"applied", type("integer")},
                 {"conflicts", list_of(type("string"))},
                 {"left_out", list_of(type("string"))},
                 {"queued", type("boolean")},
                 {"queue_id", or_null("string")},
                 {"error", or_null("string")}});
}

}  // namespace cordon::serve
