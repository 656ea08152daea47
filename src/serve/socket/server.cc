#include "serve/socket/server.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "serve/socket/address.h"
#include "serve/socket/exchange.h"

namespace cordon::serve::socket {

namespace {

constexpr auto between_housekeeping = std::chrono::seconds(10);

// By number and not by descriptor: an event may be looked at after its descriptor has become another's.
constexpr std::uint64_t id_of_listening = 0;
constexpr std::uint64_t id_of_end = 1;

Result<void> watch(const sys::Fd& events, int descriptor, std::uint64_t id, std::uint32_t what) {
  epoll_event event{};
  event.events = what;
  event.data.u64 = id;
  if (::epoll_ctl(events.get(), EPOLL_CTL_ADD, descriptor, &event) != 0) {
    return fail(Fault::unavailable, "epoll_ctl: {}", sys::errno_text(errno));
  }
  return {};
}

/// A client that says nothing, or does not take its answer, does not hold a thread for ever.
void limit_patience(const sys::Fd& connection) {
  const timeval reading{10, 0};
  const timeval writing{30, 0};
  ::setsockopt(connection.get(), SOL_SOCKET, SO_RCVTIMEO, &reading, sizeof reading);
  ::setsockopt(connection.get(), SOL_SOCKET, SO_SNDTIMEO, &writing, sizeof writing);
}

}  // namespace

Result<std::unique_ptr<Server>> Server::listen(ServerOptions options, Service& service) {
  Bound bound = TRY(listen_at(options.path));
  sys::Fd events(::epoll_create1(EPOLL_CLOEXEC));
  if (events.get() < 0) return fail(Fault::unavailable, "epoll_create1: {}", sys::errno_text(errno));
  CHECK_OK(watch(events, bound.listening.get(), id_of_listening, EPOLLIN));
  return std::unique_ptr<Server>(
      new Server(std::move(options), service, std::move(bound.lock), std::move(bound.listening), std::move(events)));
}

Server::Server(ServerOptions options, Service& service, sys::FileLock lock, sys::Fd listening, sys::Fd events)
    : options_(std::move(options)),
      service_(service),
      lock_file_(std::move(lock)),
      listening_(std::move(listening)),
      events_(std::move(events)) {}

Server::~Server() {
  {
    const std::lock_guard lock(lock_);
    closing_ = true;
    for (auto& [number, connection] : open_) connection->stop.request_stop();
  }
  came_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void Server::serve(std::stop_token stop, std::stop_token hurry) {
  const sys::Fd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  static_cast<void>(watch(events_, wake.get(), id_of_end, EPOLLIN));
  const std::stop_callback on_stop(stop, [&wake] { ::eventfd_write(wake.get(), 1); });
  std::jthread housekeeper([this](const std::stop_token& end) { keep_house(end); });
  while (!stop.stop_requested()) {
    epoll_event happened[64];
    const int count = ::epoll_wait(events_.get(), happened, 64, -1);
    for (int i = 0; i < count; ++i) {
      const std::uint64_t id = happened[i].data.u64;
      if (id == id_of_listening) accept_one();
      // The client is gone or gave up.
      const std::lock_guard lock(lock_);
      if (const auto found = open_.find(id); found != open_.end()) found->second->stop.request_stop();
    }
  }
  finish(hurry);
}

void Server::accept_one() {
  sys::Fd socket(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (socket.get() < 0) return;
  // The directory keeps others out; whoever gets here all the same gets nothing.
  const auto peer = peer_of(socket);
  if (!peer || *peer != ::geteuid()) return;
  if (!shares_user_namespace(socket)) return decline(socket, "from inside a sandbox, or somebody else's");
  limit_patience(socket);
  auto connection = std::make_shared<Connection>(++last_id_, std::move(socket));
  {
    const std::lock_guard lock(lock_);
    if (open_.size() >= options_.at_once) return decline(connection->socket, "the daemon is busy");
    if (!greet(connection->socket)) return;
    open_.emplace(connection->id, connection);
  }
  static_cast<void>(watch(events_, connection->socket.get(), connection->id, EPOLLRDHUP | EPOLLONESHOT));
  give_to_worker(std::move(connection));
}

void Server::give_to_worker(std::shared_ptr<Connection> connection) {
  const std::lock_guard lock(lock_);
  waiting_.push_back(std::move(connection));
  if (waiting_.size() > idle_) workers_.emplace_back([this] { work(); });
  came_.notify_one();
}

void Server::work() {
  std::unique_lock lock(lock_);
  for (;;) {
    ++idle_;
    came_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
    --idle_;
    if (waiting_.empty()) return;
    const std::shared_ptr<Connection> connection = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    try {
      answer(service_, connection->socket, connection->stop.get_token());
    } catch (const std::exception&) {
      // Out of memory, say: one request's trouble is not the others'. The client is told by the end of its connection.
    }
    lock.lock();
    open_.erase(connection->id);
    went_.notify_all();
  }
}

void Server::keep_house(const std::stop_token& stop) {
  std::mutex alone;
  std::unique_lock lock(alone);
  std::condition_variable_any never;
  while (!never.wait_for(lock, stop, between_housekeeping, [] { return false; }) && !stop.stop_requested()) {
    service_.keep_house();
  }
}

void Server::finish(const std::stop_token& hurry) {
  listening_ = sys::Fd(-1);
  ::unlink(options_.path.c_str());
  std::unique_lock lock(lock_);
  const auto nobody = [this] { return open_.empty(); };
  went_.wait_for(lock, hurry, options_.grace, nobody);
  for (auto& [number, connection] : open_) connection->stop.request_stop();
  went_.wait(lock, nobody);
}

}  // namespace cordon::serve::socket
