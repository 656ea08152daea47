#include "sandbox/network/connection.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "sandbox/network/tls.h"

namespace cordon::sandbox::network {

namespace {

constexpr auto time_to_ask = std::chrono::seconds(30);  // for a whole head
constexpr auto time_to_dial = std::chrono::seconds(8);  // one address
constexpr auto time_to_drain = std::chrono::seconds(5);
constexpr auto time_idle = std::chrono::minutes(15);
constexpr std::size_t most_candidates = 6;
constexpr std::size_t largest_first_message = 64 * 1024;
constexpr std::size_t largest_kept = 256 * 1024;  // of a head and what follows it

bool would_block() { return errno == EAGAIN || errno == EINTR; }

}  // namespace

bool Half::flush() {
  while (!drained()) {
    const ssize_t sent = ::send(fd.get(), out.data() + out_begin, out.size() - out_begin, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) return would_block();
    out_begin += static_cast<std::size_t>(sent);
  }
  out.clear();
  out_begin = 0;
  return true;
}

bool Half::send(std::string_view bytes) {
  if (drained()) {
    const ssize_t sent = ::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && !would_block()) return false;
    bytes.remove_prefix(sent > 0 ? static_cast<std::size_t>(sent) : 0);
  }
  queue(bytes);
  return true;
}

void Half::shut_down() {
  if (shut) return;
  shut = true;
  ::shutdown(fd.get(), SHUT_WR);
}

Connection::Connection(Services& services, std::uint64_t id, sys::Fd client)
    : services_(services), id_(id), client_(std::move(client)) {
  update_interest();
}

bool Connection::wants_client() const {
  if (client_.ended) return false;
  switch (state_) {
    case State::greeting:
    case State::socks_request:
    case State::head:
    case State::sniffing:
      return in_.size() < largest_kept;
    case State::tunnel:
      return server_ && server_->drained();
    case State::exchange:
      return server_ && server_->drained() && !request_body_.done();
    case State::draining:
      return true;
    default:
      return false;
  }
}

bool Connection::wants_server() const {
  if (!server_ || server_->ended) return false;
  switch (state_) {
    case State::sniffing:
    case State::tunnel:
    case State::exchange:
      return client_.drained();
    case State::head:
    case State::asking:
      return true;  // a kept connection: its end is news
    default:
      return false;
  }
}

void Connection::update_interest() {
  if (state_ == State::over) return;
  services_.watch(*this, Side::client, client_.fd.get(),
                  (wants_client() ? EPOLLIN : 0U) | (client_.drained() ? 0U : EPOLLOUT));
  if (!server_) return;
  const bool out = state_ == State::dialling || !server_->drained();
  services_.watch(*this, Side::server, server_->fd.get(), (wants_server() ? EPOLLIN : 0U) | (out ? EPOLLOUT : 0U));
}

void Connection::ready(Side side, std::uint32_t events) {
  if (over()) return;
  active_ = Clock::now();
  Half* half = side == Side::client ? &client_ : server_ ? &*server_ : nullptr;
  if (half == nullptr) return;
  if (state_ == State::dialling && side == Side::server) {
    dialled();
    return advance();
  }
  if ((events & EPOLLOUT) != 0 && !half->flush()) events |= EPOLLERR;
  const bool broken = (events & EPOLLERR) != 0 || ((events & EPOLLHUP) != 0 && (events & EPOLLIN) == 0);
  if (broken && side == Side::client) return end();
  if (broken && (events & EPOLLIN) == 0) half->ended = true;
  half->readable = half->readable || (events & (EPOLLIN | EPOLLHUP)) != 0;
  if (side == Side::client && (events & EPOLLIN) != 0) read_client();
  if (side == Side::server && (state_ == State::head || state_ == State::asking)) {
    if (tunnelled_) return end();
    close_server();
  }
  advance();
}

void Connection::read_client() {
  if (state_ == State::tunnel) return;  // relayed without a stop
  const std::span<char> space = services_.scratch();
  const ssize_t got = ::recv(client_.fd.get(), space.data(), space.size(), MSG_DONTWAIT);
  if (got < 0 && would_block()) return;
  if (got <= 0) {
    client_.ended = true;
    return;
  }
  if (state_ != State::draining) in_.append(space.data(), static_cast<std::size_t>(got));
}

void Connection::advance() {
  while (!over() && step()) {
  }
  update_interest();
}

