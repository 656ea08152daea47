#include "sandbox/network/relay.h"

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace cordon::sandbox::network {

namespace {

enum Token : std::uint64_t { outer = 0, inner = 1, listener = 2, control = 3 };
constexpr std::size_t most_pairs = 1024;
constexpr std::size_t scratch_bytes = 256 * 1024;

}  // namespace

Relay::Relay(sys::Fd control_socket, std::vector<Published> published)
    : control_(std::move(control_socket)),
      published_(std::move(published)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      scratch_(scratch_bytes) {
  const auto add = [this](int fd, std::uint64_t token) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = token;
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
  };
  add(control_.get(), Token::control);
  for (std::size_t i = 0; i < published_.size(); ++i) add(published_[i].listener.get(), i << 2 | Token::listener);
}

void Relay::accept(const Published& published) {
  sys::Fd client(::accept4(published.listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (client.get() < 0 || pairs_.size() >= most_pairs) return;
  const Address loopback = Address::v4(INADDR_LOOPBACK);
  auto server = open_socket(loopback, SOCK_STREAM);
  // Nobody listens inside (yet): the client sees its connection closed.
  if (!server || !connect_socket(*server, loopback, published.port)) return;
  auto pair = std::make_unique<Pair>(Pair{Half(std::move(client)), Half(std::move(*server)), next_++});
  Pair& made = *pair;
  pairs_.emplace(made.id, std::move(pair));
  move(made);
}

void Relay::watch(const Half& half, std::uint64_t token, bool reading) {
  epoll_event event{};
  event.events = (reading ? EPOLLIN : 0U) | (half.drained() ? 0U : EPOLLOUT);
  event.data.u64 = token;
  if (event.events == 0) {
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, half.fd.get(), nullptr);
  } else if (::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, half.fd.get(), &event) != 0 && errno == ENOENT) {
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, half.fd.get(), &event);
  }
}

void Relay::pass(Half& from, Half& to, Pair& pair) {
  if (from.ended || !from.readable || !to.drained()) return;
  const ssize_t got = ::recv(from.fd.get(), scratch_.data(), scratch_.size(), MSG_DONTWAIT);
  from.readable = false;
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got < 0) pair.over = true;
  if (got <= 0) {
    from.ended = true;
  } else if (!to.send({scratch_.data(), static_cast<std::size_t>(got)})) {
    pair.over = true;
  }
}

void Relay::move(Pair& pair) {
  pass(pair.outer, pair.inner, pair);
  pass(pair.inner, pair.outer, pair);
  if (!pair.over && pair.outer.ended && pair.inner.drained()) pair.inner.shut_down();
  if (!pair.over && pair.inner.ended && pair.outer.drained()) pair.outer.shut_down();
  if (pair.outer.shut && pair.inner.shut) pair.over = true;
  if (pair.over) return;
  watch(pair.outer, pair.id << 2 | Token::outer, !pair.outer.ended && pair.inner.drained());
  watch(pair.inner, pair.id << 2 | Token::inner, !pair.inner.ended && pair.outer.drained());
}

void Relay::run() {
  std::array<epoll_event, 64> events{};
  for (;;) {
    const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), -1);
    if (count < 0 && errno != EINTR) return;
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      const std::uint64_t token = event.data.u64;
      if ((token & 3) == Token::control) return;
      if ((token & 3) == Token::listener) {
        accept(published_[token >> 2]);
        continue;
      }
      const auto found = pairs_.find(token >> 2);
      if (found == pairs_.end()) continue;
      Pair& pair = *found->second;
      Half& half = (token & 3) == Token::outer ? pair.outer : pair.inner;
      half.readable = true;
      if ((event.events & EPOLLERR) != 0 || ((event.events & EPOLLOUT) != 0 && !half.flush())) pair.over = true;
      move(pair);
    }
    std::erase_if(pairs_, [](const auto& entry) { return entry.second->over; });
  }
}

}  // namespace cordon::sandbox::network
