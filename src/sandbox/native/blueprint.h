// One run, worked out to the last path and number before the child exists. The child shares the launcher's memory and
// may not allocate, so whatever it needs is here and is only read.
#pragma once

#include <linux/filter.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sandbox/native/root_tree.h"
#include "sandbox/weaken.h"
#include "sys/clone.h"
#include "sys/fd.h"

namespace cordon::sandbox::native {

/// A host directory or file that appears in the sandbox.
struct PlacedTree {
  std::string source;  // host path without leading slash, no symlinks in it
  std::vector<std::string>
      targets;  // where it appears, absolute; each further one is a copy of the first, mounts included
  bool writable = false;
  bool directory = true;
  int prepared_tree = -1;  // an id-mapped mount made by the launcher (started by root)
};

/// Read-only inside the writable workspace: every directory on the way is a mount point, so that none can be moved
/// away.
struct ProtectedPath {
  std::vector<std::string> ancestors;  // relative to the workspace, outermost first
  std::string path;
  bool hidden = false;
  bool directory = false;
  bool missing = false;  // in an overlay: made in its upper layer before it is covered
};

struct ResourceLimit {
  int resource;
  std::uint64_t soft;
  std::uint64_t hard;
};

/// How far the child is isolated at each level of the ladder.
struct Ladder {
  bool user_namespace = true;
  bool namespaces = true;  // mount, pid, network, ipc, uts, cgroup
  bool fresh_proc = true;
  int landlock_abi = 0;  // 0: not there
};

constexpr std::size_t step_count = 24;

/// Written by the child, read by the launcher after the child is gone or has executed pid 1.
struct ChildNotes {
  const char* volatile step = nullptr;  // a literal
  char object[256] = {};
  volatile int error = 0;
  std::int32_t sibling = 0;  // started from a zygote: the pid of the sandbox's pid 1
  bool timed = false;
  std::array<std::uint64_t, step_count> finished_ns{};
  std::array<const char*, step_count> step_names{};
  std::uint32_t steps = 0;
};

struct Blueprint;
/// What the child is handed at its start; all of it outlives its exec.
struct ChildEntry {
  const Blueprint* volatile blueprint = nullptr;  // begun ahead: replaced before the companion is told to go on
  ChildNotes* notes = nullptr;
  ChildNotes* companion_notes = nullptr;
  const int* moved = nullptr;  // begun ahead: its descriptors, in the order of Waiting
};

/// The descriptors of a child that is begun ahead, which holds no other.
enum Waiting : std::uint8_t {
  waiting_input,
  waiting_output,
  waiting_error,
  waiting_control,
  waiting_image,
  waiting_go,
  waiting_network,
  waiting_descriptors
};

struct Blueprint {
  Ladder ladder;
  Weakened weakened;

  // Who it is outside; inside it is always 1000.
  bool started_by_root = false;
  bool maps_written_by_launcher = false;  // started by root
  std::string uid_map;
  std::string gid_map;
  std::uint32_t host_uid = 0;  // L3, L4 started by root: the id to become
  std::uint32_t host_gid = 0;

  // What it sees.
  const RootTree* root_tree = nullptr;
  bool skeleton_ready = false;  // started by a zygote: the root tree is there, host files at /.host
  std::string scratch_options;  // of the one memory file system behind /tmp, /dev/shm and HOME
  std::string home_source;      // session directory's home and tmp; empty: in memory
  std::string tmp_source;
  bool session_throwaway = false;  // each is the lower layer of an overlay in memory
  std::string home_alias;          // where HOME is seen, too; empty: nowhere else
  int home_tree = -1;              // id-mapped
  int tmp_tree = -1;
  std::string gitconfig;          // for a HOME in memory
  std::vector<PlacedTree> trees;  // workspace first, then binds
  bool has_workspace = false;
  bool overlay = false;
  bool overlay_handed_over = false;  // the launcher gets a descriptor of the memory that it is in
  std::string overlay_upper;         // host directory with upper/ and work/; empty: in memory
  int overlay_upper_tree = -1;
  std::vector<ProtectedPath> protected_paths;
  std::vector<std::string> mount_directories;  // to be made for targets, outermost first
  bool loopback = false;
  std::uint16_t proxy_port = 0;           // on loopback, where the network proxy listens; 0: there is none
  std::vector<std::uint16_t> open_ports;  // that may be connected to beside it
  bool tty = false;
  int network_namespace = -1;           // a prepared one to enter
  std::vector<sys::Fd> pooled_network;  // its owner
  int zygote_user = -1;
  int zygote_mounts = -1;
  int birth_cgroup = -1;

  // What it may use.
  std::vector<ResourceLimit> limits;

  // The second and third lock.
  std::span<const sock_filter> filter;
  bool filter_has_listener = false;

  // Its only descriptors.
  int input = -1;  // −1: pid 1 opens its own /dev/null
  int output = -1;
  int error = -1;
  int control = -1;           // the child's end
  int launcher_control = -1;  // the launcher's end, to be closed
  int pid1_image = -1;
  int launcher_go = -1;
  int go = -1;  // readable once the launcher wrote the id maps

  // The child's own memory.
  bool timed = false;
  std::vector<sys::ChildStack> stack;
  ChildEntry entry;
  std::shared_ptr<void> waited_with;  // what a child that was begun ahead was started with
};

}  // namespace cordon::sandbox::native
