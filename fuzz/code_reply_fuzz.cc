// What comes out of a sandbox may be anything. However it is cut into pieces, the same is read, and never more is kept
// than allowed.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "code/reply.h"

namespace {

constexpr std::size_t limit = 4096;
const std::string token = "0123456789abcdef0123456789abcdef";

struct Read {
  std::string raw;
  cordon::code::Reply reply;
};

Read read(std::string_view bytes, std::size_t piece) {
  using namespace cordon::code;
  ReplyReader reader(token, limit, ReplyReader::Start::with_ready_byte);
  Read result;
  auto raw = [&](std::string_view part) { result.raw.append(part); };
  for (std::size_t at = 0; at < bytes.size(); at += piece) reader.feed(bytes.substr(at, piece), raw);
  reader.finish(raw);
  result.reply = std::move(reader.reply());
  return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  // Half of the inputs begin with the token, which no fuzzer guesses.
  if (data[0] & 1) bytes = "R" + token + bytes;
  const Read whole = read(bytes, bytes.size() + 1);
  const Read pieces = read(bytes, data[0] / 2 + 1);
  if (whole.raw != pieces.raw || whole.reply.value != pieces.reply.value || whole.reply.done != pieces.reply.done ||
      whole.reply.artifacts.size() != pieces.reply.artifacts.size()) {
    std::abort();
  }
  std::size_t kept = whole.reply.value.size() + whole.reply.snapshot.size();
  for (const auto& artifact : whole.reply.artifacts) kept += artifact.content.size();
  if (kept > limit) std::abort();
  return 0;
}
