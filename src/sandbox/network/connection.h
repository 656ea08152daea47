// One connection of a sandboxed program to the proxy, from its first byte to its last.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/network/http.h"
#include "sandbox/network/message.h"
#include "sandbox/network/resolver.h"
#include "sandbox/network/socket.h"
#include "sandbox/network/socks.h"
#include "sys/fd.h"

namespace cordon::sandbox::network {

class Connection;

/// What the proxy does for its connections.
class Services {
 public:
  virtual ~Services() = default;
  enum class Side { client, server };
  /// EPOLLIN and EPOLLOUT, whichever are wanted from now on.
  virtual void watch(const Connection& connection, Side side, int fd, std::uint32_t events) = 0;
  /// Returns the question's id; the answer comes by Connection::answered.
  virtual std::uint64_t ask(const Connection& connection, const Wish& wish) = 0;
  /// The answer comes by Connection::resolved.
  virtual void resolve(const Connection& connection, const std::string& name) = 0;
  virtual void report(const FromProxy& message) = 0;
  virtual Routes::Way way_to(const Address& address) = 0;
  /// False: all bytes that this sandbox may move are spent.
  virtual bool spend(std::size_t bytes) = 0;
  /// How long one connection may last; 0: no limit.
  virtual std::chrono::milliseconds longest() = 0;
  /// Memory for one read; whatever is in it is gone after the next.
  virtual std::span<char> scratch() = 0;
};

/// One end, with what could not be sent yet.
struct Half {
  explicit Half(sys::Fd socket) : fd(std::move(socket)) {}
  sys::Fd fd;
  std::string out;
  std::size_t out_begin = 0;
  bool readable = false;  // something may be there to be relayed
  bool ended = false;     // it sends no more
  bool shut = false;      // we send no more

  bool drained() const { return out_begin == out.size(); }
  void queue(std::string_view bytes) { out.append(bytes); }
  /// False: it is gone.
  bool flush();
  /// Sends what goes at once and keeps the rest.
  bool send(std::string_view bytes);
  void shut_down();
};

class Connection {
 public:
  using Clock = std::chrono::steady_clock;
  using Side = Services::Side;

  Connection(Services& services, std::uint64_t id, sys::Fd client);

  std::uint64_t id() const { return id_; }
  /// Another one for every server: an event of the last one is not the next one's.
  std::uint8_t generation() const { return generation_; }
  bool over() const { return state_ == State::over; }

  void ready(Side side, std::uint32_t events);
  void answered(std::uint64_t question, const Answer& answer);
  void resolved(const Resolution& resolution);
  void tick(Clock::time_point now);
  /// Everything ends now.
  void end();

 private:
  enum class State {
    greeting,       // the first byte tells which protocol
    socks_request,  //
    head,           // of an HTTP request
    asking,
    resolving,
    dialling,
    sniffing,  // a tunnel is open, and what the client says first is not known yet
    tunnel,
    exchange,  // an HTTP request and its response
    draining,  // the last word is said; the client may read it
    over,
  };

  void advance();
  bool step();
  bool read_greeting();
  bool read_socks();
  bool read_head();
  bool sniff();
  bool sniff_tls();
  void become_tunnel();
  void ask(const Wish& wish);
  void go_to(const Endpoint& endpoint);
  void judge_addresses(const std::vector<Address>& addresses);
  void dial_next();
  void dialled();
  void open(const Address& address);
  void reached();
  void relay(Half& from, Half& to, std::uint64_t& counter);
  void relay_tunnel();
  bool pump_request();
  void pump_response();
  bool take_response_head();
  void finish_exchange();
  void server_gone();

  void refuse(std::string reason, std::string would_allow);
  void fail_with(int status, SocksReply reply, const std::string& reason);
  void say_last(int status, SocksReply reply, const std::string& reason, const std::string& would_allow);
  void malformed(const Error& error);
  void close_server();
  void report_closed();
  /// False: nothing more may be moved, and that is said.
  bool spend(std::size_t bytes);

  void read_client();
  void update_interest();
  bool wants_client() const;
  bool wants_server() const;

  Services& services_;
  std::uint64_t id_;
  std::uint8_t generation_ = 0;
  Half client_;
  std::optional<Half> server_;
  State state_ = State::greeting;
  std::string in_;  // from the client, not understood yet
  Clock::time_point active_ = Clock::now();
  Clock::time_point begun_ = active_;  // of the step that has a time limit
  const Clock::time_point accepted_ = active_;

  Wish wish_;
  Answer answer_;
  std::uint64_t question_ = 0;
  std::uint64_t opened_ = 0;  // the question under which the server is known outside
  bool socks_ = false;
  bool tunnelled_ = false;  // HTTP inside of a tunnel
  std::optional<Endpoint> server_endpoint_;
  std::optional<Address> server_address_;
  std::vector<Address> candidates_;
  std::size_t candidate_ = 0;
  std::string dial_trouble_;
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;

  Request request_;
  Response response_;
  BodyReader request_body_;
  BodyReader response_body_;
  std::string response_in_;
  bool response_begun_ = false;  // its head was taken
  bool reused_ = false;          // the server may have closed meanwhile
};

}  // namespace cordon::sandbox::network
