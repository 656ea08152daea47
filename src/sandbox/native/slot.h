// One sandbox, launched: what the launcher holds of it.
#pragma once

#include <memory>

#include "sandbox/native/cgroup.h"
#include "sandbox/native/draft.h"
#include "sandbox/native/launcher.h"

namespace cordon::sandbox::native {

struct Slot {
  std::unique_ptr<Draft> draft;
  std::unique_ptr<Launched> launched;
  std::unique_ptr<Cgroup> cgroup;
};

}  // namespace cordon::sandbox::native
