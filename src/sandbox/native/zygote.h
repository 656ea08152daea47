// What every sandbox starts with, made once: a user namespace and a mount namespace with the new root already built. No
// process waits in them: descriptors keep them, and a child enters instead of building. So there is no heap to inherit
// from, and starting costs the same however large the embedding process is.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/result.h"
#include "sandbox/native/blueprint.h"
#include "sandbox/native/cgroup.h"
#include "sandbox/native/draft.h"
#include "sandbox/native/launcher.h"
#include "sys/fd.h"

namespace cordon::sandbox::native {

class Zygote {
 public:
  static Result<std::unique_ptr<Zygote>> create(const Machine& machine);

  /// Whether everything the blueprint places has a first directory in the shared root; else it must start cold.
  bool fits(const Blueprint& blueprint) const;
  /// Makes the blueprint start from here. A network namespace from the pool goes with it, if there is one.
  void prepare(Blueprint& blueprint);

  /// A child that has begun, and the control group that it was born into (v2) or will enter (v1).
  struct Begun {
    std::unique_ptr<Cgroup> cgroup;
    std::unique_ptr<WaitingChild> child;
  };
  /// One for this blueprint, which is made to follow on from it; nothing when none is in stock or none can be used.
  std::optional<Begun> take_begun(Blueprint& blueprint);
  /// Where control groups come from, and which limits the next run will likely ask for.
  struct Groups {
    Cgroups* from;
    std::optional<Limits> likely;
  };
  /// Fills the pool of children that have begun. On a thread that outlives them; each takes a network namespace.
  void stock_begun(const Machine& machine, const Ladder& ladder, const Groups& groups, std::size_t count);

  /// Fills the pool of network namespaces; each is used once. Takes half a millisecond for each: not on anybody's path.
  void stock_network_namespaces(std::size_t count);

 private:
  Zygote(RootTree root_tree, sys::Fd user, sys::Fd mounts)
      : root_tree_(std::move(root_tree)), user_(std::move(user)), mounts_(std::move(mounts)) {}
  Result<sys::Fd> make_network_namespace() const;
  void enter_here(Blueprint& blueprint);
  void give_network(Blueprint& blueprint);
  Result<Begun> begin(const Machine& machine, const Ladder& ladder, const Groups& groups);

  RootTree root_tree_;
  sys::Fd user_;
  sys::Fd mounts_;
  std::mutex lock_;
  std::vector<sys::Fd> networks_;
  std::vector<Begun> begun_;
};

/// In the first child of a start from a zygote: enters its namespaces and clones the sandbox's own child as a sibling.
void enter_zygote_and_clone(void* entry);

}  // namespace cordon::sandbox::native
