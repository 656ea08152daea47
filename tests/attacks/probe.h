// What a hostile program tries, as data: a probe has a name, a claim about the sandbox, and one attempt that tells
// whether the claim was broken. An attempt must be harmless where it succeeds: it opens a handle and closes it, sets a
// value to what it is, or asks with arguments that the kernel refuses only after it has checked the right to ask.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace cordon::attacks {

/// Decoys that the host side planted, by name ("home", "socket", "port", …), given as NAME=VALUE arguments: the
/// environment is no way to tell, since scrubbing it is one of the claims.
class Decoys {
 public:
  explicit Decoys(std::map<std::string, std::string> values) : values_(std::move(values)) {}
  std::string text(const std::string& name) const;
  int number(const std::string& name) const;

 private:
  std::map<std::string, std::string> values_;
};

struct Answer {
  bool open;
  int error;
  std::string note;
};

/// Open when the call succeeded; closed with its errno otherwise.
Answer answer(long result);
Answer open_if(bool open, std::string note = {});
/// For calls whose argument check comes after the permission check: reaching the argument check is success.
Answer open_unless_denied(long result);

struct Probe {
  const char* name;
  const char* claim;
  Answer (*attempt)(const Decoys&);
};

using Probes = std::span<const Probe>;
Probes file_probes();
Probes outside_probes();
Probes protected_path_probes();
Probes mode_bit_probes();
Probes procfs_probes();
Probes mount_probes();
Probes namespace_probes();
Probes process_probes();
Probes identity_probes();
Probes kernel_probes();
Probes machine_probes();
Probes terminal_probes();
Probes network_probes();
Probes ipc_probes();
Probes resource_probes();

/// The whole content of a small file, or nothing.
std::string content_of(const std::string& path);
/// Opens, closes and answers.
Answer try_open(const std::string& path, int flags);
/// Runs a program and gives its exit status as waitpid does, or -1.
int status_of(const std::vector<std::string>& arguments);

}  // namespace cordon::attacks
