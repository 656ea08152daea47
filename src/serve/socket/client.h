// Asking a daemon, if there is one that can be asked.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "config/load.h"
#include "serve/socket/message.h"
#include "sys/fd.h"

namespace cordon::serve::socket {

/// The daemon did it, or tried to.
struct Answer {
  Json object;
  int exit = 0;
  std::string sentence;
};

/// The daemon cannot do it, or there is none: do it here. Nothing was started.
struct Decline {
  std::string reason;
};

struct Conversation {
  std::function<void(const std::string& id)> waiting;  // told once when the request waits for a person
  /// Told the connection when the request is on its way. From then on, closing it for writing asks the daemon to end
  /// what it does; its answer is still waited for.
  std::function<void(int connection)> sent;
  /// How long a daemon may say nothing before it has taken the request. After that a run lasts as long as it lasts.
  std::chrono::milliseconds patience = std::chrono::seconds(30);
};

/// `descriptors` are in the order of `question.passed`. An error: the daemon began and then was lost, so that nobody
/// knows what became of it; or it did not take the request in time; or the request makes no sense.
Result<std::variant<Answer, Decline>> ask(const Question& question, const std::vector<int>& descriptors,
                                          const config::Sources& world, const Conversation& conversation);

}  // namespace cordon::serve::socket
