// Plain HTTP through a Connection: one request, then its response, then the next request, which is judged anew.
#include <sys/socket.h>

#include <cerrno>

#include "sandbox/network/connection.h"

namespace cordon::sandbox::network {

/// The rest of the request's body, as far as it is here. False: wait for more.
bool Connection::pump_request() {
  if (!request_body_.done() && !in_.empty() && server_->drained()) {
    const auto taken = request_body_.take(in_);
    if (!taken) {
      malformed(taken.error());
      return false;
    }
    const std::string_view part = std::string_view(in_).substr(0, *taken);
    sent_ += part.size();
    if (!spend(part.size())) return end(), false;
    const bool alive = server_->send(part);
    in_.erase(0, *taken);
    if (!alive) server_->ended = true;
  }
  if (!request_body_.done() && client_.ended) return end(), false;
  return true;
}

void Connection::pump_response() {
  if (!client_.drained()) return;
  if (!server_->ended) {
    const std::span<char> space = services_.scratch();
    const ssize_t got = ::recv(server_->fd.get(), space.data(), space.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) {
      server_->ended = true;
    } else {
      received_ += static_cast<std::uint64_t>(got);
      if (!spend(static_cast<std::size_t>(got))) return end();
      response_in_.append(space.data(), static_cast<std::size_t>(got));
    }
  }
  while (!response_begun_ && !response_in_.empty()) {
    if (!take_response_head()) break;
    if (state_ != State::exchange) return;
  }
  if (response_begun_ && !response_in_.empty()) {
    const auto taken = response_body_.take(response_in_);
    if (!taken || !client_.send(std::string_view(response_in_).substr(0, *taken))) return end();
    response_in_.erase(0, *taken);
  }
  if (response_begun_ && response_body_.done()) return finish_exchange();
  if (server_->ended) server_gone();
}

/// False: more is needed.
bool Connection::take_response_head() {
  const auto length = head_length(response_in_);
  auto response = length && *length ? parse_response(std::string_view(response_in_).substr(0, **length), request_)
                                    : Result<Response>(fail(Fault::invalid_input, "the server's answer has no head"));
  if (length && !*length) return false;
  if (!length || !response) {
    const Error& error = length ? response.error() : length.error();
    fail_with(502, SocksReply::failed,
              fmt::format("the answer of {} cannot be read: {}", wish_.endpoint.text(), error.sentence));
    return true;
  }
  response_in_.erase(0, **length);
  response_ = *std::move(response);
  const bool last = response_.status >= 200 || response_.status == 101;
  client_.send(response_.head(last && request_.keep_alive && response_.body.kind != Framing::Kind::until_close));
  if (!last) return true;
  response_begun_ = true;
  response_body_ = BodyReader(response_.body, BodyReader::Side::response);
  if (response_.status == 101) {
    // From here on it is the two of them: what they say goes to the server that was judged, and nowhere else.
    client_.send(response_in_);
    response_in_.clear();
    become_tunnel();
  }
  return true;
}

void Connection::finish_exchange() {
  response_begun_ = false;
  const bool told = response_.body.kind != Framing::Kind::until_close;  // the client knows where it ended
  const bool keep_client = told && request_.keep_alive && request_body_.done() && !client_.ended;
  const bool keep_server = keep_client && response_.keep_alive && !server_->ended && response_in_.empty();
  // A tunnel's server is the only one that its client may talk to.
  if (!keep_client || (tunnelled_ && !keep_server)) {
    close_server();
    state_ = State::draining;
    begun_ = Clock::now();
    return;
  }
  if (!tunnelled_) report_closed();
  if (!keep_server) close_server();
  state_ = State::head;
  begun_ = active_ = Clock::now();
}

void Connection::server_gone() {
  if (response_begun_ && response_.body.kind == Framing::Kind::until_close) {
    response_body_ = {};
    return finish_exchange();
  }
  if (response_begun_) return end();  // cut short: the client must see that
  // A kept connection may have been closed just before; asking once more changes nothing on the server.
  const bool harmless = request_.method == "GET" || request_.method == "HEAD";
  if (reused_ && harmless && !tunnelled_ && response_in_.empty()) {
    close_server();
    return go_to(wish_.endpoint);
  }
  fail_with(502, SocksReply::failed, fmt::format("{} closed the connection without an answer", wish_.endpoint.text()));
}

}  // namespace cordon::sandbox::network