/// True: there may be more to do at once.
bool Connection::step() {
  switch (state_) {
    case State::greeting:
      return read_greeting();
    case State::socks_request:
      return read_socks();
    case State::head:
      return read_head();
    case State::sniffing:
      relay(*server_, client_, received_);
      return !over() && sniff();
    case State::tunnel:
      relay_tunnel();
      return false;
    case State::exchange:
      if (pump_request()) pump_response();
      return state_ != State::exchange;
    case State::draining:
      if (client_.drained()) client_.shut_down();
      if (client_.ended) end();
      return false;
    default:
      return false;
  }
}

bool Connection::read_greeting() {
  if (in_.empty()) {
    if (client_.ended) end();
    return false;
  }
  if (in_[0] != 5) {
    state_ = State::head;
    return true;
  }
  const auto greeting = read_socks_greeting(in_);
  if (!greeting) return end(), false;
  if (!*greeting) {
    if (client_.ended) end();
    return false;
  }
  in_.erase(0, (*greeting)->length);
  client_.send(socks_greeting_reply((*greeting)->value));
  socks_ = true;
  state_ = (*greeting)->value ? State::socks_request : State::draining;
  return true;
}

bool Connection::read_socks() {
  const auto request = read_socks_request(in_);
  if (!request) return end(), false;
  if (!*request) {
    if (client_.ended) end();
    return false;
  }
  in_.erase(0, (*request)->length);
  const SocksRequest& asked = (*request)->value;
  if (!asked.endpoint) {
    services_.report(Refusal{0, asked.trouble, "", true});
    client_.send(socks_reply(asked.reply));
    state_ = State::draining;
    return true;
  }
  ask({Transport::socks, *asked.endpoint, {}});
  return false;
}

bool Connection::read_head() {
  const auto length = head_length(in_);
  if (!length) return malformed(length.error()), true;
  if (!*length) {
    if (client_.ended) end();
    return false;
  }
  const std::string_view head = std::string_view(in_).substr(0, **length);
  auto request = tunnelled_ ? parse_tunnelled_request(head, *server_endpoint_) : parse_proxy_request(head);
  in_.erase(0, **length);
  if (!request) return malformed(request.error()), true;
  request_ = *std::move(request);
  const bool tunnel = request_.method == "CONNECT";
  ask({tunnel ? Transport::tunnel : Transport::http, request_.endpoint, tunnel ? "" : request_.method});
  return false;
}

void Connection::ask(const Wish& wish) {
  wish_ = wish;
  state_ = State::asking;
  question_ = services_.ask(*this, wish);
}

void Connection::answered(std::uint64_t question, const Answer& answer) {
  if (state_ != State::asking || question != question_) return;
  answer_ = answer;
  if (!answer.allowed) {
    say_last(403, SocksReply::not_allowed, answer.reason, answer.would_allow);
  } else if (server_ && server_endpoint_ == wish_.endpoint && wish_.transport == Transport::http) {
    reused_ = true;
    if (tunnelled_) {
      services_.report(Closed{question_, 0, 0});  // the tunnel's own bytes are counted with the tunnel
    } else {
      open(*server_address_);
    }
    reached();
  } else {
    close_server();
    go_to(wish_.endpoint);
  }
  advance();
}

void Connection::go_to(const Endpoint& endpoint) {
  reused_ = false;
  begun_ = Clock::now();
  if (endpoint.host.address) return judge_addresses({*endpoint.host.address});
  state_ = State::resolving;
  services_.resolve(*this, endpoint.host.name);
}

void Connection::resolved(const Resolution& resolution) {
  if (state_ != State::resolving) return;
  if (resolution.addresses.empty()) {
    fail_with(502, SocksReply::host_unreachable,
              fmt::format("{} cannot be found: {}", wish_.endpoint.host.text(), resolution.trouble));
  } else {
    judge_addresses(resolution.addresses);
  }
  advance();
}

