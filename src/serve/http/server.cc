// The only file that knows Asio: it takes long to compile.
#include "serve/http/server.h"

#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <set>

#include "sys/openssl.h"

namespace cordon::serve::http {

namespace asio = boost::asio;
using Socket = asio::generic::stream_protocol::socket;
using Moment = std::chrono::steady_clock::time_point;
using boost::system::error_code;

namespace {

constexpr std::size_t read_at_once = 16U << 10;
// What a client may send ahead while its request is being answered.
constexpr std::size_t most_ahead = 64U << 10;

/// Something to wait for, on the loop.
class Signal {
 public:
  explicit Signal(asio::io_context& loop) : timer_(loop) {}
  void set() {
    set_ = true;
    timer_.cancel();
  }
  /// False: the moment came first.
  asio::awaitable<bool> wait_until(Moment moment) {
    if (!set_) {
      error_code ignored;
      timer_.expires_at(moment);
      co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }
    co_return std::exchange(set_, false);
  }

 private:
  asio::steady_timer timer_;
  bool set_ = false;
};

/// The bytes of a connection, with or without TLS.
class Wire {
 public:
  virtual ~Wire() = default;
  virtual asio::awaitable<bool> open() = 0;
  /// 0: nothing comes any more.
  virtual asio::awaitable<std::size_t> read(asio::mutable_buffer into) = 0;
  virtual asio::awaitable<bool> write(asio::const_buffer bytes) = 0;
  virtual Socket& socket() = 0;
};

class PlainWire : public Wire {
 public:
  explicit PlainWire(Socket socket) : socket_(std::move(socket)) {}
  asio::awaitable<bool> open() override { co_return true; }
  asio::awaitable<std::size_t> read(asio::mutable_buffer into) override {
    error_code error;
    const std::size_t count = co_await socket_.async_read_some(into, asio::redirect_error(asio::use_awaitable, error));
    co_return error ? 0 : count;
  }
  asio::awaitable<bool> write(asio::const_buffer bytes) override {
    error_code error;
    co_await asio::async_write(socket_, bytes, asio::redirect_error(asio::use_awaitable, error));
    co_return !error;
  }
  Socket& socket() override { return socket_; }

 private:
  Socket socket_;
};

class TlsWire : public Wire {
 public:
  TlsWire(Socket socket, asio::ssl::context& context) : stream_(std::move(socket), context) {}
  asio::awaitable<bool> open() override {
    error_code error;
    co_await stream_.async_handshake(asio::ssl::stream_base::server, asio::redirect_error(asio::use_awaitable, error));
    co_return !error;
  }
  asio::awaitable<std::size_t> read(asio::mutable_buffer into) override {
    error_code error;
    const std::size_t count = co_await stream_.async_read_some(into, asio::redirect_error(asio::use_awaitable, error));
    co_return error ? 0 : count;
  }
  asio::awaitable<bool> write(asio::const_buffer bytes) override {
    error_code error;
    co_await asio::async_write(stream_, bytes, asio::redirect_error(asio::use_awaitable, error));
    co_return !error;
  }
  Socket& socket() override { return stream_.next_layer(); }

 private:
  asio::ssl::stream<Socket> stream_;
};

}  // namespace

class Connection;

class Loop {
 public:
  Loop(const ServerOptions& given, Api& used) : options(given), api(used) {}

  Result<void> listen();
  void serve(const std::stop_token& stop, const std::stop_token& hurry);

  asio::awaitable<void> accept(Listener& listener);
  void let_in(sys::Fd socket, const Entrance& entrance);
  void begin_end();
  void end_runs();

  ServerOptions options;
  Api& api;
  asio::io_context io{1};
  const bool openssl_ready = sys::set_up_openssl();  // before its first use, in the next line
  asio::ssl::context tls{asio::ssl::context::tls_server};
  std::vector<Listener> listeners;
  std::vector<std::unique_ptr<asio::posix::stream_descriptor>> accepting;
  std::set<std::shared_ptr<Connection>> connections;
  asio::steady_timer grace{io};
  bool closing = false;
};

/// One client: a coroutine that reads and one that answers. Everything happens on the loop.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Loop& loop, std::unique_ptr<Wire> wire, Entrance entrance)
      : loop_(loop), wire_(std::move(wire)), entrance_(std::move(entrance)), changed_(loop.io), patience_(loop.io) {}

  asio::awaitable<void> run() {
    const auto self = shared_from_this();
    be_patient();
    const bool opened = co_await wire_->open();
    patience_.cancel();
    if (opened) {
      asio::co_spawn(loop_.io, listen(), asio::detached);
      for (bool stays = true; stays;) stays = co_await one_request();
      co_await part();
    }
    close();
    loop_.connections.erase(self);
    loop_.api.count_connections(loop_.connections.size());
  }

  /// The server ends: an idle one goes now, another when its answer is told.
  void finish() { changed_.set(); }
  void end_run() {
    if (exchange_) exchange_->ask_to_stop();
  }

