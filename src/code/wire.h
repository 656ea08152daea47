// What host and runner say to each other. The runner reads one request from its standard input; what follows on it is
// the program's own input. On its standard output comes one byte as soon as it is ready for the request; then the
// program's own output, as it is; then the token of the request, then records. Everything from the runner is as hostile
// as the program: it shares its sandbox.
//
// Shared with the runner, which has no libraries: nothing but the standard library here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace cordon::code::wire {

/// One byte of tag, four of length (little endian), the bytes.
enum class Tag : std::uint8_t {
  // request
  token = 't',      // 32 hexadecimal digits that nobody else knows
  code = 'c',       //
  code_name = 'n',  // "main.py": where the code is kept, and what messages call it
  command = 'x',    // one word of what runs the code; `{}` is the code's path
  compile = 'k',    // one word of what is run before it
  argument = 'a',   // one argument for the code
  file = 'f',       // name, NUL, content: placed in the working directory
  deadline = 'd',   // milliseconds, decimal
  memory = 'm',     // bytes the engine may use
  snapshot = 's',   // the engine's state to start from; in a reply: to go on from
  keep = 'p',       // "1": send the state back
  stay = 'y',       // "1": another request may follow
  directory = 'w',  // the working directory; empty: the output directory
  artifacts = 'b',  // bytes of files to send back, at most
  go = '.',         // the end of the request

  // reply
  value = 'v',          // what the code's last expression gave, as text
  error_name = 'N',     // "TypeError"
  error_message = 'M',  //
  error_line = 'L',     // decimal
  ended = 'E',          // why it did not end by itself: "timeout", "memory", "stack", "engine", "lost"
  status = 'S',         // exit code, decimal, or −signal
  artifact = 'A',       // name, NUL, content
  left_out = 'O',       // name, NUL, reason
  done = '!',           // nothing follows
};

constexpr char ready = 'R';
constexpr std::size_t token_length = 32;
constexpr std::size_t header_length = 5;
constexpr const char* output_directory = "/home/sandboxuser/work";
constexpr const char* code_directory = "/tmp/code";

/// The engine's name for its own snapshots: those of another engine mean nothing.
constexpr std::size_t snapshot_identity_length = 32;

inline void append(std::string& message, Tag tag, std::string_view bytes) {
  const auto length = static_cast<std::uint32_t>(bytes.size());
  message.push_back(static_cast<char>(tag));
  for (int shift = 0; shift < 32; shift += 8) message.push_back(static_cast<char>(length >> shift & 0xff));
  message.append(bytes);
}

inline std::uint32_t length_at(const char* bytes) {
  std::uint32_t length = 0;
  for (int i = 0; i < 4; ++i) length |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return length;
}

}  // namespace cordon::code::wire
