// The command line of `cordon exec`, and the request that it makes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/asker.h"
#include "app/command_line.h"
#include "base/clock.h"
#include "model/request.h"

namespace cordon::app {

/// What `exec` is told.
struct ExecOptions {
  std::vector<std::string> command;
  RequestOptions request;
  std::string timeout;
  std::string backend;
  std::string require;
  std::string wait;
  std::string approval;
  std::string from;
  std::string ticket;
  bool require_approval = false;
  bool dry_run = false;
  bool no_dry_run = false;
  bool keep = false;
  bool no_prompt = false;
  bool detach = false;
  bool input = false;
  bool tty = false;
  bool violations = false;
  std::vector<std::string> publish;
  bool learn_network = false;

  /// Nothing: it is not waited for.
  Result<std::optional<Duration>> longest_wait() const;
};

/// `options` must live as long as the line. `action` gives the exit code.
void define_exec(CommandLine& line, ExecOptions& options, std::function<int()> action);

/// Without the caller's name (nameless_request_from).
Result<Request> exec_request(const GlobalOptions& global, const ExecOptions& options);

}  // namespace cordon::app