/// Only what was judged here is dialled. IPv4 first: a machine whose IPv6 leads nowhere is more common than the other.
void Connection::judge_addresses(const std::vector<Address>& addresses) {
  candidates_.clear();
  candidate_ = 0;
  std::string reason;
  std::string would_allow;
  for (const Address& address : addresses) {
    const bool named = std::ranges::find(answer_.named, address) != answer_.named.end();
    const Place place = place_of(address);
    const auto way = named ? Routes::Way::elsewhere : services_.way_to(address);
    if (named || (place == Place::outside && way == Routes::Way::elsewhere)) {
      candidates_.push_back(address);
    } else if (place != Place::outside || way == Routes::Way::here) {
      const bool name = !wish_.endpoint.host.address;
      reason = fmt::format(
          "{} is {}{}",
          name ? wish_.endpoint.host.text() + " has the address " + address.text() + ", which" : address.text(),
          place == Place::outside ? "this machine itself" : phrase_for(place),
          name ? "; a name alone does not open that" : "");
      would_allow = Endpoint{Host{{}, address}, wish_.endpoint.port}.text();
    } else if (reason.empty()) {
      dial_trouble_ = "there is no route to it";
    }
  }
  if (candidates_.empty() && !reason.empty()) return refuse(std::move(reason), std::move(would_allow));
  std::ranges::stable_partition(candidates_, [](const Address& address) { return address.is_v4(); });
  if (candidates_.size() > most_candidates) {
    candidates_.erase(candidates_.begin() + most_candidates, candidates_.end());
  }
  dial_next();
}

void Connection::dial_next() {
  while (candidate_ < candidates_.size()) {
    const Address& address = candidates_[candidate_++];
    auto socket = open_socket(address, SOCK_STREAM);
    if (!socket || !connect_socket(*socket, address, wish_.endpoint.port)) {
      dial_trouble_ = std::strerror(errno);
      continue;
    }
    server_.emplace(std::move(*socket));
    ++generation_;
    server_endpoint_ = wish_.endpoint;
    state_ = State::dialling;
    begun_ = Clock::now();
    return;
  }
  const bool late = dial_trouble_ == std::strerror(ETIMEDOUT);
  fail_with(late ? 504 : 502, late ? SocksReply::timed_out : SocksReply::refused,
            fmt::format("{} cannot be reached: {}", wish_.endpoint.text(), dial_trouble_));
}

void Connection::dialled() {
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(server_->fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error == 0) {
    open(candidates_[candidate_ - 1]);
    return reached();
  }
  dial_trouble_ = std::strerror(error);
  server_.reset();
  dial_next();
}

void Connection::open(const Address& address) {
  opened_ = question_;
  sent_ = received_ = 0;
  server_address_ = address;
  services_.report(Opened{question_, address});
}

/// The server is there and may be talked to about what was asked.
void Connection::reached() {
  active_ = Clock::now();
  if (wish_.transport == Transport::http) {
    state_ = State::exchange;
    request_body_ = BodyReader(request_.body, BodyReader::Side::request);
    response_body_ = {};
    response_in_.clear();
    response_begun_ = false;
    server_->queue(request_.head());
    sent_ += server_->out.size();
    server_->flush();
    return;
  }
  client_.send(socks_ ? socks_reply(SocksReply::succeeded) : "HTTP/1.1 200 Connection established\r\n\r\n");
  state_ = State::sniffing;
}

/// Looks at what the client says first. The server's words are passed on meanwhile: some protocols begin with them.
bool Connection::sniff() {
  if (in_.empty()) {
    if (client_.ended || server_->ended) become_tunnel();
    return state_ == State::tunnel;
  }
  if (in_[0] == 22) return sniff_tls();
  const auto http = looks_like_http(in_);
  if (!http && !client_.ended) return false;
  if (http.value_or(false)) {
    tunnelled_ = true;
    state_ = State::head;
    begun_ = Clock::now();
    return true;
  }
  if (answer_.web_only) {
    refuse("a rule without a port is for TLS and HTTP, and this is neither", wish_.endpoint.text());
    return true;
  }
  become_tunnel();
  return true;
}

bool Connection::sniff_tls() {
  const auto hello = read_client_hello(in_);
  const bool more = hello && !*hello && !client_.ended && in_.size() < largest_first_message;
  if (more) return false;
  Result<void> checked = !hello    ? Result<void>(tl::make_unexpected(hello.error()))
                         : !*hello ? Result<void>(fail(Fault::invalid_input, "its TLS does not begin properly"))
                                   : check_server_name(**hello, wish_.endpoint.host);
  if (!checked) {
    services_.report(Refusal{question_, checked.error().sentence, "", true});
    client_.send(tls_access_denied());
    close_server();
    state_ = State::draining;
    begun_ = Clock::now();
    return true;
  }
  become_tunnel();
  return true;
}

void Connection::become_tunnel() {
  state_ = State::tunnel;
  sent_ += in_.size();
  if (!in_.empty()) server_->send(in_);
  in_.clear();
  in_.shrink_to_fit();
}

