// HTTP/1.1 over a Unix socket, as much of it as a container engine speaks. What comes back is read with bounds: an
// engine is a program of its own, and behind its socket may be another than one thinks.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sys/fd.h"

namespace cordon::sandbox::docker {

struct Answer {
  int status = 0;
  std::string body;
};

/// Reads an answer as its bytes come; knows nothing of sockets.
class AnswerReader {
 public:
  explicit AnswerReader(std::size_t most_body) : most_body_(most_body) {}

  /// True: the answer is complete, and `rest` holds what came after it.
  Result<bool> feed(std::string_view bytes);
  /// The other side closed. True: that was the end of the body.
  Result<bool> finish();

  bool has_head() const { return state_ != State::head; }
  /// The connection is no longer HTTP: everything after the head belongs to whoever asked.
  bool upgraded() const { return state_ == State::upgraded; }
  const Answer& answer() const { return answer_; }
  const std::string& rest() const { return buffer_; }

 private:
  enum class State { head, sized, chunk_size, chunk, chunk_end, trailer, until_close, upgraded, done };
  Result<void> read_head(std::string_view head);
  Result<bool> step();
  Result<void> take(std::size_t bytes);

  std::size_t most_body_;
  State state_ = State::head;
  std::string buffer_;
  std::size_t left_ = 0;
  std::size_t trailer_lines_ = 0;
  Answer answer_;
};

/// A connection that was handed over to a container's streams.
struct Hijacked {
  sys::Fd socket;
  std::string first;  // what came with the answer
};

using Sink = std::function<Result<void>(std::string_view)>;

class HttpClient {
 public:
  explicit HttpClient(std::string socket) : socket_(std::move(socket)) {}
  const std::string& socket() const { return socket_; }

  struct Ask {
    const char* method = "GET";
    std::string target;  // path and query, encoded
    std::string body;    // JSON; empty: none
    std::chrono::milliseconds patience{60'000};
    std::size_t most_body = 8U << 20;
  };
  Result<Answer> ask(const Ask& ask) const;
  /// A body that is made while it is sent.
  Result<Answer> upload(const Ask& ask, const char* type,
                        const std::function<Result<void>(const Sink&)>& produce) const;
  Result<Hijacked> hijack(const Ask& ask) const;

 private:
  Result<sys::Fd> connect() const;
  std::string socket_;
};

/// For a query: everything but letters, digits and -._~ as %XX.
std::string percent_encoded(std::string_view text);

}  // namespace cordon::sandbox::docker
