#include "notify/webhook.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "base/digest.h"
#include "base/text.h"
#include "notify/child.h"
#include "notify/connect.h"
#include "sys/file.h"
#include "sys/own_program.h"

namespace cordon::notify {

namespace {

constexpr std::size_t longest_head = 4096;

Result<void> send_all(const sys::Fd& socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return fail(Fault::unavailable, "sending: {}", sys::errno_text(errno));
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

/// The beginning of the answer, with its first line.
Result<std::string> ask_plainly(const Address& address, const std::string& bytes, std::chrono::seconds step) {
  const sys::Fd socket = TRY(connect_to(address.host, address.port, step));
  CHECK_OK(send_all(socket, bytes));
  std::string head;
  char buffer[512];
  while (head.size() < longest_head && head.find("\r\n") == std::string::npos) {
    const ssize_t count = ::recv(socket.get(), buffer, sizeof buffer, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return fail(Fault::unavailable, "no answer");
    head.append(buffer, static_cast<std::size_t>(count));
  }
  return head;
}

/// TLS is spoken by a program of its own: what parses a stranger's certificates holds nothing but this one message, and
/// no other start of Cordon pays for the library.
Result<std::string> ask_over_tls(const Address& address, const std::string& bytes, std::chrono::seconds step) {
  Hook speaker{.argv = {TRY(sys::beside_own_program("../libexec/cordon/cordon-https")), address.host,
                        std::to_string(address.port), std::to_string(step.count())},
               .environment = {},
               .input = bytes};
  for (const char* name : {"SSL_CERT_FILE", "SSL_CERT_DIR"}) {
    if (const char* value = std::getenv(name)) speaker.environment.push_back(fmt::format("{}={}", name, value));
  }
  const std::string said = TRY(ask_hook(speaker, longest_head));
  if (said.starts_with('+')) return said.substr(1);
  return fail(Fault::unavailable, "{}", said.starts_with('-') ? visible(said.substr(1), Lines::escape) : "no answer");
}

std::string head_of(const Address& address, const Post& post) {
  std::string head = fmt::format(
      "POST {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: cordon\r\nContent-Type: application/json\r\nContent-Length: {}\r\n"
      "X-Cordon-Event: {}\r\nX-Cordon-Timestamp: {}\r\nConnection: close\r\n",
      address.path, address.authority(), post.body.size(), post.event, post.timestamp);
  if (!post.secret.empty()) head += fmt::format("X-Cordon-Signature: sha256={}\r\n", signature_of(post));
  return head + "\r\n";
}

}  // namespace

std::string Address::authority() const {
  const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return port == (tls ? 443 : 80) ? name : fmt::format("{}:{}", name, port);
}

Result<Address> read_address(std::string_view url) {
  const auto wrong = [&](const char* why) {
    return fail(Fault::invalid_input, "'{}' {}; write https://host/path", visible(url, Lines::escape), why);
  };
  Address address;
  std::string_view rest = url;
  if (rest.starts_with("https://")) {
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
    address = {.tls = false, .port = 80};
  } else {
    return wrong("is no http or https address");
  }
  for (const char c : url) {
    if (c <= ' ' || c == '\x7f' || c == '"' || c == '\\') return wrong("holds a character that no address has");
  }
  const std::size_t slash = std::min(rest.find_first_of("/?#"), rest.size());
  std::string_view authority = rest.substr(0, slash);
  if (slash < rest.size()) {
    const std::string_view path = rest.substr(slash, rest.find('#') - slash);
    address.path = path.starts_with("/") ? std::string(path) : "/" + std::string(path);
  }
  if (authority.find('@') != std::string_view::npos) return wrong("holds a user or password, which would be logged");
  std::string_view port;
  if (authority.starts_with("[")) {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos) return wrong("has no ]");
    address.host = authority.substr(1, close - 1);
    port = authority.substr(close + 1);
  } else {
    const std::size_t colon = std::min(authority.find(':'), authority.size());
    address.host = authority.substr(0, colon);
    port = authority.substr(colon);
  }
  if (address.host.empty()) return wrong("names no host");
  if (port.empty()) return address;
  const auto [end, error] = std::from_chars(port.data() + 1, port.data() + port.size(), address.port);
  if (port.front() != ':' || error != std::errc() || end != port.data() + port.size() || address.port == 0) {
    return wrong("has a bad port");
  }
  return address;
}

std::string signature_of(const Post& post) {
  return hmac_sha256(post.secret, fmt::format("{}.{}", post.timestamp, post.body)).hex();
}

Result<void> post(const Address& address, const Post& given) {
  const auto ask = address.tls ? ask_over_tls : ask_plainly;
  const std::string answer = TRY(ask(address, head_of(address, given) + given.body, given.step));
  const std::string status = answer.substr(0, answer.find("\r\n"));
  if (status.size() == answer.size()) return fail(Fault::unavailable, "the answer is not HTTP");
  const std::string code = status.starts_with("HTTP/1.") && status.size() >= 12 ? status.substr(9, 3) : "";
  if (code.size() == 3 && code.front() == '2') return {};
  if (code.size() == 3 && code.front() == '3') {
    return fail(Fault::unavailable, "answered {}; redirects are not followed", code);
  }
  return fail(Fault::unavailable, "answered '{}'", visible(status.substr(0, 80), Lines::escape));
}

}  // namespace cordon::notify
