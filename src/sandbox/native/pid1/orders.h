// What passes over the control socket between the launcher and pid 1 of a sandbox. Both sides are of one build.
#pragma once

#include <cstdint>

namespace cordon::sandbox::native {

constexpr int control_fd = 3;
constexpr int joint_fd = 5;  // between them, until pid 1 is executed, its image
constexpr std::uint32_t orders_magic = 0x43724431;

enum OrderFlags : std::uint32_t {
  order_controlling_tty = 1u << 0,  // stdin becomes the controlling terminal
  order_compare = 1u << 1,        // the program must be `expected`, and is executed by the descriptor that was compared
  order_subreaper = 1u << 2,      // there is no pid namespace: collect orphans
  order_stay_dumpable = 1u << 3,  // for tests only (WithoutInitHygiene)
  order_compare_content = 1u << 5,  // the program may be another file with the expected content
  order_out_of_reach = 1u << 4,     // there is no pid namespace: the program must not be able to signal pid 1
  order_enter = 1u << 7,            // with it come descriptors, at most `most_doors`: write 0 to each; orders follow
  order_streams = 1u << 8,          // with it come stdin, stdout and stderr; orders follow
  order_listen = 1u << 9,           // with it comes the socket at which a container that is kept takes calls
  order_no_input = 1u << 10,        // stdin is the sandbox's own /dev/null
  order_linger = 1u << 6,  // stay after the report until the launcher closes: a container's counters go with it
};
constexpr unsigned most_doors = 4;

/// The only message over the joint, from the companion (companion.h), and which descriptors come with it, in this
/// order.
enum JointFlags : std::uint32_t {
  joint_ruleset = 1u << 0,   // of Landlock: pid 1 binds itself by it
  joint_terminal = 1u << 1,  // becomes stdin, stdout and stderr
};
constexpr std::uint32_t joint_magic = 0x43724a31;
struct Joint {
  std::uint32_t magic;
  std::uint32_t flags;
};
/// What pid 1 is called with when it has a companion.
constexpr const char* with_companion = "with-companion";

// Flags of a mount as statfs(2) tells them.
constexpr unsigned long place_read_only = 1;
constexpr unsigned long place_no_suid = 2;
constexpr unsigned long place_no_dev = 4;

/// The launcher's last message, followed by `bytes` bytes of strings, each ended by a NUL, in this order: working
/// directory, program, search path, every argument, every variable, every place. A place is "DEVICE INODE FLAGS PATH":
/// what must be found there, mounted with at least these flags (statfs(2)), or nothing is run.
struct Orders {
  std::uint32_t magic;
  std::uint32_t flags;
  std::uint32_t bytes;
  std::uint32_t arguments;
  std::uint32_t variables;
  std::uint32_t places;
  std::uint64_t expected_device;
  std::uint64_t expected_inode;
  std::uint64_t expected_size;
  std::int64_t expected_mtime_ns;
  std::int64_t expected_ctime_ns;
  unsigned char expected_content[32];
};

enum class ReportKind : std::uint32_t {
  ready = 1,  // isolated; waits for orders
  failed,     // `value` says at which step, `error` is the errno; nothing ran
  started,    // the program was executed
  ended,      // `value` is the wait status of the program; everything else is dead and reaped
  stopped,    // the launcher closed its end for writing: all were killed and reaped
};

enum class FailedAt : std::int32_t {
  orders = 1,
  working_directory,
  program_missing,
  program_differs,
  exec,
  fork,
  control_group,
  place_differs,
  mount_flags,
  input,
};

struct Report {
  ReportKind kind;
  std::int32_t value;
  std::int32_t error;
  std::uint32_t reserved;
  std::uint64_t cpu_us;          // of all that was reaped
  std::uint64_t peak_rss_bytes;  // of the largest single process
};

}  // namespace cordon::sandbox::native
