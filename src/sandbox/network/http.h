// HTTP/1 as a proxy meets it, read strictly: whatever two programs could read differently is refused, so that the
// request that was judged is the request that the server sees.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/network/name.h"

namespace cordon::sandbox::network {

struct Field {
  std::string name;  // as written; compared without regard to case
  std::string value;
};

/// How the end of a message's body is known.
struct Framing {
  enum class Kind { none, length, chunked, until_close } kind = Kind::none;
  std::uint64_t length = 0;
  bool operator==(const Framing&) const = default;
};

struct Request {
  std::string method;
  Endpoint endpoint;
  std::string path;  // what the server is asked for: origin-form; empty with CONNECT
  Framing body;
  bool keep_alive = true;  // the client means to send another request
  bool websocket = false;
  std::vector<Field> fields;  // without those that are between client and proxy

  /// As it is sent to the server, with one Host field, the canonical one.
  std::string head() const;
};

struct Response {
  int status = 0;
  Framing body;
  bool keep_alive = true;
  std::vector<Field> fields;
  std::string reason;

  /// As it is sent to the client.
  std::string head(bool keep_client) const;
};

constexpr std::size_t largest_head = 64 * 1024;

/// The length of the first head in `bytes` with its empty line; nothing: more is needed. An error once it can't become
/// one. Lines end with CR LF, never with LF alone.
Result<std::optional<std::size_t>> head_length(std::string_view bytes);

/// A request to a proxy: CONNECT, or one with a whole http:// address.
Result<Request> parse_proxy_request(std::string_view head);
/// A request inside a tunnel to `endpoint`, which its Host field must name.
Result<Request> parse_tunnelled_request(std::string_view head, const Endpoint& endpoint);
Result<Response> parse_response(std::string_view head, const Request& request);

/// Finds the end of a body in the bytes that arrive.
class BodyReader {
 public:
  /// Of a request nothing but size lines and data is taken; servers' chunk extensions and trailers are let through.
  enum class Side { request, response };
  BodyReader(const Framing& framing, Side side);
  BodyReader() : BodyReader({}, Side::request) {}

  /// How many of these bytes belong to the body.
  Result<std::size_t> take(std::string_view bytes);
  bool done() const { return state_ == State::done; }

 private:
  enum class State { plain, until_close, size, extension, size_end, data, data_end, data_end_2, trailer, last, done };
  Result<bool> take_control(char c);

  State state_;
  Side side_;
  std::uint64_t left_ = 0;
  unsigned digits_ = 0;
  std::size_t extra_ = 0;  // of extensions and trailers
  bool line_empty_ = true;
};

/// Whether these first bytes of a tunnel are a plain HTTP request; nothing: more is needed to tell.
std::optional<bool> looks_like_http(std::string_view bytes);

}  // namespace cordon::sandbox::network
