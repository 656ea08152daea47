// The HTTP server: connections on one loop, answers from the workers of the Api.
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "serve/http/api.h"
#include "serve/http/listener.h"
#include "serve/http/reader.h"

namespace cordon::serve::http {

struct ServerOptions {
  std::string socket;       // of a Unix listener; empty: none
  std::string listen;       // of a TCP listener; empty: none
  std::string certificate;  // files; with both, TCP speaks TLS
  std::string key;
  ReaderBounds bounds;
  std::size_t connections = 1024;
  std::chrono::milliseconds patience = std::chrono::seconds(10);  // with a client that sends or takes slowly
  std::chrono::milliseconds grace = std::chrono::seconds(10);     // for what is under way when the end is asked for
};

class Loop;

class Server {
 public:
  /// Listens at once. `api` must outlive it.
  static Result<std::unique_ptr<Server>> listen(const ServerOptions& options, Api& api);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Where, for people.
  std::vector<std::string> places() const;

  /// Until `stop`. Then nobody new is let in, what is under way may finish within the grace, and is ended after it.
  /// `hurry` ends it at once.
  void serve(std::stop_token stop, std::stop_token hurry);

 private:
  explicit Server(std::unique_ptr<Loop> loop);
  std::unique_ptr<Loop> loop_;
};

}  // namespace cordon::serve::http
