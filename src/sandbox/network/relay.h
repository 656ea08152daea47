// The other direction, for published ports: whoever connects to a port of the host's loopback is led to the same port
// of the sandbox's. Runs in the proxy's program, inside the sandbox's network namespace and outside of everything else
// of it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "sandbox/network/connection.h"
#include "sys/fd.h"

namespace cordon::sandbox::network {

struct Published {
  sys::Fd listener;  // on the host
  std::uint16_t port = 0;
};

class Relay {
 public:
  Relay(sys::Fd control, std::vector<Published> published);
  /// Until the other end of `control` is closed.
  void run();

 private:
  struct Pair {
    Half outer;
    Half inner;
    std::uint64_t id = 0;
    bool over = false;
  };
  void accept(const Published& published);
  void move(Pair& pair);
  void pass(Half& from, Half& to, Pair& pair);
  void watch(const Half& half, std::uint64_t token, bool reading);

  sys::Fd control_;
  std::vector<Published> published_;
  sys::Fd epoll_;
  std::map<std::uint64_t, std::unique_ptr<Pair>> pairs_;
  std::vector<char> scratch_;
  std::uint64_t next_ = 1;
};

}  // namespace cordon::sandbox::network
