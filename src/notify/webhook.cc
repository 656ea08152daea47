#include "notify/webhook.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <memory>

#include "base/digest.h"
#include "base/text.h"
#include "sys/fd.h"
#include "sys/file.h"

namespace cordon::notify {

namespace {

constexpr std::size_t longest_head = 4096;

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};
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

Result<sys::Fd> connect_to(const addrinfo& to, std::chrono::seconds step) {
  sys::Fd socket(::socket(to.ai_family, to.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, to.ai_protocol));
  if (socket.get() < 0) return fail(Fault::unavailable, "socket: {}", sys::errno_text(errno));
  if (::connect(socket.get(), to.ai_addr, to.ai_addrlen) != 0 && errno != EINPROGRESS) {
    return fail(Fault::unavailable, "{}", sys::errno_text(errno));
  }
  pollfd ready{socket.get(), POLLOUT, 0};
  if (::poll(&ready, 1, static_cast<int>(step.count() * 1000)) <= 0) {
    return fail(Fault::unavailable, "no connection within {} s", step.count());
  }
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return fail(Fault::unavailable, "{}", sys::errno_text(error));
  const timeval time{step.count(), 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
  ::fcntl(socket.get(), F_SETFL, ::fcntl(socket.get(), F_GETFL) & ~O_NONBLOCK);
  return socket;
}

Result<sys::Fd> connect_to(const Address& address, std::chrono::seconds step) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int code = ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &wanted, &list);
  if (code != 0) return fail(Fault::unavailable, "{}: {}", address.host, ::gai_strerror(code));
  const std::unique_ptr<addrinfo, FreeAddresses> found(list);
  std::string last = "no address";
  for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
    auto socket = connect_to(*one, step);
    if (socket) return socket;
    last = socket.error().sentence;
  }
  return fail(Fault::unavailable, "cannot connect to {}: {}", address.authority(), last);
}

std::string tls_error() {
  char text[256] = "connection closed";
  if (const unsigned long code = ERR_get_error(); code != 0) ERR_error_string_n(code, text, sizeof text);
  return text;
}

/// A stream to the receiver, plain or TLS.
class Stream {
 public:
  static Result<Stream> open(const Address& address, std::chrono::seconds step) {
    Stream stream(TRY(connect_to(address, step)));
    if (address.tls) CHECK_OK(stream.shake_hands(address));
    return stream;
  }

  Result<void> send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto size = static_cast<int>(std::min<std::size_t>(bytes.size(), 1 << 16));
      const ssize_t count = connection_
                                ? SSL_write(connection_.get(), bytes.data(), size)
                                : ::send(socket_.get(), bytes.data(), static_cast<std::size_t>(size), MSG_NOSIGNAL);
      if (count < 0 && !connection_ && errno == EINTR) continue;
      if (count <= 0)
        return fail(Fault::unavailable, "sending: {}", connection_ ? tls_error() : sys::errno_text(errno));
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return {};
  }

  /// The first line of the answer.
  Result<std::string> read_status() {
    std::string head;
    char buffer[512];
    while (head.size() < longest_head) {
      const ssize_t count = connection_ ? SSL_read(connection_.get(), buffer, sizeof buffer)
                                        : ::recv(socket_.get(), buffer, sizeof buffer, 0);
      if (count < 0 && !connection_ && errno == EINTR) continue;
      if (count <= 0) return fail(Fault::unavailable, "no answer");
      head.append(buffer, static_cast<std::size_t>(count));
      if (const std::size_t end = head.find("\r\n"); end != std::string::npos) return head.substr(0, end);
    }
    return fail(Fault::unavailable, "the answer is not HTTP");
  }

 private:
  explicit Stream(sys::Fd socket) : socket_(std::move(socket)) {}

  Result<void> shake_hands(const Address& address) {
    // Before anything else asks for the library. No configuration file: it could name code to load, by a variable of the
    // environment even. Certificates may be signed with these digests and no others.
    if (OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ADD_ALL_CIPHERS |
                                OPENSSL_INIT_NO_ADD_ALL_DIGESTS | OPENSSL_INIT_NO_ATEXIT,
                            nullptr) != 1) {
      return fail(Fault::unavailable, "TLS cannot be set up: {}", tls_error());
    }
    for (const EVP_MD* digest : {EVP_sha256(), EVP_sha384(), EVP_sha512()}) EVP_add_digest(digest);
    context_.reset(SSL_CTX_new(TLS_client_method()));
    if (!context_ || SSL_CTX_set_min_proto_version(context_.get(), TLS1_2_VERSION) != 1 ||
        SSL_CTX_set_default_verify_paths(context_.get()) != 1) {
      return fail(Fault::unavailable, "TLS cannot be set up: {}", tls_error());
    }
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
    connection_.reset(SSL_new(context_.get()));
    const bool by_address = is_address(address.host);
    const bool named = connection_ && (by_address ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(connection_.get()),
                                                                                  address.host.c_str())
                                                  : SSL_set1_host(connection_.get(), address.host.c_str())) == 1;
    if (!named || (!by_address && SSL_set_tlsext_host_name(connection_.get(), address.host.c_str()) != 1) ||
        SSL_set_fd(connection_.get(), socket_.get()) != 1) {
      return fail(Fault::unavailable, "TLS cannot be set up: {}", tls_error());
    }
    if (SSL_connect(connection_.get()) != 1) {
      const long verified = SSL_get_verify_result(connection_.get());
      return fail(Fault::unavailable, "TLS with {}: {}", address.authority(),
                  verified == X509_V_OK ? tls_error() : X509_verify_cert_error_string(verified));
    }
    return {};
  }

  sys::Fd socket_;
  std::unique_ptr<SSL_CTX, FreeContext> context_;
  std::unique_ptr<SSL, FreeConnection> connection_;
};

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
  Stream stream = TRY(Stream::open(address, given.step));
  CHECK_OK(stream.send(head_of(address, given) + given.body));
  const std::string status = TRY(stream.read_status());
  const std::string code = status.starts_with("HTTP/1.") && status.size() >= 12 ? status.substr(9, 3) : "";
  if (code.size() == 3 && code.front() == '2') return {};
  if (code.size() == 3 && code.front() == '3') {
    return fail(Fault::unavailable, "answered {}; redirects are not followed", code);
  }
  return fail(Fault::unavailable, "answered '{}'", visible(status.substr(0, 80), Lines::escape));
}

}  // namespace cordon::notify
