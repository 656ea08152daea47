// Whatever is behind an engine's socket: its answers and streams never make us read, wait or keep without bounds.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "sandbox/docker/http.h"
#include "sandbox/docker/streams.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cordon::sandbox;
  constexpr std::size_t most = 4096;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t step = size > 0 ? data[0] % 64 + 1U : 1U;
  docker::AnswerReader whole(most);
  docker::AnswerReader pieces(most);
  const auto at_once = whole.feed(bytes);
  bool done = false;
  bool good = true;
  for (std::size_t at = 0; at < bytes.size() && good && !done; at += step) {
    const auto fed = pieces.feed(bytes.substr(at, step));
    good = fed.has_value();
    done = good && *fed;
  }
  // How it was cut on its way must not change what it says.
  if (at_once && good && *at_once != done) std::abort();
  if (at_once && *at_once &&
      (whole.answer().body != pieces.answer().body || whole.answer().status != pieces.answer().status)) {
    std::abort();
  }
  if (whole.answer().body.size() > most) std::abort();
  docker::FrameReader frames;
  std::size_t carried = 0;
  static_cast<void>(frames.feed(bytes, [&](Stream, std::string_view part) { carried += part.size(); }));
  if (carried > size) std::abort();
  return 0;
}
