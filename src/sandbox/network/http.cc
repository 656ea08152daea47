#include "sandbox/network/http.h"

#include <algorithm>

#include "base/text.h"

namespace cordon::sandbox::network {

namespace {

constexpr std::size_t most_fields = 200;
constexpr std::size_t longest_method = 32;
constexpr std::uint16_t http_port = 80;

template <class... Args>
tl::unexpected<Error> malformed(fmt::format_string<Args...> format, Args&&... args) {
  return fail(Fault::invalid_input, format, std::forward<Args>(args)...);
}

bool is_token_character(char c) {
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) return true;
  return c != '\0' && std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool is_token(std::string_view text) { return !text.empty() && std::ranges::all_of(text, is_token_character); }

/// What may stand in a field's value: no control character but a tab.
bool is_value(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
  });
}

bool is_path(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f && c != '#' && c != '\\'; });
}

bool same(std::string_view a, std::string_view b) { return to_lower(a) == to_lower(b); }

struct Line {
  std::string_view start;
  std::vector<Field> fields;
};

Result<Line> split(std::string_view head) {
  Line made;
  bool first = true;
  for (;;) {
    const std::size_t end = head.find("\r\n");
    if (end == std::string_view::npos) return malformed("a line does not end with CR LF");
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(end + 2);
    if (line.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos) {
      return malformed("a line holds a CR, LF or NUL of its own");
    }
    if (line.empty()) return made;
    if (first) {
      made.start = line;
      first = false;
      continue;
    }
    if (line.front() == ' ' || line.front() == '\t') return malformed("a field is folded over two lines");
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) {
      return malformed("a field's name is malformed");
    }
    const std::string_view value = trim(line.substr(colon + 1));
    if (!is_value(value)) return malformed("the value of a field holds a control character");
    if (made.fields.size() == most_fields) return malformed("there are more than {} fields", most_fields);
    made.fields.push_back({std::string(line.substr(0, colon)), std::string(value)});
  }
}

std::size_t count(const std::vector<Field>& fields, std::string_view name) {
  return static_cast<std::size_t>(
      std::ranges::count_if(fields, [&](const Field& field) { return same(field.name, name); }));
}

std::optional<std::string> value_of(const std::vector<Field>& fields, std::string_view name) {
  for (const Field& field : fields) {
    if (same(field.name, name)) return field.value;
  }
  return std::nullopt;
}

/// The words of all Connection fields, in lower case.
std::vector<std::string> connection_words(const std::vector<Field>& fields) {
  std::vector<std::string> words;
  for (const Field& field : fields) {
    if (!same(field.name, "connection") && !same(field.name, "proxy-connection")) continue;
    std::string_view rest = field.value;
    while (!rest.empty()) {
      const std::string_view word = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(rest.size(), word.size() + 1));
      words.push_back(to_lower(trim(word)));
    }
  }
  return words;
}

