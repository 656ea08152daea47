// The daemon's socket: who may connect, how many at once, and how it ends.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "serve/service.h"
#include "sys/fd.h"
#include "sys/file.h"

namespace cordon::serve::socket {

struct ServerOptions {
  std::string path;
  std::size_t at_once = 128;                                   // beyond it a client is told to do it itself
  std::chrono::milliseconds grace = std::chrono::seconds(10);  // for what is under way when the end is asked for
};

class Server {
 public:
  /// Listens at once. A socket that nobody listens on is replaced; a second daemon for the same path is refused.
  static Result<std::unique_ptr<Server>> listen(ServerOptions options, Service& service);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Until `stop`. Then nobody new is let in, what is under way may finish within the grace, and is ended after it.
  /// `hurry` ends it at once.
  void serve(std::stop_token stop, std::stop_token hurry);

 private:
  struct Connection {
    Connection(std::uint64_t number, sys::Fd given) : id(number), socket(std::move(given)) {}
    std::uint64_t id;
    sys::Fd socket;
    std::stop_source stop;
  };
  Server(ServerOptions options, Service& service, sys::FileLock lock, sys::Fd listening, sys::Fd events);

  void accept_one();
  void give_to_worker(std::shared_ptr<Connection> connection);
  void work();
  void keep_house(const std::stop_token& stop);
  void finish(const std::stop_token& hurry);

  ServerOptions options_;
  Service& service_;
  sys::FileLock lock_file_;
  sys::Fd listening_;
  sys::Fd events_;  // epoll
  std::mutex lock_;
  std::condition_variable came_;
  std::condition_variable_any went_;
  std::deque<std::shared_ptr<Connection>> waiting_;
  std::map<std::uint64_t, std::shared_ptr<Connection>> open_;
  std::uint64_t last_id_ = 1;  // 0 and 1 are the server's own
  std::size_t idle_ = 0;
  bool closing_ = false;
  // A sandbox ends with the thread that started it, so that they stay.
  std::vector<std::thread> workers_;
};

}  // namespace cordon::serve::socket
