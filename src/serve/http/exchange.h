// One request under way, between the connection that brought it and whoever answers it. The connection lives on the
// loop; the answer comes from any thread.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>

#include "serve/http/message.h"
#include "serve/premises.h"

namespace cordon::serve::http {

/// Who asks, and what the limits count them as.
struct Visitor {
  Caller caller;
  std::string workspace;
  std::string key;
  bool known = false;  // showed a token, or is the peer of a Unix socket
};

class Exchange {
 public:
  /// `wake` is called from any thread when there is something to take, and must not wait.
  Exchange(Request given, Visitor who, std::function<void()> wake)
      : request(std::move(given)), visitor(std::move(who)), wake_(std::move(wake)) {}

  const Request request;
  const Visitor visitor;

  // For whoever answers.

  /// The whole answer. Nothing may follow.
  void finish(const Response& response);
  /// An answer in pieces: its head, then what `write` is given, until `end`.
  void begin(const Response& response);
  /// Waits while the client has much left to take, so that what is printed faster than it is read does not fill the
  /// memory. Nothing is kept for a client that is gone.
  void write(std::string_view bytes);
  /// For who must not wait: false when the client does not keep up.
  bool try_write(std::string_view bytes);
  void end();
  /// Asked for when the client is gone, or the server ends.
  std::stop_token stop() const { return stop_.get_token(); }
  bool begun() const;

  // For the connection.

  struct Output {
    std::string bytes;
    bool over = false;
    bool close = false;
  };
  Output take();
  /// The client is gone: nobody wants the answer.
  void give_up();
  /// The connection is done with it: `wake` is not called any more.
  void detach();
  /// The server ends: what runs is to end, and its answer to be told.
  void ask_to_stop() { stop_.request_stop(); }
  /// Of the answer; 0 before there is one.
  unsigned status() const;
  /// It goes on until the client leaves, so that the end of the server need not wait for it.
  bool is_endless() const;
  void set_endless();

 private:
  void wake() {
    if (wake_) wake_();
  }

  mutable std::mutex lock_;
  std::condition_variable taken_;
  std::function<void()> wake_;
  std::stop_source stop_;
  std::string bytes_;
  bool begun_ = false;
  unsigned status_ = 0;
  bool over_ = false;
  bool close_ = false;
  bool gone_ = false;
  bool endless_ = false;
};

}  // namespace cordon::serve::http
