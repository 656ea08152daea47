// config.json of a bundle: a profile in the words of the OCI runtime specification.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "sandbox/container/layout.h"
#include "sandbox/native/root_tree.h"

namespace cordon::sandbox::oci {

enum class Runtime { runc, crun, gvisor };
const char* name_of(Runtime runtime);

struct Bundle {
  Runtime runtime = Runtime::runc;
  container::Identity identity;
  /// Where each place of the layout lies in the runtime's mount namespace.
  std::vector<std::string> sources;
  /// By the runtime (started by root); empty: it is put into control groups from outside, or there are none.
  std::string cgroups_path;
  bool processes_in_cgroup = false;
};

Json config_of(const container::Layout& layout, const Bundle& bundle);

/// Fills `directory` with the skeleton of a root: what is mounted of the host's own files is added to `places`.
Result<void> make_root(const std::string& directory, const native::RootTree& tree, const container::Identity& identity,
                       std::vector<container::Place>& places);

}  // namespace cordon::sandbox::oci
