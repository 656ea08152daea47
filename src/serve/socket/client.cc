#include "serve/socket/client.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>

#include "serve/socket/address.h"
#include "sys/file.h"

namespace cordon::serve::socket {

namespace {

/// Zero: for ever.
void limit_wait(const sys::Fd& connection, int option, std::chrono::milliseconds most) {
  const timeval limit{most.count() / 1000, most.count() % 1000 * 1000};
  ::setsockopt(connection.get(), SOL_SOCKET, option, &limit, sizeof limit);
}

/// Nothing: nobody is there, or not who should be, or so many wait there that it does not move.
std::optional<sys::Fd> connect_to(const std::string& path, std::chrono::milliseconds patience) {
  const auto address = address_at(path);
  if (!address) return std::nullopt;
  sys::Fd connection(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (connection.get() < 0) return std::nullopt;
  limit_wait(connection, SO_SNDTIMEO, patience);
  limit_wait(connection, SO_RCVTIMEO, patience);
  if (::connect(connection.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0) {
    return std::nullopt;
  }
  const auto peer = peer_of(connection);
  if (!peer || *peer != ::geteuid()) return std::nullopt;
  return connection;
}

Fault fault_named(const std::string& name) {
  for (const Fault fault :
       {Fault::invalid_input, Fault::denied, Fault::expired, Fault::conflict, Fault::unavailable, Fault::corrupt}) {
    if (name == cordon::name_of(fault)) return fault;
  }
  return Fault::internal;
}

std::string text_of(const Json& body, const char* key) {
  return body.contains(key) && body[key].is_string() ? body[key].get<std::string>() : "";
}

}  // namespace

Result<std::variant<Answer, Decline>> ask(const Question& question, const std::vector<int>& descriptors,
                                          const config::Sources& world, const Conversation& conversation) {
  using Either = std::variant<Answer, Decline>;
  const auto connection = connect_to(address_of(world.state_dir), conversation.patience);
  if (!connection) return Either(Decline{"no daemon is running"});
  const auto not_taken = [](const Error& error) {
    return fail(Fault::unavailable,
                "the daemon does not take the request ({}), so it is not done; end it, or set CORDON_NO_DAEMON=1",
                error.sentence);
  };
  // It may be stopped, or hang: then it gets neither the request nor our streams.
  const auto greeting = receive_frame(*connection, largest_frame);
  if (!greeting) return not_taken(greeting.error());
  if (!*greeting) return Either(Decline{"the daemon is ending"});
  if (text_of((*greeting)->body, "type") == "decline") return Either(Decline{text_of((*greeting)->body, "reason")});
  if (const auto sent = send_frame(*connection, encode(question, world), descriptors); !sent) {
    // Not whole, so that nothing of it was done.
    return Either(Decline{sent.error().sentence});
  }
  if (conversation.sent) conversation.sent(connection->get());
  bool taken = false;
  for (;;) {
    auto frame = receive_frame(*connection, largest_frame);
    // Closing the connection keeps it from beginning later.
    if (!frame && !taken) return not_taken(frame.error());
    if (!frame) return tl::make_unexpected(frame.error());
    if (!*frame) return fail(Fault::unavailable, "the daemon ended while it worked on this; see: cordon audit log");
    const Json& body = (*frame)->body;
    const std::string type = text_of(body, "type");
    if (type == "taken") {
      taken = true;
      limit_wait(*connection, SO_RCVTIMEO, std::chrono::milliseconds(0));
    }
    if (type == "decline") return Either(Decline{text_of(body, "reason")});
    if (type == "waiting" && conversation.waiting) conversation.waiting(text_of(body, "id"));
    if (type == "error") return fail(fault_named(text_of(body, "fault")), "{}", text_of(body, "message"));
    if (type != "answer") continue;
    Answer answer{.object = body.contains("object") ? body["object"] : Json::object(),
                  .sentence = text_of(body, "sentence")};
    if (body.contains("exit") && body["exit"].is_number_integer()) answer.exit = body["exit"];
    return Either(std::move(answer));
  }
}

}  // namespace cordon::serve::socket