bool has(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

Result<std::uint64_t> parse_length(std::string_view text) {
  constexpr std::size_t most_digits = 15;
  const bool digits = !text.empty() && text.size() <= most_digits &&
                      std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  if (!digits) return malformed("Content-Length is no number");
  std::uint64_t length = 0;
  for (const char c : text) length = length * 10 + static_cast<std::uint64_t>(c - '0');
  return length;
}

/// Both lengths, two lengths, or an encoding that is not chunked alone: the ways of smuggling.
Result<Framing> framing_of(const std::vector<Field>& fields, bool version_1_1) {
  const std::size_t lengths = count(fields, "content-length");
  const std::size_t encodings = count(fields, "transfer-encoding");
  if (lengths > 1) return malformed("there is more than one Content-Length");
  if (encodings > 1) return malformed("there is more than one Transfer-Encoding");
  if (lengths == 1 && encodings == 1) return malformed("there are both Content-Length and Transfer-Encoding");
  if (encodings == 1) {
    if (!version_1_1) return malformed("HTTP/1.0 has no Transfer-Encoding");
    if (!same(*value_of(fields, "transfer-encoding"), "chunked"))
      return malformed("the Transfer-Encoding is not 'chunked'");
    return Framing{Framing::Kind::chunked, 0};
  }
  if (lengths == 1) {
    const std::uint64_t length = TRY(parse_length(*value_of(fields, "content-length")));
    return Framing{length == 0 ? Framing::Kind::none : Framing::Kind::length, length};
  }
  return Framing{};
}

/// Between client and proxy only, or said anew by us.
bool stays_here(const Field& field, const std::vector<std::string>& connection, bool websocket) {
  static constexpr std::string_view own[] = {"connection", "proxy-connection",    "keep-alive",
                                             "te",         "proxy-authorization", "proxy-authenticate",
                                             "host",       "http2-settings"};
  const std::string name = to_lower(field.name);
  if (std::ranges::find(own, name) != std::end(own)) return true;
  if (name == "upgrade") return !websocket;
  return has(connection, name) && name != "upgrade";
}

Result<void> check_host(const std::vector<Field>& fields, const Endpoint& endpoint, bool version_1_1, bool tunnel) {
  const std::size_t hosts = count(fields, "host");
  if (hosts > 1) return malformed("there is more than one Host field");
  if (hosts == 0) {
    if (version_1_1) return malformed("there is no Host field");
    return {};
  }
  const std::string said = *value_of(fields, "host");
  // Some clients leave the port out when they ask for a tunnel.
  const Endpoint named = TRY(parse_endpoint(said, tunnel ? endpoint.port : http_port));
  if (named == endpoint) return {};
  return malformed("the Host field says {} and the request is for {}", named.text(), endpoint.text());
}

struct RequestLine {
  std::string_view method;
  std::string_view target;
  bool version_1_1 = true;
};

Result<RequestLine> parse_request_line(std::string_view line) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return malformed("the request line is malformed");
  RequestLine made{line.substr(0, first), line.substr(first + 1, last - first - 1), true};
  const std::string_view version = line.substr(last + 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return malformed("only HTTP/1.1 and HTTP/1.0 are spoken here");
  made.version_1_1 = version == "HTTP/1.1";
  const bool upper =
      std::ranges::all_of(made.method, [](char c) { return (c >= 'A' && c <= 'Z') || c == '-' || c == '_'; });
  if (made.method.empty() || !upper || made.method.size() > longest_method) return malformed("the method is malformed");
  if (made.target.empty() || !is_path(made.target)) return malformed("the address holds a character that none has");
  return made;
}

/// What is left to say once it is known what the request is for.
Result<Request> complete(Request request, const RequestLine& line, std::vector<Field> fields) {
  const bool tunnel = line.method == "CONNECT";
  CHECK_OK(check_host(fields, request.endpoint, line.version_1_1, tunnel));
  request.method = line.method;
  request.body = TRY(framing_of(fields, line.version_1_1));
  if (tunnel && request.body.kind != Framing::Kind::none) return malformed("a CONNECT request has no body");
  const auto connection = connection_words(fields);
  for (const char* word : {"host", "content-length", "transfer-encoding"}) {
    if (has(connection, word)) return malformed("the Connection field names {}", word);
  }
  request.keep_alive = line.version_1_1 ? !has(connection, "close") : has(connection, "keep-alive");
  request.websocket = !tunnel && line.version_1_1 && has(connection, "upgrade") && count(fields, "upgrade") == 1 &&
                      same(*value_of(fields, "upgrade"), "websocket") && request.body.kind == Framing::Kind::none;
  std::erase_if(fields, [&](const Field& field) { return stays_here(field, connection, request.websocket); });
  request.fields = std::move(fields);
  return request;
}

}  // namespace

std::string Request::head() const {
  std::string text = fmt::format("{} {} HTTP/1.1\r\nHost: ", method, path);
  text += endpoint.port == http_port ? endpoint.text().substr(0, endpoint.text().rfind(':')) : endpoint.text();
  text += "\r\n";
  for (const Field& field : fields) text += field.name + ": " + field.value + "\r\n";
  text += websocket ? "Connection: upgrade\r\n\r\n" : keep_alive ? "\r\n" : "Connection: close\r\n\r\n";
  return text;
}

