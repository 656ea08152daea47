// cordon-https HOST PORT SECONDS: sends its standard input to HOST over TLS. Says "+" and the beginning of the answer, or
// "-" and what went wrong.
#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <signal.h>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <iterator>
#include <memory>

#include "notify/connect.h"
#include "sys/openssl.h"

namespace cordon::notify {

namespace {

constexpr std::size_t longest_head = 4000;

struct FreeContext {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
struct FreeConnection {
  void operator()(SSL* connection) const { SSL_free(connection); }
};

bool is_address(const std::string& host) {
  unsigned char bytes[16];
  return ::inet_pton(AF_INET, host.c_str(), bytes) == 1 || ::inet_pton(AF_INET6, host.c_str(), bytes) == 1;
}

std::string tls_error() {
  char text[256] = "connection closed";
  if (const unsigned long code = ERR_get_error(); code != 0) ERR_error_string_n(code, text, sizeof text);
  return text;
}

class TlsStream {
 public:
  static Result<TlsStream> open(const std::string& host, std::uint16_t port, std::chrono::seconds step) {
    TlsStream stream(TRY(connect_to(host, port, step)));
    CHECK_OK(stream.set_up(host));
    if (SSL_connect(stream.connection_.get()) == 1) return stream;
    const long verified = SSL_get_verify_result(stream.connection_.get());
    return fail(Fault::unavailable, "TLS with {}: {}", host,
                verified == X509_V_OK ? tls_error() : X509_verify_cert_error_string(verified));
  }

  Result<void> send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto size = static_cast<int>(std::min<std::size_t>(bytes.size(), 1 << 16));
      const int count = SSL_write(connection_.get(), bytes.data(), size);
      if (count <= 0) return fail(Fault::unavailable, "sending: {}", tls_error());
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return {};
  }

  Result<std::string> read_head() {
    std::string head;
    char buffer[512];
    while (head.size() < longest_head && head.find("\r\n") == std::string::npos) {
      const int count = SSL_read(connection_.get(), buffer, sizeof buffer);
      if (count <= 0) return fail(Fault::unavailable, "no answer");
      head.append(buffer, static_cast<std::size_t>(count));
    }
    return head.substr(0, longest_head);
  }

 private:
  explicit TlsStream(sys::Fd socket) : socket_(std::move(socket)) {}

  Result<void> set_up(const std::string& host) {
    const auto trouble = [] { return fail(Fault::unavailable, "TLS cannot be set up: {}", tls_error()); };
    if (!sys::set_up_openssl()) return trouble();
    context_.reset(SSL_CTX_new(TLS_client_method()));
    if (!context_ || SSL_CTX_set_min_proto_version(context_.get(), TLS1_2_VERSION) != 1 ||
        SSL_CTX_set_default_verify_paths(context_.get()) != 1) {
      return trouble();
    }
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
    connection_.reset(SSL_new(context_.get()));
    if (!connection_) return trouble();
    const bool by_address = is_address(host);
    const bool named = (by_address ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(connection_.get()), host.c_str())
                                   : SSL_set1_host(connection_.get(), host.c_str())) == 1;
    if (!named || (!by_address && SSL_set_tlsext_host_name(connection_.get(), host.c_str()) != 1) ||
        SSL_set_fd(connection_.get(), socket_.get()) != 1) {
      return trouble();
    }
    return {};
  }

  sys::Fd socket_;
  std::unique_ptr<SSL_CTX, FreeContext> context_;
  std::unique_ptr<SSL, FreeConnection> connection_;
};

Result<std::string> ask(const std::string& host, const char* port_text, const char* step_text) {
  std::uint16_t port = 0;
  int step = 0;
  std::from_chars(port_text, port_text + std::strlen(port_text), port);
  std::from_chars(step_text, step_text + std::strlen(step_text), step);
  if (port == 0 || step <= 0) return fail(Fault::invalid_input, "cordon-https is started by Cordon, not by hand");
  const std::string message(std::istreambuf_iterator<char>(std::cin), {});
  TlsStream stream = TRY(TlsStream::open(host, port, std::chrono::seconds(step)));
  CHECK_OK(stream.send(message));
  return stream.read_head();
}

}  // namespace

}  // namespace cordon::notify

int main(int argc, char** argv) {
  // A peer that hangs up is an error to report, not a death.
  ::signal(SIGPIPE, SIG_IGN);
  const auto answer = argc == 4
                          ? cordon::notify::ask(argv[1], argv[2], argv[3])
                          : cordon::fail(cordon::Fault::invalid_input, "usage: cordon-https HOST PORT SECONDS");
  std::cout << (answer ? "+" + *answer : "-" + answer.error().sentence) << std::flush;
  return 0;
}
