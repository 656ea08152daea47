// The runner: the only program that is started in a sandbox for code. It reads a request, runs the code in the engine
// that is part of it or by an interpreter of the sandbox, and tells what came of it. It is as confined as the code.
//
//   cordon-runner javascript          the engine is made ready before the request is read
//   cordon-runner program             an interpreter or compiler is started for the request
//   cordon-runner shell               the same for a shell, which is started before the request is read
//   cordon-runner python [stay]       an interpreter is started before the request is read; with `stay` it is kept
//   cordon-runner image SCRIPT        at build time
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "runner/request.h"

namespace cordon::code::runner {

namespace {

bool read_fully(char* into, std::size_t count) {
  while (count > 0) {
    const ssize_t got = ::read(0, into, count);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    into += got;
    count -= static_cast<std::size_t>(got);
  }
  return true;
}

std::uint64_t decimal(const std::string& text) {
  std::uint64_t value = 0;
  for (char c : text) value = value * 10 + static_cast<std::uint64_t>(c - '0');
  return value;
}

void take(Request& request, wire::Tag tag, std::string value) {
  using wire::Tag;
  switch (tag) {
    case Tag::token:
      request.token = std::move(value);
      break;
    case Tag::code:
      request.code = std::move(value);
      break;
    case Tag::code_name:
      request.code_name = std::move(value);
      break;
    case Tag::command:
      request.command.push_back(std::move(value));
      break;
    case Tag::compile:
      request.compile.push_back(std::move(value));
      break;
    case Tag::argument:
      request.arguments.push_back(std::move(value));
      break;
    case Tag::file: {
      const std::size_t end = value.find('\0');
      if (end != std::string::npos) request.files.emplace_back(value.substr(0, end), value.substr(end + 1));
      break;
    }
    case Tag::deadline:
      request.deadline_ms = decimal(value);
      break;
    case Tag::memory:
      request.memory_bytes = decimal(value);
      break;
    case Tag::snapshot:
      request.snapshot = std::move(value);
      break;
    case Tag::keep:
      request.keep = value == "1";
      break;
    case Tag::stay:
      request.stay = value == "1";
      break;
    case Tag::directory:
      request.directory = std::move(value);
      break;
    case Tag::artifacts:
      request.artifact_bytes = decimal(value);
      break;
    default:
      break;
  }
}

}  // namespace

bool read_request(Request& request) {
  for (;;) {
    char header[wire::header_length];
    if (!read_fully(header, sizeof header)) return false;
    std::string value(wire::length_at(header + 1), '\0');
    if (!read_fully(value.data(), value.size())) return false;
    const auto tag = static_cast<wire::Tag>(header[0]);
    if (tag == wire::Tag::go) return request.token.size() == wire::token_length;
    take(request, tag, std::move(value));
  }
}

void write_fully(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::write(descriptor, bytes.data(), bytes.size());
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) ::_exit(74);
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

}  // namespace cordon::code::runner

int main(int count, char** words) {
  using namespace cordon::code::runner;
  const std::string kind = count > 1 ? words[1] : "";
  if (kind == "image" && count == 3) return make_image(words[2]);
  // The code, which is the same user, is not to read our memory or take our place.
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  ::signal(SIGPIPE, SIG_IGN);
  if (kind == "javascript") run_javascript(true);
  if (kind == "program") run_program();
  if (kind == "shell") run_shell();
  if (kind == "python") run_python(count > 2 && std::strcmp(words[2], "stay") == 0);
  std::fprintf(stderr, "cordon-runner is started by Cordon, not by hand\n");
  return 64;
}