 private:
  /// Reads all the time, so that the end of the client is seen whatever is under way.
  asio::awaitable<void> listen() {
    const auto self = shared_from_this();
    const auto space = std::make_unique<char[]>(read_at_once);
    for (;;) {
      const std::size_t count = co_await wire_->read(asio::buffer(space.get(), read_at_once));
      if (count > 0 && !parting_) inbox_.append(space.get(), count);
      if (count == 0 || (exchange_ && inbox_.size() > most_ahead)) break;
      changed_.set();
    }
    over_ = true;
    if (exchange_) exchange_->give_up();
    changed_.set();
  }

  /// False: it was the last one.
  asio::awaitable<bool> one_request() {
    RequestReader reader(loop_.options.bounds);
    Visitor visitor;
    const auto patience = loop_.options.patience;
    Moment until = now() + 6 * patience;
    bool begun = false;
    bool head_read = false;
    for (;;) {
      if (!begun && !inbox_.empty()) {
        begun = true;
        until = now() + patience;
      }
      const RequestReader::Step step = reader.step(inbox_);
      if (step == RequestReader::Step::whole) break;
      if (step == RequestReader::Step::broken) {
        co_await refuse(reader.refusal());
        co_return false;
      }
      if (step == RequestReader::Step::head) {
        auto admitted = loop_.api.admit(reader.head(), entrance_);
        if (const auto* refused = std::get_if<Response>(&admitted)) {
          co_await refuse(*refused);
          co_return false;
        }
        visitor = std::get<Visitor>(std::move(admitted));
        head_read = true;
        until = now() + 3 * patience;
        if (reader.wants_continue() && inbox_.empty()) {
          const bool written = co_await write("HTTP/1.1 100 Continue\r\n\r\n");
          if (!written) co_return false;
        }
        continue;
      }
      if (over_ || (loop_.closing && !begun)) co_return false;
      const bool came = co_await changed_.wait_until(until);
      if (came) continue;
      if (!begun) co_return false;
      const char* what = head_read ? "the body took too long" : "the head took too long";
      Response late = error_response(408, "too_slow", what, "Send the request without pauses.");
      late.close = true;
      co_await refuse(late);
      co_return false;
    }
    if (over_) co_return false;
    const bool stays = co_await answer(reader.take(), std::move(visitor));
    co_return stays;
  }

  asio::awaitable<bool> answer(Request request, Visitor visitor) {
    const std::string* wish = request.head.field("connection");
    const bool last = wish != nullptr && request.head.names_type("connection", "close");
    const Moment begun = now();
    exchange_ = std::make_shared<Exchange>(std::move(request), std::move(visitor), [this] {
      asio::post(loop_.io, [self = shared_from_this()] { self->changed_.set(); });
    });
    const auto exchange = exchange_;
    loop_.api.answer(exchange);
    const bool told = co_await tell(*exchange);
    if (!told) exchange->give_up();
    loop_.api.note(*exchange, now() - begun);
    exchange->detach();
    exchange_.reset();
    co_return told && !last && !loop_.closing;
  }

  /// Writes what comes until its end. False: the client is gone, or is not to stay.
  asio::awaitable<bool> tell(Exchange& exchange) {
    for (;;) {
      const Exchange::Output output = exchange.take();
      if (!output.bytes.empty()) {
        const bool written = co_await write(output.bytes);
        if (!written) co_return false;
      }
      if (output.over) co_return !output.close;
      if (over_) co_return false;
      co_await changed_.wait_until(Moment::max());
    }
  }

  asio::awaitable<void> refuse(const Response& response) {
    const std::string bytes = head_bytes(response, Body::length) + response.body;
    co_await write(bytes);
  }

  asio::awaitable<bool> write(std::string_view bytes) {
    be_patient();
    const bool written = co_await wire_->write(asio::buffer(bytes));
    patience_.cancel();
    co_return written;
  }

  /// A client that is still sending would lose our last answer if we just closed.
  asio::awaitable<void> part() {
    parting_ = true;
    inbox_.clear();
    error_code ignored;
    wire_->socket().shutdown(Socket::shutdown_send, ignored);
    const Moment until = now() + std::chrono::seconds(1);
    while (!over_ && !loop_.closing) {
      const bool came = co_await changed_.wait_until(until);
      if (!came) break;
    }
  }

  void be_patient() {
    patience_.expires_after(3 * loop_.options.patience);
    patience_.async_wait([weak = weak_from_this()](const error_code& error) {
      const auto self = weak.lock();
      if (!error && self) self->close();
    });
  }

  void close() {
    error_code ignored;
    patience_.cancel();
    wire_->socket().close(ignored);
  }

  static Moment now() { return std::chrono::steady_clock::now(); }

  Loop& loop_;
  std::unique_ptr<Wire> wire_;
  Entrance entrance_;
  Signal changed_;  // bytes came, an answer came, or the end
  asio::steady_timer patience_;
  std::string inbox_;
  std::shared_ptr<Exchange> exchange_;
  bool over_ = false;  // nothing comes from the client any more
  bool parting_ = false;
};

