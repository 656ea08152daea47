// One request, read from standard input; and the reply, written to standard output.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../wire.h"

namespace cordon::code::runner {

struct Request {
  std::string token;
  std::string code;
  std::string code_name = "main";
  std::vector<std::string> command;
  std::vector<std::string> compile;
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> files;
  std::string directory;
  std::string snapshot;
  std::uint64_t deadline_ms = 30'000;
  std::uint64_t memory_bytes = 128ULL << 20;
  std::uint64_t artifact_bytes = 0;
  bool keep = false;
  bool stay = false;
};

/// False at the end of the input before a request began, or when it makes no sense.
bool read_request(Request& request);

/// Writes all of it, or ends the process: nobody reads any more.
void write_fully(int descriptor, std::string_view bytes);

/// Says, once, that the first request may come.
inline void tell_ready() { write_fully(1, {&wire::ready, 1}); }

/// Gathers the records that follow the program's output.
class Reply {
 public:
  explicit Reply(const std::string& token) : bytes_(token) {}
  void add(wire::Tag tag, std::string_view value) { wire::append(bytes_, tag, value); }
  void add(wire::Tag tag, std::int64_t value) { wire::append(bytes_, tag, std::to_string(value)); }
  void send() {
    wire::append(bytes_, wire::Tag::done, {});
    write_fully(1, bytes_);
    bytes_.clear();
  }

 private:
  std::string bytes_;
};

// The kinds of runs; each ends with a sent reply.
[[noreturn]] void run_javascript(bool ahead);
[[noreturn]] void run_program();
[[noreturn]] void run_shell();
[[noreturn]] void run_python(bool stays);
/// At build time: reads a script, writes the engine's state after it to standard output.
int make_image(const char* script);

}  // namespace cordon::code::runner
