// Many runs in one process, one after another and at once; then nothing of them may be left.
//   sandbox_soak RUNS AT_ONCE
#include <dirent.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "sandbox/native/native.h"
#include "sandbox/native/process_tree.h"
#include "tests/support/unrecorded_clearance.h"

namespace {

using namespace cordon;

std::size_t entries_of(const char* path) {
  std::size_t count = 0;
  if (DIR* list = ::opendir(path)) {
    while (::readdir(list)) ++count;
    ::closedir(list);
  }
  return count;
}

std::size_t mounts() {
  std::ifstream file("/proc/self/mountinfo");
  std::size_t count = 0;
  for (std::string line; std::getline(file, line);) ++count;
  return count;
}

struct Census {
  std::size_t descriptors = entries_of("/proc/self/fd");
  std::size_t mount_points = mounts();
  std::size_t files = entries_of("/tmp");
  std::size_t processes = sandbox::native::process_tree(::getpid()).size();
};

bool run_one(sandbox::Sandbox& box, int number) {
  Profile profile;
  const std::string text = "run " + std::to_string(number);
  profile.program.argv = {"/bin/echo", text};
  profile.require = Level::L2;
  sandbox::CapturedIo io;
  RunReport report = box.run(testing::UnrecordedClearance::make(profile), io, {});
  if (io.out == text + "\n" && std::holds_alternative<Exited>(report.outcome)) return true;
  if (auto* broken = std::get_if<Broken>(&report.outcome))
    std::fprintf(stderr, "%s\n", broken->error.sentence.c_str());
  else
    std::fprintf(stderr, "run %d: output '%s' %s\n", number, io.out.c_str(), io.err.c_str());
  return false;
}

int soak(int runs, int at_once) {
  const Census before;
  std::atomic<int> failed{0};
  {
    auto box = sandbox::native::NativeSandbox::open({});
    if (!box) return 1;
    for (int i = 0; i < runs; ++i) failed += run_one(**box, i) ? 0 : 1;
    std::vector<std::thread> threads;
    for (int i = 0; i < at_once; ++i) threads.emplace_back([&, i] { failed += run_one(**box, i) ? 0 : 1; });
    for (auto& thread : threads) thread.join();
  }
  // The dead are collected off the path of a run: what is still there after ten seconds is a leak.
  for (int i = 0; i < 200 && sandbox::native::process_tree(::getpid()).size() > before.processes; ++i) ::usleep(50'000);
  const Census after;
  std::printf("failed %d; descriptors %zu → %zu, mounts %zu → %zu, files in /tmp %zu → %zu, processes %zu → %zu\n",
              failed.load(), before.descriptors, after.descriptors, before.mount_points, after.mount_points,
              before.files, after.files, before.processes, after.processes);
  // Other programs of the machine use /tmp, too: a leak per run would show.
  const bool same = before.descriptors == after.descriptors && before.mount_points == after.mount_points &&
                    after.files < before.files + static_cast<std::size_t>(runs) / 4 + 8 &&
                    before.processes == after.processes;
  return failed == 0 && same ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return soak(argc > 1 ? std::atoi(argv[1]) : 100, argc > 2 ? std::atoi(argv[2]) : 20);
}