bool Connection::spend(std::size_t bytes) {
  if (services_.spend(bytes)) return true;
  services_.report(Refusal{question_, "all bytes that this run may send and receive are spent", "", true});
  return false;
}

/// As much as the other side takes now; what it does not take stops the reading.
void Connection::relay(Half& from, Half& to, std::uint64_t& counter) {
  constexpr int most_reads = 4;  // then others have their turn
  for (int i = 0; i < most_reads && to.drained() && from.readable && !from.ended; ++i) {
    const std::span<char> space = services_.scratch();
    const ssize_t got = ::recv(from.fd.get(), space.data(), space.size(), MSG_DONTWAIT);
    from.readable = got == static_cast<ssize_t>(space.size());
    if (got < 0 && would_block()) return;
    if (got <= 0) {
      from.ended = true;
      return;
    }
    counter += static_cast<std::uint64_t>(got);
    if (!spend(static_cast<std::size_t>(got))) return end();
    if (!to.send({space.data(), static_cast<std::size_t>(got)})) return end();
  }
}

void Connection::relay_tunnel() {
  if (!client_.ended) relay(client_, *server_, sent_);
  if (over()) return;
  if (!server_->ended) relay(*server_, client_, received_);
  if (over()) return;
  if (client_.ended && server_->drained()) server_->shut_down();
  if (server_->ended && client_.drained()) client_.shut_down();
  if (client_.shut && server_->shut) end();
}

void Connection::refuse(std::string reason, std::string would_allow) {
  services_.report(Refusal{question_, reason, would_allow, true});
  say_last(403, SocksReply::not_allowed, reason, would_allow);
}

void Connection::fail_with(int status, SocksReply reply, const std::string& reason) {
  services_.report(Refusal{question_, reason, "", false});
  say_last(status, reply, reason, "");
}

void Connection::malformed(const Error& error) {
  services_.report(Refusal{0, error.sentence, "", true});
  say_last(400, SocksReply::failed, error.sentence, "");
}

/// In the client's own protocol, as far as something can still be said in it.
void Connection::say_last(int status, SocksReply reply, const std::string& reason, const std::string& would_allow) {
  const bool established = state_ == State::sniffing || state_ == State::tunnel || response_begun_;
  close_server();
  state_ = State::draining;
  begun_ = Clock::now();
  in_.clear();
  if (established) return;
  if (socks_ && !tunnelled_) {
    client_.send(socks_reply(reply));
    return;
  }
  const char* phrase = status == 403   ? "Forbidden by Cordon"
                       : status == 400 ? "Bad Request"
                       : status == 504 ? "Gateway Timeout"
                                       : "Bad Gateway";
  std::string body = fmt::format("cordon: {}: {}\n", wish_.endpoint.port == 0 ? "refused" : wish_.endpoint.text(),
                                 visible(reason, Lines::escape));
  if (!would_allow.empty()) {
    body += fmt::format("To allow it, add this line under Network in SANDBOX.md and run: cordon trust\n- {}\n",
                        would_allow);
  }
  const std::string hint = would_allow.empty() ? "" : fmt::format(" (to allow it add {} under Network)", would_allow);
  client_.send(
      fmt::format("HTTP/1.1 {} {}{}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n"
                  "Connection: close\r\nProxy-Connection: close\r\n\r\n{}",
                  status, phrase, hint, body.size(), request_.method == "HEAD" ? "" : body));
}

void Connection::report_closed() {
  if (opened_ == 0) return;
  services_.report(Closed{opened_, sent_, received_});
  opened_ = 0;
}

void Connection::close_server() {
  report_closed();
  server_.reset();
  server_endpoint_.reset();
}

void Connection::end() {
  if (over()) return;
  close_server();
  state_ = State::over;
}

void Connection::tick(Clock::time_point now) {
  if (over()) return;
  const auto longest = services_.longest();
  if (longest.count() > 0 && now - accepted_ > longest) {
    services_.report(Refusal{question_, "the connection lasted as long as one may", "", true});
    return end();
  }
  switch (state_) {
    case State::greeting:
    case State::socks_request:
    case State::head:
      if (now - begun_ > time_to_ask) end();
      break;
    case State::dialling:
      if (now - begun_ <= time_to_dial) break;
      dial_trouble_ = std::strerror(ETIMEDOUT);
      server_.reset();
      dial_next();
      advance();
      break;
    case State::draining:
      if (now - begun_ > time_to_drain) end();
      break;
    default:
      if (now - active_ > time_idle) end();
      break;
  }
}

}  // namespace cordon::sandbox::network
