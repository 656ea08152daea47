// What happens, told to who listens: every record of the log about requests and runs, whichever process wrote it.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "serve/http/exchange.h"
#include "serve/token.h"
#include "sys/fd.h"

namespace cordon::serve::http {

class Events {
 public:
  /// Of the log in `directory`. `tokens` must outlive it.
  static Result<std::unique_ptr<Events>> follow(std::string directory, TokenCheck& tokens);
  ~Events();
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  enum class Wants { records, nothing };
  /// From now on, until it goes; a stream that was begun already goes on. Whoever wants nothing is only kept awake.
  void listen(std::shared_ptr<Exchange> exchange, Wants wants);
  std::size_t listeners() const;
  /// Ends every stream; nobody new is taken.
  void close();

 private:
  struct Listener {
    std::shared_ptr<Exchange> exchange;
    Wants wants;
  };
  Events(std::string directory, TokenCheck& tokens, sys::Fd changes, sys::Fd wake);
  void run();
  bool watch_log();  // with lock_ held
  void look();
  void tell(std::string_view line);  // with lock_ held
  void keep_awake();

  std::string directory_;
  TokenCheck& tokens_;
  sys::Fd changes_;  // inotify
  sys::Fd wake_;     // eventfd: the end
  mutable std::mutex lock_;
  int watch_ = -1;   // on the log's directory
  std::string day_;  // the file that is read
  std::uint64_t offset_ = 0;
  std::list<Listener> listeners_;
  bool closed_ = false;
  std::thread thread_;
};

/// How a record of the log is told; nothing: it is not, or not to this caller.
struct Told {
  std::string name;  // "queue" or "run"
  std::string id;
};
std::optional<Told> told_as(const Json& record, const Caller& caller);

}  // namespace cordon::serve::http
