#include "sandbox/network/proxy.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace cordon::sandbox::network {

namespace {

// What an event is about: the low bits say, the rest is a number.
enum Token : std::uint64_t { client = 0, server = 1, lookup = 2, own = 3 };
constexpr std::uint64_t control_token = 1 << 2 | own;
constexpr std::uint64_t listener_token = 2 << 2 | own;
constexpr std::size_t scratch_bytes = 256 * 1024;
constexpr std::size_t most_waiting_reports = 64;
constexpr auto between_ticks = std::chrono::milliseconds(500);

}  // namespace

Proxy::Proxy(ProxyParts parts)
    : parts_(std::move(parts)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      resolver_(
          std::move(parts_.resolver),
          [this](int fd, std::uint64_t id, bool writing) {
            subscribe(fd, writing ? EPOLLOUT : EPOLLIN, id << 2 | Token::lookup);
          },
          [this](std::uint64_t asker, const Resolution& resolution) {
            const auto found = connections_.find(asker);
            if (found != connections_.end()) found->second->resolved(resolution);
          }),
      scratch_(scratch_bytes) {}

/// A descriptor that nothing is wanted of is not watched at all: the kernel would go on telling of its end.
void Proxy::subscribe(int fd, std::uint32_t events, std::uint64_t token) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = token;
  if (events == 0) {
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
    return;
  }
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event) != 0 && errno == ENOENT) {
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
  }
}

void Proxy::watch(const Connection& connection, Side side, int fd, std::uint32_t events) {
  const std::uint64_t which = side == Side::client ? 0U : connection.generation();
  subscribe(fd, events, connection.id() << 10 | which << 2 | (side == Side::client ? Token::client : Token::server));
}

std::uint64_t Proxy::ask(const Connection& connection, const Wish& wish) {
  const std::uint64_t id = next_question_++;
  questions_[id] = connection.id();
  report(Question{id, wish});
  return id;
}

void Proxy::resolve(const Connection& connection, const std::string& name) { resolver_.resolve(connection.id(), name); }

/// Nothing that happened is kept from the keeper: while it does not take reports, no new work is taken up.
void Proxy::report(const FromProxy& message) {
  reports_.push_back(encode(message));
  flush_reports();
}

void Proxy::flush_reports() {
  std::size_t sent = 0;
  while (sent < reports_.size()) {
    const std::string& packet = reports_[sent];
    if (::send(parts_.control.get(), packet.data(), packet.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN) over_ = true;  // the keeper is gone
      break;
    }
    ++sent;
  }
  if (sent > 0) reports_.erase(reports_.begin(), reports_.begin() + static_cast<std::ptrdiff_t>(sent));
  subscribe(parts_.control.get(), EPOLLIN | (reports_.empty() ? 0U : EPOLLOUT), control_token);
}

bool Proxy::spend(std::size_t bytes) {
  spent_ += bytes;
  return parts_.terms.bytes == 0 || spent_ <= parts_.terms.bytes;
}

void Proxy::accept_clients() {
  constexpr int most_at_once = 64;
  for (int i = 0; i < most_at_once && connections_.size() < parts_.terms.connections; ++i) {
    const int fd = ::accept4(parts_.listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const std::uint64_t id = next_connection_++;
    connections_.emplace(id, std::make_unique<Connection>(static_cast<Services&>(*this), id, sys::Fd(fd)));
  }
}

void Proxy::take_answers() {
  std::array<char, largest_message> packet{};
  for (;;) {
    const ssize_t got = ::recv(parts_.control.get(), packet.data(), packet.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      over_ = true;
      return;
    }
    const auto answer = decode_answer({packet.data(), static_cast<std::size_t>(got)});
    if (!answer) {
      over_ = true;
      return;
    }
    const auto question = questions_.find(answer->id);
    if (question == questions_.end()) continue;
    const auto connection = connections_.find(question->second);
    questions_.erase(question);
    if (connection != connections_.end()) connection->second->answered(answer->id, *answer);
  }
}

void Proxy::tick() {
  const auto now = Connection::Clock::now();
  if (now < next_tick_) return;
  next_tick_ = now + between_ticks;
  resolver_.tick(now);
  for (auto& [id, connection] : connections_) connection->tick(now);
}

void Proxy::sweep() {
  std::erase_if(connections_, [](const auto& entry) { return entry.second->over(); });
  const bool room = connections_.size() < parts_.terms.connections && reports_.size() < most_waiting_reports;
  if (room == listening_) return;
  listening_ = room;
  subscribe(parts_.listener.get(), room ? EPOLLIN : 0U, listener_token);
}

int Proxy::timeout() const {
  if (connections_.empty() && !resolver_.busy()) return -1;
  return static_cast<int>(std::chrono::milliseconds(between_ticks).count());
}

void Proxy::run() {
  flush_reports();
  std::array<epoll_event, 256> events{};
  while (!over_) {
    sweep();
    const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout());
    if (count < 0 && errno != EINTR) return;
    for (int i = 0; i < count && !over_; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      const std::uint64_t token = event.data.u64;
      if (token == listener_token) {
        accept_clients();
      } else if (token == control_token) {
        if ((event.events & EPOLLOUT) != 0) flush_reports();
        if ((event.events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) take_answers();
      } else if ((token & 3) == Token::lookup) {
        resolver_.ready(token >> 2);
      } else if (const auto found = connections_.find(token >> 10); found != connections_.end()) {
        const bool of_client = (token & 3) == Token::client;
        if (!of_client && (token >> 2 & 0xff) != found->second->generation()) continue;
        found->second->ready(of_client ? Side::client : Side::server, event.events);
      }
    }
    tick();
  }
  conclude();
}

/// The keeper said that it is over, and still listens to how everything ended.
void Proxy::conclude() {
  for (auto& [id, connection] : connections_) connection->end();
  for (const std::string& packet : reports_) {
    if (::send(parts_.control.get(), packet.data(), packet.size(), MSG_NOSIGNAL) < 0 && errno != EINTR) return;
  }
}

}  // namespace cordon::sandbox::network
