// What a preview costs beside a run: in a workspace of many files it must not cost more for each of them.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include "bench/table.h"
#include "plan/profile.h"
#include "sandbox/native/native.h"
#include "sandbox/preview/collect.h"
#include "sys/tree.h"
#include "tests/support/unrecorded_clearance.h"

namespace cordon {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int directories = 1000;
constexpr int files_each = 100;

class PreviewIo : public sandbox::CapturedIo {
 public:
  void left(sys::Fd memory) override { memory_.emplace(std::move(memory)); }
  std::optional<sys::Fd> memory_;
};

fs::path make_workspace() {
  std::string pattern = (fs::current_path() / "cordon-bench-XXXXXX").string();
  const fs::path root = ::mkdtemp(pattern.data());
  for (int i = 0; i < directories; ++i) {
    const fs::path directory = root / "work" / std::to_string(i);
    fs::create_directories(directory);
    for (int j = 0; j < files_each; ++j) std::ofstream(directory / std::to_string(j)) << i << ' ' << j << '\n';
  }
  fs::create_directory(root / "home");
  return root;
}

bool exited(const RunReport& report) {
  const auto* end = std::get_if<Exited>(&report.outcome);
  return end != nullptr && end->code == 0;
}

bool spawn_and_wait(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  return error == 0 && ::waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// In turns, so that whatever else the machine does is in both.
void compare(bench::Table& table, const bench::Row& row, int rounds, const std::function<bool()>& measured,
             const std::function<bool()>& reference) {
  bench::Samples left;
  bench::Samples right;
  for (int i = 0; i < rounds; ++i) {
    for (const bool is_reference : {true, false}) {
      const auto begin = Clock::now();
      if (!(is_reference ? reference() : measured())) {
        std::fprintf(stderr, "%s: a run failed\n", row.what.c_str());
        std::exit(1);
      }
      (is_reference ? right : left).add(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    }
  }
  bench::Row result = row;
  result.value = left.percentile(0.5);
  result.unit = "ms p50";
  result.reference_value = right.percentile(0.5);
  table.add(result);
}

void measure() {
  const fs::path root = make_workspace();
  const std::string work = root / "work";
  const std::string state = root / "state";
  fs::create_directory(state);
  fs::permissions(state, fs::perms::owner_all);
  bench::Table table("preview");
  {
    auto box = sandbox::native::NativeSandbox::open({.state_directory = state});
    if (!box) {
      std::fprintf(stderr, "%s\n", box.error().sentence.c_str());
      std::exit(1);
    }
    Profile run;
    run.program.argv = {"/bin/true"};
    run.workspace.path = work;
    run.workspace.access = WorkspaceAccess::rw;
    run.workspace.protected_paths = plan::protected_paths(work, root / "home");
    Profile preview = run;
    preview.workspace.access = WorkspaceAccess::overlay;
    preview.workspace.handed_over = true;
    const auto run_once = [&] {
      sandbox::CapturedIo io;
      return exited((*box)->run(testing::UnrecordedClearance::make(run), io, {}));
    };
    const auto preview_once = [&] {
      PreviewIo io;
      if (!exited((*box)->run(testing::UnrecordedClearance::make(preview), io, {})) || !io.memory_) return false;
      const auto upper = sys::open_beneath(*io.memory_, "upper", O_PATH | O_DIRECTORY);
      const sys::Fd lower(::open(work.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
      return upper && sandbox::preview::collect({.upper = *upper,
                                                 .lower = lower,
                                                 .protected_paths = preview.workspace.protected_paths,
                                                 .begun_ns = INT64_MAX},
                                                {}, {})
                          .has_value();
    };
    compare(table,
            {.what = "preview of true in 100,000 files, in process", .reference = "a run of it", .target = "≤ 1.3 ×"},
            100, preview_once, run_once);
  }
  if (const char* binaries = std::getenv("CORDON_BIN");
      binaries != nullptr && fs::exists(fs::path(binaries) / "cordon")) {
    ::setenv("HOME", (root / "home").c_str(), 1);
    const std::vector<std::string> words = {
        fs::path(binaries) / "cordon", "exec", "--state-dir", root / "state2", "--workspace", work, "--cwd", work};
    const auto with = [&](std::vector<std::string> more) {
      std::vector<std::string> all = words;
      all.insert(all.end(), more.begin(), more.end());
      return spawn_and_wait(all);
    };
    compare(
        table, {.what = "exec --dry-run true in 100,000 files", .reference = "exec true", .target = "≤ 1.3 ×"}, 60,
        [&] {
          return with({"--dry-run", "true"});
        },
        [&] { return with({"true"}); });
  }
  fs::remove_all(root);
}

}  // namespace
}  // namespace cordon

int main() {
  cordon::measure();
  return 0;
}
