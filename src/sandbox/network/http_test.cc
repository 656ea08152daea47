#include "sandbox/network/http.h"

#include <gtest/gtest.h>

namespace cordon::sandbox::network {
namespace {

using namespace std::string_literals;

std::string refused(const std::string& head) {
  const auto length = head_length(head);
  if (!length) return length.error().sentence;
  if (!*length) return "not complete";
  const auto request = parse_proxy_request(std::string_view(head).substr(0, **length));
  return request ? "" : request.error().sentence;
}

std::string with(const std::string& line, const std::string& fields) { return line + "\r\n" + fields + "\r\n"; }
std::string get(const std::string& fields) { return with("GET http://a.test/x HTTP/1.1", "Host: a.test\r\n" + fields); }

TEST(Http, ReadsWhatToolsSend) {
  const auto request = parse_proxy_request(with(
      "GET http://A.test:8080/x?y=1 HTTP/1.1",
      "Host: a.test:8080\r\nUser-Agent: curl\r\nProxy-Connection: Keep-Alive\r\nProxy-Authorization: Basic eA==\r\n"
      "Connection: keep-alive, X-Own\r\nX-Own: 1\r\nTE: trailers\r\n"));
  ASSERT_TRUE(request) << request.error().sentence;
  EXPECT_EQ(request->endpoint.text(), "a.test:8080");
  EXPECT_EQ(request->head(), "GET /x?y=1 HTTP/1.1\r\nHost: a.test:8080\r\nUser-Agent: curl\r\n\r\n");
  EXPECT_TRUE(request->keep_alive);
}

TEST(Http, ReadsATunnelRequest) {
  const auto request = parse_proxy_request(with("CONNECT A.test:443 HTTP/1.1", "Host: a.test\r\n"));
  ASSERT_TRUE(request);
  EXPECT_EQ(request->endpoint.text(), "a.test:443");
  EXPECT_TRUE(parse_proxy_request(with("CONNECT a.test:443 HTTP/1.0", "")));
}

TEST(Http, RefusesWhateverCouldBeReadInTwoWays) {
  const std::string rows[] = {
      // Lines and bytes.
      "GET http://a.test/ HTTP/1.1\nHost: a.test\n\n",
      "GET http://a.test/ HTTP/1.1\r\nHost: a.test\nX: y\r\n\r\n",
      "GET http://a.test/ HTTP/1.1\r\nHost: a.test\rX: y\r\n\r\n",
      "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nX: a\0b\r\n\r\n"s,
      "GET http://a.test/\0 HTTP/1.1\r\nHost: a.test\r\n\r\n"s,
      get("X : y\r\n"),
      get(" folded\r\n"),
      get("X: y\r\n folded\r\n"),
      get("X\x01: y\r\n"),
      get("X: y\x01\r\n"),
      get(": y\r\n"),
      get("no colon\r\n"),
      // Request lines.
      with("GET  http://a.test/ HTTP/1.1", "Host: a.test\r\n"),
      with("GET http://a.test/ HTTP/1.1 ", "Host: a.test\r\n"),
      with(" GET http://a.test/ HTTP/1.1", "Host: a.test\r\n"),
      with("GET\thttp://a.test/\tHTTP/1.1", "Host: a.test\r\n"),
      with("GET http://a.test/ HTTP/2.0", "Host: a.test\r\n"),
      with("GET http://a.test/ HTTP/1.2", "Host: a.test\r\n"),
      with("GET http://a.test/ http/1.1", "Host: a.test\r\n"),
      with("GET http://a.test/", "Host: a.test\r\n"),
      with("get http://a.test/ HTTP/1.1", "Host: a.test\r\n"),
      with("G@T http://a.test/ HTTP/1.1", "Host: a.test\r\n"),
      with("PRI * HTTP/2.0", ""),
      with("GET / HTTP/1.1", "Host: a.test\r\n"),
      with("GET * HTTP/1.1", "Host: a.test\r\n"),
      with("GET https://a.test/ HTTP/1.1", "Host: a.test\r\n"),
      with("GET ftp://a.test/ HTTP/1.1", "Host: a.test\r\n"),
      with("GET file:///etc/passwd HTTP/1.1", "Host: a.test\r\n"),
      with("GET http:a.test/ HTTP/1.1", "Host: a.test\r\n"),
      with("GET http:///a.test/ HTTP/1.1", "Host: a.test\r\n"),
      with("GET http://user@a.test/ HTTP/1.1", "Host: a.test\r\n"),
      with("GET http://a.test@evil.test/ HTTP/1.1", "Host: a.test\r\n"),
      with("GET http://a.test\\@evil.test/ HTTP/1.1", "Host: a.test\r\n"),
      with("GET http://a.test#@evil.test/ HTTP/1.1", "Host: a.test\r\n"),
      with("GET http://a.test%2f/ HTTP/1.1", "Host: a.test\r\n"),
      with("GET http://a.test:/ HTTP/1.1", "Host: a.test\r\n"),
      with("GET http://a.test/\x80 HTTP/1.1", "Host: a.test\r\n"),
      // Two hosts.
      with("GET http://a.test/ HTTP/1.1", ""),
      with("GET http://a.test/ HTTP/1.1", "Host: evil.test\r\n"),
      with("GET http://a.test/ HTTP/1.1", "Host: a.test\r\nHost: a.test\r\n"),
      with("GET http://a.test/ HTTP/1.1", "Host: a.test\r\nhost: evil.test\r\n"),
      with("GET http://a.test/ HTTP/1.1", "Host: a.test, evil.test\r\n"),
      with("GET http://a.test/ HTTP/1.1", "Host: a.test:8080\r\n"),
      with("GET http://a.test:8080/ HTTP/1.1", "Host: a.test\r\n"),
      with("GET http://a.test/ HTTP/1.1", "Host:\r\n"),
      // Two lengths.
      get("Content-Length: 5\r\nContent-Length: 5\r\n"),
      get("Content-Length: 5\r\nContent-Length: 6\r\n"),
      get("Content-Length: 5, 5\r\n"),
      get("Content-Length: +5\r\n"),
      get("Content-Length: -5\r\n"),
      get("Content-Length: 0x5\r\n"),
      get("Content-Length: 5 5\r\n"),
      get("Content-Length:\r\n"),
      get("Content-Length: 9999999999999999\r\n"),
      get("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"),
      get("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"),
      get("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
      get("Transfer-Encoding: identity\r\n"),
      get("Transfer-Encoding: gzip, chunked\r\n"),
      get("Transfer-Encoding: chunked, identity\r\n"),
      get("Transfer-Encoding: xchunked\r\n"),
      get("Transfer-Encoding: \x0b"
          "chunked\r\n"),
      get("Transfer-Encoding : chunked\r\n"),
      with("GET http://a.test/ HTTP/1.0", "Host: a.test\r\nTransfer-Encoding: chunked\r\n"),
      get("Connection: Content-Length\r\nContent-Length: 5\r\n"),
      get("Connection: transfer-encoding\r\nTransfer-Encoding: chunked\r\n"),
      get("Connection: close, host\r\n"),
      // Tunnels.
      with("CONNECT a.test HTTP/1.1", "Host: a.test\r\n"),
      with("CONNECT http://a.test:443/ HTTP/1.1", "Host: a.test\r\n"),
      with("CONNECT /a.test:443 HTTP/1.1", "Host: a.test\r\n"),
      with("CONNECT a.test:443/x HTTP/1.1", "Host: a.test:443\r\n"),
      with("CONNECT a.test:443 HTTP/1.1", "Host: evil.test:443\r\n"),
      with("CONNECT a.test:443 HTTP/1.1", "Host: a.test:80\r\n"),
      with("CONNECT a.test:443 HTTP/1.1", "Host: a.test:443\r\nContent-Length: 5\r\n"),
      with("CONNECT a.test:443 HTTP/1.1", "Host: a.test:443\r\nTransfer-Encoding: chunked\r\n"),
      with("CONNECT unix:/run/docker.sock:443 HTTP/1.1", "Host: x\r\n"),
  };
  for (const std::string& row : rows) EXPECT_NE(refused(row), "") << row;
}

TEST(Http, AHeadThatNeverEndsIsRefused) {
  EXPECT_EQ(refused("GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n"), "not complete");
  EXPECT_NE(refused(std::string(largest_head, 'x')), "not complete");
  std::string many = "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n";
  for (int i = 0; i < 1000; ++i) many += "X: y\r\n";
  EXPECT_NE(refused(many + "\r\n"), "");
}

TEST(Http, InATunnelTheHostIsTheTunnels) {
  const Endpoint endpoint = *parse_endpoint("a.test:8080", std::nullopt);
  EXPECT_TRUE(parse_tunnelled_request(with("GET / HTTP/1.1", "Host: a.test:8080\r\n"), endpoint));
  EXPECT_TRUE(parse_tunnelled_request(with("GET / HTTP/1.1", "Host: A.test\r\n"), endpoint));
  for (const char* host : {"Host: evil.test\r\n", "", "Host: a.test\r\nHost: a.test\r\n", "Host: a.test:80\r\n"}) {
    EXPECT_FALSE(parse_tunnelled_request(with("GET / HTTP/1.1", host), endpoint)) << host;
  }
  EXPECT_FALSE(parse_tunnelled_request(with("GET http://evil.test/ HTTP/1.1", "Host: a.test\r\n"), endpoint));
  EXPECT_FALSE(parse_tunnelled_request(with("CONNECT evil.test:80 HTTP/1.1", "Host: a.test\r\n"), endpoint));
}

TEST(Http, AnUpgradeIsLeftOutButForAWebsocket) {
  const auto h2c =
      parse_proxy_request(get("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\n"));
  ASSERT_TRUE(h2c);
  EXPECT_EQ(h2c->head(), "GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n");
  const auto websocket = parse_proxy_request(get("Connection: Upgrade\r\nUpgrade: websocket\r\n"));
  ASSERT_TRUE(websocket);
  EXPECT_TRUE(websocket->websocket);
}

/// How many bytes of a chunked body are taken, or −1.
long taken(std::string_view bytes, BodyReader::Side side) {
  BodyReader reader({Framing::Kind::chunked, 0}, side);
  const auto count = reader.take(bytes);
  return count && reader.done() ? static_cast<long>(*count) : -1;
}

TEST(Http, ABodyEndsWhereItSays) {
  using enum BodyReader::Side;
  EXPECT_EQ(taken("5\r\nhello\r\n0\r\n\r\nGET /", request), 15);
  EXPECT_EQ(taken("A\r\n0123456789\r\n00\r\n\r\n", request), 21);
  for (const char* bad :
       {"5;x\r\nhello\r\n0\r\n\r\n", "5\nhello\r\n0\r\n\r\n", "5\r\nhelloX\r\n0\r\n\r\n", "-5\r\nhello\r\n0\r\n\r\n",
        "0x5\r\nhello\r\n0\r\n\r\n", "5 \r\nhello\r\n0\r\n\r\n", "\r\nhello\r\n0\r\n\r\n", "0\r\nX: y\r\n\r\n",
        "5\r\nhello\n0\r\n\r\n", "fffffffffffffffff\r\n", "5\r\nhello\r\n0\r\n\n"}) {
    EXPECT_EQ(taken(bad, request), -1) << bad;
  }
  EXPECT_EQ(taken("5;x=y\r\nhello\r\n0\r\nT: x\r\n\r\n", response), 25);
  BodyReader sized({Framing::Kind::length, 5}, request);
  EXPECT_EQ(*sized.take("hel"), 3U);
  EXPECT_EQ(*sized.take("loGET"), 2U);
  EXPECT_TRUE(sized.done());
}

TEST(Http, AResponseIsFramedAsItsRequestWants) {
  Request asked{.method = "GET"};
  const auto kind = [&](const std::string& head) {
    const auto response = parse_response(head, asked);
    return response ? static_cast<int>(response->body.kind) : -1;
  };
  EXPECT_EQ(kind("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"), static_cast<int>(Framing::Kind::length));
  EXPECT_EQ(kind("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), static_cast<int>(Framing::Kind::chunked));
  EXPECT_EQ(kind("HTTP/1.1 200\r\n\r\n"), static_cast<int>(Framing::Kind::until_close));
  EXPECT_EQ(kind("HTTP/1.1 304 x\r\nContent-Length: 5\r\n\r\n"), static_cast<int>(Framing::Kind::none));
  EXPECT_EQ(kind("HTTP/1.1 101 x\r\n\r\n"), -1);
  EXPECT_EQ(kind("HTTP/2 200 x\r\n\r\n"), -1);
  EXPECT_EQ(kind("HTTP/1.1 20 x\r\n\r\n"), -1);
  EXPECT_EQ(kind("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"), -1);
  asked.method = "HEAD";
  EXPECT_EQ(kind("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"), static_cast<int>(Framing::Kind::none));
}

TEST(Http, KnowsAPlainRequestInATunnel) {
  for (const char* http : {"GET / HTTP/1.1\r\n", "BREW / HTTP/1.0\r\n", "get / HTTP/1.1\n", "\r\nGET / HTTP/1.1\r\n",
                           "PROXY TCP4 1", "PRI * HTTP/2.0\r\n"}) {
    EXPECT_EQ(looks_like_http(http), true) << http;
  }
  for (const char* other : {"SSH-2.0-x\r\n", "EHLO x\r\n", "\x16\x03\x01", "PING\r\n", "\x05\x01", "GET\x01"}) {
    EXPECT_EQ(looks_like_http(other), false) << other;
  }
  EXPECT_EQ(looks_like_http("GET /"), std::nullopt);
}

}  // namespace
}  // namespace cordon::sandbox::network
