// POST /v1/tools/NAME: one call, answered at once or as a stream of what it prints and then the answer.
#pragma once

#include <string>

#include "serve/http/exchange.h"
#include "serve/http/metrics.h"

namespace cordon::serve::http {

/// Answers, and returns when it is answered. On a worker.
void call_tool(std::string_view name, const Premises& premises, Exchange& exchange, Metrics& metrics);

/// Pieces of output as text: a character that is cut off waits for its rest.
class TextPieces {
 public:
  std::string add(std::string_view bytes);
  std::string rest() { return std::move(kept_); }

 private:
  std::string kept_;
};

}  // namespace cordon::serve::http
