// Ports of a sandbox on the host's loopback, for as long as it runs.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "sys/fd.h"

namespace cordon::sandbox::network {

class Publisher {
 public:
  /// Takes the host's ports at once: one that is taken is an error before anything runs.
  static Result<std::unique_ptr<Publisher>> open(const std::vector<std::uint16_t>& ports);
  /// Leads them into the network namespace.
  Result<void> start(const sys::Fd& network_namespace);
  ~Publisher();

 private:
  Publisher() = default;
  struct Port {
    std::uint16_t number;
    sys::Fd listener;
  };
  std::vector<Port> ports_;
  std::vector<sys::Fd> control_;  // its closing is the relay's end
  int pid_ = -1;
};

}  // namespace cordon::sandbox::network
