// What a client asks and what it is told. A client sends a request and descriptors, never a verdict or a plan; who it
// is, is what the kernel says.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/load.h"
#include "guard/guard.h"
#include "serve/socket/frame.h"

namespace cordon::serve::socket {

enum class Verb { ping, exec, run };

/// Descriptors that may come with a request, in this order; those that are not given are left out.
enum class Passed { cwd, input, output, errors };
const char* name_of(Passed passed);

struct Question {
  Verb verb = Verb::ping;
  Request request;
  std::string input;                     // run: what the code reads first
  std::string approval;                  // of an earlier request
  std::optional<std::uint64_t> wait_ms;  // stay until a person has decided
  bool person_is_there = false;          // who can be asked on the spot, by the client itself
  bool dry_run_is_fine = false;          // false: if the settings make that the default, the client does it
  std::vector<Passed> passed;
};

Json encode(const Question& question, const config::Sources& world);
/// The request's asker is not filled in from it but for agent, session and whether it is an agent.
Result<Question> decode(const Json& body);

/// Why a client of this body cannot be served here and does it itself; empty: it can.
std::string stranger(const Json& body, const config::Sources& world);

}  // namespace cordon::serve::socket
