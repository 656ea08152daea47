#include "serve/mcp/message.h"

#include <algorithm>

namespace cordon::serve::mcp {

namespace {

/// Counted before parsing: printing and destroying a value goes as deep as it is nested.
std::size_t depth_of(std::string_view text) {
  std::size_t depth = 0;
  std::size_t deepest = 0;
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      if (c == '\\') ++at;
      if (c == '"') quoted = false;
      continue;
    }
    if (c == '"') quoted = true;
    if (c == '{' || c == '[') deepest = std::max(deepest, ++depth);
    if ((c == '}' || c == ']') && depth > 0) --depth;
  }
  return deepest;
}

}  // namespace

Result<Json> read_message(std::string_view text, const Bounds& bounds) {
  if (text.size() > bounds.message_bytes) {
    return fail(Fault::invalid_input, "a message of more than {} bytes is not read", bounds.message_bytes);
  }
  if (depth_of(text) > bounds.depth) {
    return fail(Fault::invalid_input, "a message nested more than {} deep is not read", bounds.depth);
  }
  Json message = parse_json(text);
  if (message.is_discarded()) return fail(Fault::invalid_input, "the message is not JSON");
  return message;
}

bool is_id(const Json& id) { return id.is_string() || id.is_number_integer(); }

Shape shape_of(const Json& message) {
  if (!message.is_object() || message.value("jsonrpc", Json()) != "2.0") return Shape::wrong;
  const auto id = message.find("id");
  const bool has_id = id != message.end();
  if (has_id && !is_id(*id)) return Shape::wrong;
  const auto params = message.find("params");
  if (params != message.end() && !params->is_object()) return Shape::wrong;
  if (const auto method = message.find("method"); method != message.end()) {
    if (!method->is_string()) return Shape::wrong;
    return has_id ? Shape::request : Shape::notification;
  }
  return has_id && (message.contains("result") || message.contains("error")) ? Shape::response : Shape::wrong;
}

Json response(const Json& id, Json result) { return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}}; }

Json error_response(const Json& id, int code, std::string_view sentence, Json data) {
  Json error = {{"code", code}, {"message", std::string(sentence)}};
  if (!data.is_null()) error["data"] = std::move(data);
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", std::move(error)}};
}

Json notification(std::string_view method, Json params) {
  return {{"jsonrpc", "2.0"}, {"method", std::string(method)}, {"params", std::move(params)}};
}

Json request(std::string_view id, std::string_view method, Json params) {
  return {{"jsonrpc", "2.0"}, {"id", std::string(id)}, {"method", std::string(method)}, {"params", std::move(params)}};
}

Json text_block(std::string text) { return {{"type", "text"}, {"text", std::move(text)}}; }

std::string to_line(const Json& message) { return message.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n'; }

}  // namespace cordon::serve::mcp
