// What every sandbox starts with, made once: a user namespace and a mount namespace with the new root already built. No
// process waits in them: descriptors keep them, and a child enters instead of building. So there is no heap to inherit
// from, and starting costs the same however large the embedding process is.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/result.h"
#include "sandbox/native/blueprint.h"
#include "sandbox/native/draft.h"
#include "sys/fd.h"

namespace cordon::sandbox::native {

class Zygote {
 public:
  static Result<std::unique_ptr<Zygote>> create(const Machine& machine);

  /// Whether everything the blueprint places has a first directory in the shared root; else it must start cold.
  bool fits(const Blueprint& blueprint) const;
  /// Makes the blueprint start from here. A network namespace from the pool goes with it, if there is one.
  void prepare(Blueprint& blueprint);

  /// Fills the pool of network namespaces; each is used once. Takes half a millisecond for each: not on anybody's path.
  void stock_network_namespaces(std::size_t count);

 private:
  Zygote(RootTree root_tree, sys::Fd user, sys::Fd mounts)
      : root_tree_(std::move(root_tree)), user_(std::move(user)), mounts_(std::move(mounts)) {}
  Result<sys::Fd> make_network_namespace() const;

  RootTree root_tree_;
  sys::Fd user_;
  sys::Fd mounts_;
  std::mutex lock_;
  std::vector<sys::Fd> networks_;
};

/// In the first child of a start from a zygote: enters its namespaces and clones the sandbox's own child as a sibling.
void enter_zygote_and_clone(void* entry);

}  // namespace cordon::sandbox::native