std::string Response::head(bool keep_client) const {
  std::string text = fmt::format("HTTP/1.1 {:03} {}\r\n", status, reason);
  for (const Field& field : fields) text += field.name + ": " + field.value + "\r\n";
  if (status == 101) return text + "Connection: upgrade\r\n\r\n";
  if (status < 200) return text + "\r\n";
  return text + (keep_client ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n");
}

Result<std::optional<std::size_t>> head_length(std::string_view bytes) {
  const std::string_view looked_at = bytes.substr(0, largest_head);
  const std::size_t end = looked_at.find("\r\n\r\n");
  const std::string_view head = looked_at.substr(0, end);
  for (std::size_t at = head.find('\n'); at != std::string_view::npos; at = head.find('\n', at + 1)) {
    if (at == 0 || head[at - 1] != '\r') return malformed("a line ends with LF alone");
  }
  if (end != std::string_view::npos) return std::optional(end + 4);
  if (bytes.size() >= largest_head) return malformed("the head is longer than {} bytes", largest_head);
  return std::optional<std::size_t>();
}

Result<Request> parse_proxy_request(std::string_view head) {
  Line lines = TRY(split(head));
  const RequestLine line = TRY(parse_request_line(lines.start));
  Request request;
  if (line.method == "CONNECT") {
    request.endpoint = TRY(parse_endpoint(line.target, std::nullopt));
    return complete(std::move(request), line, std::move(lines.fields));
  }
  constexpr std::string_view scheme = "http://";
  if (line.target.front() == '/') return malformed("this is a proxy: ask for a whole address, http://…");
  if (to_lower(line.target.substr(0, 8)) == "https://") return malformed("use CONNECT for https");
  if (to_lower(line.target.substr(0, scheme.size())) != scheme) return malformed("only http:// addresses are fetched");
  const std::string_view rest = line.target.substr(scheme.size());
  const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
  request.endpoint = TRY(parse_endpoint(rest.substr(0, end), http_port));
  request.path = std::string(end < rest.size() && rest[end] == '/' ? "" : "/") + std::string(rest.substr(end));
  return complete(std::move(request), line, std::move(lines.fields));
}

Result<Request> parse_tunnelled_request(std::string_view head, const Endpoint& endpoint) {
  Line lines = TRY(split(head));
  const RequestLine line = TRY(parse_request_line(lines.start));
  if (line.method == "CONNECT") return malformed("a tunnel leads to one host only");
  if (line.target.front() != '/' && line.target != "*") return malformed("a request in a tunnel begins with /");
  if (count(lines.fields, "host") == 0) return malformed("there is no Host field");
  Request request;
  request.endpoint = endpoint;
  request.path = line.target;
  const std::string said = *value_of(lines.fields, "host");
  // A port may be left out where it is the web's own.
  const Endpoint named = TRY(parse_endpoint(said, endpoint.port));
  if (named != endpoint)
    return malformed("the Host field says {} and the tunnel leads to {}", named.text(), endpoint.text());
  for (Field& field : lines.fields) {
    if (same(field.name, "host")) field.value = endpoint.text();
  }
  return complete(std::move(request), line, std::move(lines.fields));
}

Result<Response> parse_response(std::string_view head, const Request& request) {
  Line lines = TRY(split(head));
  const std::string_view start = lines.start;
  const bool version_1_1 = start.starts_with("HTTP/1.1 ");
  if (!version_1_1 && !start.starts_with("HTTP/1.0 ")) return malformed("the server speaks no HTTP/1");
  const std::string_view code = start.substr(9, 3);
  const bool digits = code.size() == 3 && std::ranges::all_of(code, [](char c) { return c >= '0' && c <= '9'; });
  if (!digits || code[0] == '0' || (start.size() > 12 && start[12] != ' '))
    return malformed("the server's status is malformed");
  Response response;
  response.status = (code[0] - '0') * 100 + (code[1] - '0') * 10 + (code[2] - '0');
  if (start.size() > 13 && is_value(start.substr(13))) response.reason = start.substr(13);
  const auto connection = connection_words(lines.fields);
  response.keep_alive = version_1_1 ? !has(connection, "close") : has(connection, "keep-alive");
  if (response.status == 101 && !request.websocket)
    return malformed("the server changes to a protocol that nobody asked for");
  const bool bodiless =
      request.method == "HEAD" || response.status < 200 || response.status == 204 || response.status == 304;
  const bool sized = count(lines.fields, "content-length") + count(lines.fields, "transfer-encoding") > 0;
  if (!bodiless) {
    response.body = sized ? TRY(framing_of(lines.fields, version_1_1)) : Framing{Framing::Kind::until_close, 0};
  }
  if (response.body.kind == Framing::Kind::until_close) response.keep_alive = false;
  const bool websocket = response.status == 101;
  std::erase_if(lines.fields, [&](const Field& field) { return stays_here(field, connection, websocket); });
  response.fields = std::move(lines.fields);
  return response;
}

BodyReader::BodyReader(const Framing& framing, Side side) : side_(side), left_(framing.length) {
  switch (framing.kind) {
    case Framing::Kind::none:
      state_ = State::done;
      break;
    case Framing::Kind::length:
      state_ = State::plain;
      break;
    case Framing::Kind::chunked:
      state_ = State::size;
      break;
    case Framing::Kind::until_close:
      state_ = State::until_close;
      break;
  }
}

Result<std::size_t> BodyReader::take(std::string_view bytes) {
  std::size_t at = 0;
  while (at < bytes.size() && state_ != State::done) {
    if (state_ == State::until_close) return bytes.size();
    if (state_ == State::plain || state_ == State::data) {
      const std::uint64_t some = std::min<std::uint64_t>(left_, bytes.size() - at);
      left_ -= some;
      at += some;
      if (left_ == 0) state_ = state_ == State::plain ? State::done : State::data_end;
      continue;
    }
    TRY(take_control(bytes[at]));
    ++at;
  }
  return at;
}

/// One byte of what surrounds the data of chunks.
Result<bool> BodyReader::take_control(char c) {
  constexpr std::size_t most_extra = 16 * 1024;
  constexpr unsigned most_digits = 12;
  const auto expect = [&](char wanted, State next) -> Result<bool> {
    if (c != wanted) return malformed("a chunk of the body is malformed");
    state_ = next;
    return true;
  };
  const bool lenient = side_ == Side::response;
  switch (state_) {
    case State::size: {
      const char lower = c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
      const bool digit = (lower >= '0' && lower <= '9') || (lower >= 'a' && lower <= 'f');
      if (digit && digits_ < most_digits) {
        left_ = left_ * 16 + static_cast<std::uint64_t>(lower <= '9' ? lower - '0' : lower - 'a' + 10);
        ++digits_;
        return true;
      }
      if (digits_ == 0) return malformed("a chunk of the body has no size");
      if (lenient && (c == ';' || c == ' ' || c == '\t')) {
        state_ = State::extension;
        return true;
      }
      return expect('\r', State::size_end);
    }
    case State::extension:
      if (++extra_ > most_extra || c == '\n' || c == '\0') return malformed("a chunk of the body is malformed");
      if (c == '\r') state_ = State::size_end;
      return true;
    case State::size_end: {
      const bool last = left_ == 0;
      digits_ = 0;
      line_empty_ = true;
      return expect('\n', last ? State::trailer : State::data);
    }
    case State::data_end:
      return expect('\r', State::data_end_2);
    case State::data_end_2:
      return expect('\n', State::size);
    case State::trailer:
      if (c == '\r') {
        state_ = State::last;
        return true;
      }
      if (!lenient || ++extra_ > most_extra || c == '\n' || c == '\0')
        return malformed("the end of the body is malformed");
      line_empty_ = false;
      return true;
    case State::last: {
      const bool empty = line_empty_;
      line_empty_ = true;
      return expect('\n', empty ? State::done : State::trailer);
    }
    default:
      return malformed("a chunk of the body is malformed");
  }
}

std::optional<bool> looks_like_http(std::string_view bytes) {
  constexpr std::size_t longest_line = 8 * 1024;
  if (bytes.empty()) return std::nullopt;
  // Servers pass over empty lines before a request, and over a line that names another client.
  if (std::string_view("\r\n \t").find(bytes[0]) != std::string_view::npos || bytes.starts_with("PROXY ")) return true;
  const std::string_view line = bytes.substr(0, bytes.find('\n'));
  const bool letter = (line[0] >= 'a' && line[0] <= 'z') || (line[0] >= 'A' && line[0] <= 'Z');
  if (!letter || !is_value(line.substr(0, line.find('\r')))) return false;
  if (line.find("HTTP/") != std::string_view::npos) return true;
  if (line.starts_with("SSH-") || line.size() < bytes.size() || bytes.size() > longest_line) return false;
  return std::nullopt;
}

}  // namespace cordon::sandbox::network
