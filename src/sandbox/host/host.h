// No sandbox at all: for mode off and for approved elevation. Only who may do that leads here; see policy/placement.h.
#pragma once

#include "sandbox/sandbox.h"

namespace cordon::sandbox::host {

/// Runs the program as the caller, with the profile's environment, directory, time and output limits. What it started
/// and left in its process group is ended with it; a program that makes a group of its own outlives it.
class HostBackend : public Sandbox {
 public:
  RunReport run(Clearance clearance, Io& io, std::stop_token stop) override;
};

}  // namespace cordon::sandbox::host
