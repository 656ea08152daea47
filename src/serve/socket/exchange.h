// One connection: a question, what it takes to answer it, the answer.
#pragma once

#include <stop_token>

#include "serve/service.h"
#include "sys/fd.h"

namespace cordon::serve::socket {

/// Before it is asked anything: a client hands its streams to who is awake. In the hands of a daemon that is not they
/// would never end.
bool greet(const sys::Fd& connection);

/// Reads the question, answers it, and returns. `stop` is asked for when the client went away or gave up.
void answer(Service& service, const sys::Fd& connection, std::stop_token stop);

/// Sent to who cannot be served: the client does it itself.
void decline(const sys::Fd& connection, const std::string& reason);

}  // namespace cordon::serve::socket
