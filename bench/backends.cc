// What each backend costs for one command, interleaved in one run, beside plain `docker run --rm`. bench/backends.sh
// sets the stage: an engine of its own with Cordon's image.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <memory>

#include "bench/table.h"
#include "sandbox/docker/docker.h"
#include "sandbox/native/native.h"
#include "sandbox/oci/oci.h"
#include "tests/support/unrecorded_clearance.h"

extern char** environ;

namespace cordon {
namespace {

bool spawn_and_wait(std::vector<const char*> arguments) {
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (int fd : {1, 2}) ::posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  const int error =
      ::posix_spawnp(&pid, arguments[0], &actions, nullptr, const_cast<char**>(arguments.data()), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  return error == 0 && ::waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool run_once(sandbox::Sandbox& box, const Profile& profile) {
  sandbox::CapturedIo io;
  const RunReport report = box.run(testing::UnrecordedClearance::make(profile), io, {});
  const auto* exited = std::get_if<Exited>(&report.outcome);
  if (const auto* broken = std::get_if<Broken>(&report.outcome)) {
    std::fprintf(stderr, "bench: %s\n", broken->error.sentence.c_str());
  }
  return exited != nullptr && exited->code == 0;
}

struct Series {
  std::string name;
  std::function<bool()> once;
  std::string target;
  bench::Samples samples = {};
  bool works = true;
};

std::string text_of(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// A backend that this machine does not have is left out, with the reason.
void add(std::vector<Series>& all, const char* name, Result<std::shared_ptr<sandbox::Sandbox>> box,
         const Profile& profile, const char* target) {
  if (!box) {
    std::fprintf(stderr, "without %s: %s\n", name, box.error().sentence.c_str());
    return;
  }
  all.push_back({name, [box = *box, profile] { return run_once(*box, profile); }, target});
}

int run(int rounds) {
  const std::string state = text_of("CORDON_BENCH_STATE");
  Profile profile;
  profile.program.argv = {"true"};
  Profile image = profile;
  image.image = text_of("CORDON_TEST_IMAGE");
  Profile kept = image;
  kept.session.path = state + "/session";

  std::vector<Series> all;
  all.push_back({"docker run --rm",
                 [id = image.image] {
                   return spawn_and_wait({"docker", "run", "--rm", "--network", "none", id.c_str(), "true"});
                 },
                 ""});
  const auto open = [&]<class Box>(Result<std::unique_ptr<Box>> box) -> Result<std::shared_ptr<sandbox::Sandbox>> {
    if (!box) return tl::make_unexpected(box.error());
    return std::shared_ptr<sandbox::Sandbox>(*std::move(box));
  };
  add(all, "native", open(sandbox::native::NativeSandbox::open({.state_directory = state, .weakened = {}})), profile,
      "");
  add(all, "runc", open(sandbox::oci::OciSandbox::open(sandbox::oci::Runtime::runc, state)), profile, "");
  add(all, "gvisor", open(sandbox::oci::OciSandbox::open(sandbox::oci::Runtime::gvisor, state)), profile, "");
  const sandbox::docker::Options engine{.state_directory = state, .sockets = {text_of("CORDON_TEST_SOCKET")}};
  add(all, "docker, a new container", open(sandbox::docker::DockerSandbox::open(engine)), image, "");
  add(all, "docker, scope session, second and later", open(sandbox::docker::DockerSandbox::open(engine)), kept, "");

  for (int round = -1; round < rounds; ++round) {
    for (Series& series : all) {
      if (!series.works) continue;
      const double begin = bench::now_us();
      series.works = series.once();
      if (!series.works) std::fprintf(stderr, "%s does not work here\n", series.name.c_str());
      if (round >= 0 && series.works) series.samples.add((bench::now_us() - begin) / 1000);
    }
  }
  bench::Table table("backends");
  const double plain = all.front().samples.percentile(0.5);
  for (Series& series : all) {
    if (series.samples.size() == 0) continue;
    table.add({series.name + ", p50", series.samples.percentile(0.5), "ms", "docker run --rm", plain, series.target});
  }
  if (all.back().samples.size() > 0 && all[all.size() - 2].samples.size() > 0) {
    table.add({"a new container / one that is kept",
               all[all.size() - 2].samples.percentile(0.5) / all.back().samples.percentile(0.5), "times", "", 0,
               ">= 5"});
  }
  return 0;
}

}  // namespace
}  // namespace cordon

int main(int argc, char** argv) { return cordon::run(argc > 1 ? std::atoi(argv[1]) : 15); }
