#include "serve/http/message.h"

#include <algorithm>
#include <array>

#include "base/json.h"
#include "base/text.h"

namespace cordon::serve::http {

namespace {

constexpr std::array<FaultRow, 7> faults = {{
    {Fault::invalid_input, 400, "Correct the request; /v1/openapi.json says what is expected."},
    {Fault::denied, 403, "Asking again will not help; ask the user."},
    {Fault::expired, 410, "Ask anew."},
    {Fault::conflict, 409, "Look at how it stands now, then decide again."},
    {Fault::unavailable, 503, "Try again later; `cordon doctor` says what is missing."},
    {Fault::corrupt, 500, "Nothing runs until a person has looked: `sandbox-audit verify`, `cordon doctor`."},
    {Fault::internal, 500, "Tell whoever runs this server."},
}};

std::string_view reason_of(unsigned status) {
  static constexpr std::array<std::pair<unsigned, std::string_view>, 23> reasons = {{
      {200, "OK"},
      {202, "Accepted"},
      {204, "No Content"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {406, "Not Acceptable"},
      {408, "Request Timeout"},
      {409, "Conflict"},
      {410, "Gone"},
      {411, "Length Required"},
      {413, "Content Too Large"},
      {415, "Unsupported Media Type"},
      {417, "Expectation Failed"},
      {421, "Misdirected Request"},
      {429, "Too Many Requests"},
      {431, "Request Header Fields Too Large"},
      {500, "Internal Server Error"},
      {501, "Not Implemented"},
      {503, "Service Unavailable"},
      {505, "HTTP Version Not Supported"},
  }};
  const auto found = std::ranges::find(reasons, status, &std::pair<unsigned, std::string_view>::first);
  return found == reasons.end() ? "Unknown" : found->second;
}

}  // namespace

const std::string_view last_chunk = "0\r\n\r\n";

const std::string* Head::field(std::string_view name) const {
  for (const auto& [key, value] : fields) {
    if (key == name) return &value;
  }
  return nullptr;
}

std::size_t Head::count(std::string_view name) const {
  return static_cast<std::size_t>(std::ranges::count_if(fields, [&](const auto& one) { return one.first == name; }));
}

bool Head::names_type(std::string_view field_name, std::string_view type) const {
  for (const auto& [key, value] : fields) {
    if (key != field_name) continue;
    for (std::string_view rest = value; !rest.empty();) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      const std::string_view one = rest.substr(0, comma);
      if (to_lower(trim(one.substr(0, one.find(';')))) == type) return true;
      rest.remove_prefix(std::min(rest.size(), comma + 1));
    }
  }
  return false;
}

Response json_response(unsigned status, const Json& body) {
  return {.status = status, .body = body.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"};
}

Response error_response(unsigned status, std::string_view code, std::string_view message, std::string_view fix) {
  return json_response(
      status, {{"error",
                {{"code", std::string(code)}, {"message", visible(message, Lines::keep)}, {"fix", std::string(fix)}}}});
}

const FaultRow& row_of(Fault fault) { return *std::ranges::find(faults, fault, &FaultRow::fault); }

Response error_response(const Error& error) {
  const FaultRow& row = row_of(error.fault);
  return error_response(row.status, name_of(error.fault), error.sentence, row.fix);
}

Response busy_response(unsigned status, std::string_view code, std::string_view message, unsigned retry_after_s) {
  Response response = error_response(status, code, message, fmt::format("Try again in {} s.", retry_after_s));
  response.fields.emplace_back("Retry-After", std::to_string(retry_after_s));
  return response;
}

std::string head_bytes(const Response& response, Body body) {
  std::string text = fmt::format("HTTP/1.1 {} {}\r\n", response.status, reason_of(response.status));
  if (!response.type.empty()) text += fmt::format("Content-Type: {}\r\n", response.type);
  if (body == Body::chunks)
    text += "Transfer-Encoding: chunked\r\n";
  else if (response.status != 204)
    text += fmt::format("Content-Length: {}\r\n", response.body.size());
  text += "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n";
  for (const auto& [name, value] : response.fields) text += fmt::format("{}: {}\r\n", name, value);
  if (response.close) text += "Connection: close\r\n";
  return text + "\r\n";
}

std::string chunk(std::string_view bytes) { return fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes); }

std::string sse_event(std::string_view event, std::string_view data, std::string_view id) {
  std::string text;
  if (!event.empty()) text += fmt::format("event: {}\n", event);
  if (!id.empty()) text += fmt::format("id: {}\n", id);
  // A line break of any kind would end the field.
  for (std::string_view rest = data;;) {
    const std::size_t end = rest.find_first_of("\r\n");
    text += fmt::format("data: {}\n", rest.substr(0, end));
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + (rest.substr(end, 2) == "\r\n" ? 2 : 1));
  }
  return text + "\n";
}

}  // namespace cordon::serve::http
