// HTTP messages as values: what came, and what is answered.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"

namespace cordon::serve::http {

using Fields = std::vector<std::pair<std::string, std::string>>;

struct Head {
  std::string method;
  std::string path;   // without the query, as it was sent: what holds an escape is no path of ours
  std::string query;  // after the '?'
  Fields fields;      // names in lower case

  /// The first of this name; nothing when there is none.
  const std::string* field(std::string_view name) const;
  std::size_t count(std::string_view name) const;
  /// Whether the client takes this type: `Accept` names it, or anything.
  bool names_type(std::string_view field_name, std::string_view type) const;
};

struct Request {
  Head head;
  std::string body;
};

struct Response {
  unsigned status = 200;
  std::string type = "application/json";
  std::string body;
  Fields fields = {};
  bool close = false;  // nothing more is read from this client
};

Response json_response(unsigned status, const Json& body);

/// {"error":{"code","message","fix"}}. `fix` empty: what the fault's row of the table says.
Response error_response(unsigned status, std::string_view code, std::string_view message, std::string_view fix);
Response error_response(const Error& error);
/// Comes back after a while.
Response busy_response(unsigned status, std::string_view code, std::string_view message, unsigned retry_after_s);

/// What each fault is over HTTP: the one table.
struct FaultRow {
  Fault fault;
  unsigned status;
  std::string_view fix;
};
const FaultRow& row_of(Fault fault);

enum class Body { length, chunks };
/// Status line and fields. A whole answer says its length, a stream comes in chunks.
std::string head_bytes(const Response& response, Body body);
std::string chunk(std::string_view bytes);
extern const std::string_view last_chunk;

/// One event of a text/event-stream. `event` and `id` are ours and hold no line breaks.
std::string sse_event(std::string_view event, std::string_view data, std::string_view id = {});

}  // namespace cordon::serve::http