Result<void> Loop::listen() {
  const bool with_tls = !options.certificate.empty() || !options.key.empty();
  if (with_tls && (options.certificate.empty() || options.key.empty())) {
    return fail(Fault::invalid_input, "TLS needs both --tls-cert and --tls-key");
  }
  if (with_tls && options.listen.empty()) return fail(Fault::invalid_input, "TLS is for --listen ADDR:PORT");
  if (with_tls && !openssl_ready) return fail(Fault::unavailable, "TLS cannot be set up");
  if (with_tls) {
    error_code error;
    tls.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_compression, error);
    ::SSL_CTX_set_min_proto_version(tls.native_handle(), TLS1_2_VERSION);
    tls.use_certificate_chain_file(options.certificate, error);
    if (error) return fail(Fault::invalid_input, "--tls-cert {}: {}", options.certificate, error.message());
    tls.use_private_key_file(options.key, asio::ssl::context::pem, error);
    if (error) return fail(Fault::invalid_input, "--tls-key {}: {}", options.key, error.message());
  }
  if (!options.socket.empty()) listeners.push_back(TRY(listen_unix(options.socket)));
  if (!options.listen.empty()) listeners.push_back(TRY(listen_tcp(options.listen, with_tls)));
  return {};
}

void Loop::let_in(sys::Fd socket, const Entrance& entrance) {
  if (connections.size() >= options.connections) {
    const Response full = busy_response(503, "too_many_connections", "too many clients are connected", 1);
    if (!entrance.tls) {
      const std::string text = head_bytes(full, Body::length) + full.body;
      static_cast<void>(::send(socket.get(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
    }
    return;
  }
  error_code error;
  Socket connected(io);
  const int family = entrance.local ? AF_UNIX : AF_INET;
  connected.assign(asio::generic::stream_protocol(family, 0), socket.get(), error);
  if (error) return;
  static_cast<void>(socket.release());
  std::unique_ptr<Wire> wire;
  if (entrance.tls)
    wire = std::make_unique<TlsWire>(std::move(connected), tls);
  else
    wire = std::make_unique<PlainWire>(std::move(connected));
  auto connection = std::make_shared<Connection>(*this, std::move(wire), entrance);
  connections.insert(connection);
  api.count_connections(connections.size());
  asio::co_spawn(io, connection->run(), asio::detached);
}

asio::awaitable<void> Loop::accept(Listener& listener) {
  // A descriptor of its own, which closes itself.
  accepting.push_back(std::make_unique<asio::posix::stream_descriptor>(io, ::dup(listener.listening.get())));
  asio::posix::stream_descriptor& waiting = *accepting.back();
  asio::steady_timer pause(io);
  while (!closing) {
    error_code error;
    co_await waiting.async_wait(asio::posix::stream_descriptor::wait_read,
                                asio::redirect_error(asio::use_awaitable, error));
    if (error || closing) co_return;
    Accepted next = accept_from(listener);
    while (next.socket && !closing) {
      let_in(*std::move(next.socket), listener.entrance);
      next = accept_from(listener);
    }
    if (!next.exhausted) continue;
    pause.expires_after(std::chrono::milliseconds(100));
    co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, error));
  }
}

void Loop::begin_end() {
  if (closing) return;
  closing = true;
  for (const auto& one : accepting) one->close();
  for (const Listener& listener : listeners) {
    if (!listener.path.empty()) ::unlink(listener.path.c_str());
  }
  listeners.clear();
  api.end_streams();
  for (const auto& connection : connections) connection->finish();
  grace.expires_after(options.grace);
  grace.async_wait([this](const error_code& error) {
    if (!error) end_runs();
  });
}

void Loop::end_runs() {
  for (const auto& connection : connections) connection->end_run();
}

void Loop::serve(const std::stop_token& stop, const std::stop_token& hurry) {
  for (Listener& listener : listeners) asio::co_spawn(io, accept(listener), asio::detached);
  const std::stop_callback on_stop(stop, [this] { asio::post(io, [this] { begin_end(); }); });
  const std::stop_callback on_hurry(hurry, [this] { asio::post(io, [this] { end_runs(); }); });
  auto work = asio::make_work_guard(io);
  while (!closing || !connections.empty()) {
    if (io.run_one() == 0) break;
  }
}

Server::Server(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::listen(const ServerOptions& options, Api& api) {
  auto loop = std::make_unique<Loop>(options, api);
  CHECK_OK(loop->listen());
  // Each client takes a descriptor; what runs gets the limit of its own profile.
  rlimit files{};
  const rlim_t wanted = options.connections + 4096;
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < wanted) {
    files.rlim_cur = std::min(files.rlim_max, wanted);
    ::setrlimit(RLIMIT_NOFILE, &files);
  }
  return std::unique_ptr<Server>(new Server(std::move(loop)));
}

std::vector<std::string> Server::places() const {
  std::vector<std::string> places;
  for (const Listener& listener : loop_->listeners) places.push_back(listener.shown);
  return places;
}

void Server::serve(std::stop_token stop, std::stop_token hurry) { loop_->serve(stop, hurry); }

}  // namespace cordon::serve::http
