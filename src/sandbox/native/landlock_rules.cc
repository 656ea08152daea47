#include "sandbox/native/landlock_rules.h"

#include <fmt/format.h>

namespace cordon::sandbox::native {

namespace {

namespace landlock = sys::landlock;

constexpr std::uint64_t reading = landlock::read_file | landlock::read_directory;
constexpr std::uint64_t writing = reading | landlock::write_file | landlock::remove_directory | landlock::remove_file |
                                  landlock::make_directory | landlock::make_regular | landlock::make_socket |
                                  landlock::make_fifo | landlock::make_symlink | landlock::refer | landlock::truncate;

struct Feature {
  int abi;
  const char* phrase;
};

// Newest kernels first to last: what is lost below each ABI.
constexpr Feature features[] = {
    {1, "Landlock file rights (Linux 5.13)"},
    {3, "Landlock right to truncate files (Linux 6.2)"},
    {4, "Landlock limits on TCP ports (Linux 6.7)"},
    {5, "Landlock limits on device ioctls (Linux 6.10)"},
    {6, "Landlock scopes for signals and abstract Unix sockets (Linux 6.12)"},
};

std::vector<std::string> missing_below(int abi, TcpAccess tcp) {
  std::vector<std::string> missing;
  for (const Feature& feature : features) {
    if (abi >= feature.abi) continue;
    if (feature.abi == 4 && tcp == TcpAccess::unrestricted) continue;
    missing.emplace_back(feature.phrase);
  }
  return missing;
}

}  // namespace

std::uint64_t landlock_rights(FileAccess access) {
  switch (access) {
    case FileAccess::read:
      return reading;
    case FileAccess::read_execute:
      return reading | landlock::execute;
    case FileAccess::write:
      return writing;
    case FileAccess::write_execute:
      return writing | landlock::execute;
    case FileAccess::device:
      return reading | landlock::write_file | landlock::ioctl_device;
  }
  return 0;
}

Result<LandlockLock> build_landlock(const LandlockRequest& request, int abi) {
  LandlockLock lock{std::nullopt, missing_below(abi, request.tcp)};
  if (abi <= 0) return lock;
  landlock::Rights handled = landlock::offered_by(abi);
  if (request.tcp == TcpAccess::unrestricted) handled.network = 0;
  auto ruleset = TRY(sys::LandlockRuleset::create(handled));
  for (const PathRule& rule : request.paths) CHECK_OK(ruleset.allow_path(rule.path, landlock_rights(rule.access)));
  lock.ruleset = std::move(ruleset);
  return lock;
}

}  // namespace cordon::sandbox::native
