// From bytes to requests. The grammar is Boost.Beast's; what it lets through and a proxy might read otherwise is
// refused here.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "serve/http/message.h"

namespace cordon::serve::http {

struct ReaderBounds {
  std::size_t head_bytes = 16U << 10;
  std::size_t body_bytes = 1U << 20;
};

class RequestReader {
 public:
  explicit RequestReader(const ReaderBounds& bounds);
  ~RequestReader();
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  enum class Step {
    more,    // what is there is not enough
    head,    // told once: `head` is there, the body comes next
    whole,   // `take` it
    broken,  // `refusal` says why; nothing after it can be understood
  };
  /// Takes from the front of `bytes` what belongs to this request.
  Step step(std::string& bytes);

  const Head& head() const { return request_.head; }
  bool wants_continue() const { return wants_continue_; }
  Request take() { return std::move(request_); }
  const Response& refusal() const { return refusal_; }

 private:
  struct Parser;
  Step refuse(Response response);
  Step check_head();

  ReaderBounds bounds_;
  std::unique_ptr<Parser> parser_;
  Request request_;
  Response refusal_;
  std::size_t head_used_ = 0;
  bool head_told_ = false;
  bool wants_continue_ = false;
};

}  // namespace cordon::serve::http
