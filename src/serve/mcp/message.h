// JSON-RPC 2.0 messages: read with bounds, told apart, built.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace cordon::serve::mcp {

namespace code {
constexpr int parse_error = -32700;
constexpr int invalid_request = -32600;
constexpr int unknown_method = -32601;
constexpr int invalid_params = -32602;
constexpr int internal = -32603;
constexpr int busy = -32000;
constexpr int missing_capability = -32021;
constexpr int unsupported_version = -32022;
}  // namespace code

struct Bounds {
  std::size_t message_bytes = 4U << 20;
  std::size_t depth = 64;
  std::size_t calls = 32;  // at once
};

/// Not JSON, too large or too deep: a sentence that says which.
Result<Json> read_message(std::string_view text, const Bounds& bounds);

/// A string or a whole number; anything else is none.
bool is_id(const Json& id);

/// What a message is: it has a method and an id, a method, or an id and an answer.
enum class Shape { request, notification, response, wrong };
Shape shape_of(const Json& message);

Json response(const Json& id, Json result);
Json error_response(const Json& id, int code, std::string_view sentence, Json data = {});
Json notification(std::string_view method, Json params);
Json request(std::string_view id, std::string_view method, Json params);

/// Text as a part of a tool's content.
Json text_block(std::string text);

/// One line for a stream; bytes that are no text are replaced.
std::string to_line(const Json& message);

}  // namespace cordon::serve::mcp
