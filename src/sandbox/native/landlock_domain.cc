#include "sandbox/native/landlock_domain.h"

#include <cerrno>

#include "sandbox/native/child.h"
#include "sandbox/native/landlock_rules.h"
#include "sys/landlock.h"

namespace cordon::sandbox::native {

using namespace sys;

namespace {

const std::uint64_t reading = landlock_rights(FileAccess::read_execute);
const std::uint64_t changing = landlock_rights(FileAccess::write_execute);
const std::uint64_t device = landlock_rights(FileAccess::device);

struct KernelRule {
  std::uint64_t rights;
  std::int32_t descriptor;
} __attribute__((packed));

struct Attributes {
  std::uint64_t files;
  std::uint64_t network;
  std::uint64_t scopes;
};

class Domain {
 public:
  Domain(Child& child, long ruleset, std::uint64_t handled) : child_(child), ruleset_(ruleset), handled_(handled) {}

  bool allow(const char* path, std::uint64_t rights) {
    long fd = raw::open(AT_FDCWD, path, O_PATH);
    if (fd == -ENOENT) return true;
    if (!child_.ok(fd, "open for Landlock", path)) return false;
    struct stat status {};
    long result = raw::stat_at(static_cast<int>(fd), "", status, AT_EMPTY_PATH);
    if (result == 0) {
      const std::uint64_t fitting = S_ISDIR(status.st_mode) ? rights : rights & landlock::file_rights;
      const KernelRule rule{fitting & handled_, static_cast<std::int32_t>(fd)};
      result = raw::call(SYS_landlock_add_rule, ruleset_, 1, raw::address(&rule), 0);
    }
    raw::close(fd);
    return child_.ok(result, "landlock_add_rule", path);
  }

 private:
  Child& child_;
  long ruleset_;
  std::uint64_t handled_;
};

bool allow_new_root(Child& child, Domain& domain) {
  if (!domain.allow("/", reading)) return false;
  for (const char* path : {"/tmp", "/dev/shm", home_directory}) {
    if (!domain.allow(path, changing)) return false;
  }
  // What is in it was chosen; making more is a right of its own.
  if (!domain.allow("/dev", device)) return false;
  for (const PlacedTree& tree : child.plan.trees) {
    if (!tree.writable) continue;
    for (const std::string& target : tree.targets) {
      if (!domain.allow(target.c_str(), changing)) return false;
    }
  }
  return true;
}

/// Level L4: there is no new root, so this is the only lock and lists what may be read, too.
bool allow_host_root(Child& child, Domain& domain) {
  for (const RootTree::Entry& entry : child.plan.root_tree->entries) {
    if (entry.kind != RootTree::Entry::Kind::link && !domain.allow(entry.path.c_str(), reading)) return false;
  }
  if (!domain.allow("/proc", landlock_rights(FileAccess::read))) return false;
  for (const char* path : {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}) {
    if (!domain.allow(path, device)) return false;
  }
  for (const PlacedTree& tree : child.plan.trees) {
    if (!domain.allow(tree.targets.front().c_str(), tree.writable ? changing : reading)) return false;
  }
  return true;
}

bool allow_ports(Child& child, long ruleset) {
  const auto allow = [&](std::uint16_t port) {
    const std::uint64_t rule[2] = {landlock::connect_tcp, port};
    constexpr int net_port = 2;
    return child.ok(raw::call(SYS_landlock_add_rule, ruleset, net_port, raw::address(rule), 0), "landlock port");
  };
  if (!allow(child.plan.proxy_port)) return false;
  for (const std::uint16_t port : child.plan.open_ports) {
    if (!allow(port)) return false;
  }
  return true;
}

}  // namespace

bool make_landlock_ruleset(Child& child, int& ruleset) {
  const Blueprint& plan = child.plan;
  ruleset = -1;
  if (plan.ladder.landlock_abi <= 0 || plan.weakened.landlock()) return true;
  const landlock::Rights offered = landlock::offered_by(plan.ladder.landlock_abi);
  // An empty network namespace reaches nothing; with loopback, ports of its own may be used; with a proxy, that one.
  const std::uint64_t network = plan.proxy_port != 0 ? offered.network & landlock::connect_tcp
                                : plan.loopback      ? 0
                                                     : offered.network;
  const Attributes attributes{offered.files, network, offered.scopes};
  const long size = plan.ladder.landlock_abi >= 6 ? 24 : plan.ladder.landlock_abi >= 4 ? 16 : 8;
  const long made = raw::call(SYS_landlock_create_ruleset, raw::address(&attributes), size, 0);
  if (!child.ok(made, "landlock_create_ruleset")) return false;
  ruleset = static_cast<int>(made);
  Domain domain(child, ruleset, offered.files);
  if (network != 0 && plan.proxy_port != 0 && !allow_ports(child, ruleset)) return false;
  return plan.ladder.namespaces ? allow_new_root(child, domain) : allow_host_root(child, domain);
}

bool enter_landlock(Child& child) {
  int ruleset = -1;
  if (!make_landlock_ruleset(child, ruleset)) return false;
  if (ruleset < 0) return true;
  long bound = raw::call(SYS_landlock_restrict_self, ruleset, 0);
  raw::close(ruleset);
  return child.ok(bound, "landlock_restrict_self");
}

}  // namespace cordon::sandbox::native
