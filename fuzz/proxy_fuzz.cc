// What a sandboxed program, a server outside or a name server may send to the network proxy: nothing of it may crash,
// and what is accepted must mean the same when it is read again.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sandbox/network/dns.h"
#include "sandbox/network/http.h"
#include "sandbox/network/message.h"
#include "sandbox/network/resolver.h"
#include "sandbox/network/rule.h"
#include "sandbox/network/socks.h"
#include "sandbox/network/tls.h"

namespace {

using namespace cordon::sandbox::network;

void require(bool holds) {
  if (!holds) std::abort();
}

void names(std::string_view text) {
  if (const auto host = parse_host(text)) {
    const auto again = parse_host(host->text());
    require(again && *again == *host);
  }
  if (const auto endpoint = parse_endpoint(text, 80)) {
    const auto again = parse_endpoint(endpoint->text(), std::nullopt);
    require(again && *again == *endpoint);
  }
  if (const auto rule = parse_rule(text)) require(parse_rule(rule->text).has_value());
}

void http(std::string_view text) {
  const auto length = head_length(text);
  if (!length || !*length) return;
  const std::string_view head = text.substr(0, **length);
  if (const auto request = parse_proxy_request(head); request && request->method != "CONNECT") {
    // What the server is sent is one request for the same host, with the same body.
    const std::string sent = request->head();
    require(*head_length(sent) == sent.size());
    const auto again = parse_tunnelled_request(sent, request->endpoint);
    require(again && again->body == request->body && again->endpoint == request->endpoint &&
            again->path == request->path);
    BodyReader body(request->body, BodyReader::Side::request);
    if (const auto taken = body.take(text.substr(head.size()))) require(*taken <= text.size() - head.size());
  }
  if (const auto response = parse_response(head, {})) {
    BodyReader body(response->body, BodyReader::Side::response);
    static_cast<void>(body.take(text.substr(head.size())));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 7) {
    case 0:
      names(text);
      break;
    case 1:
      http(text);
      break;
    case 2:
      if (const auto hello = read_client_hello(text); hello && *hello) {
        static_cast<void>(check_server_name(**hello, *parse_host("a.test")));
      }
      break;
    case 3:
      static_cast<void>(read_socks_greeting(text));
      static_cast<void>(read_socks_request(text));
      break;
    case 4:
      static_cast<void>(parse_dns_reply(text, 0, "a.test", RecordType::a));
      static_cast<void>(parse_dns_reply(text, 0, "a.test", RecordType::aaaa));
      break;
    case 5:
      if (const auto message = decode_from_proxy(text)) require(decode_from_proxy(encode(*message)).has_value());
      static_cast<void>(decode_answer(text));
      static_cast<void>(looks_like_http(text));
      break;
    default:
      ResolverSettings::parse(text, text);
      break;
  }
  return 0;
}
