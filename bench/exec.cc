// What one command costs from a shell and back, judged, isolated and recorded twice on disk, beside bubblewrap and a
// bare start, all interleaved in one run. bench/stage.sh sets the stage.
#include <sys/stat.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "bench/programs.h"
#include "bench/table.h"

namespace cordon {
namespace {

struct Series {
  std::string name;
  std::function<bool()> once;
  bool uses_daemon = false;
  const char* target = "";
  bench::Samples samples = {};
  int failures = 0;
};

int run(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 150;
  // A workspace as people have them: a repository, whose settings and hooks are protected.
  for (const char* directory : {"work", "work/.git", "work/.git/hooks"}) ::mkdir(directory, 0755);
  if (::chdir("work") != 0) return 1;
  std::ofstream(".git/config") << "[core]\n\trepositoryformatversion = 0\n";
  const std::string cordon = bench::beside_this_program("cordon");
  ::setenv("CORDON_NO_DAEMON", "1", 1);
  const std::string exec = bench::beside_this_program("sandbox-exec");
  const auto daemon = bench::Daemon::start(cordon);
  if (!daemon) {
    std::fprintf(stderr, "no daemon: %s could not be started\n", cordon.c_str());
    return 1;
  }
  const auto by_daemon = [&] {
    ::unsetenv("CORDON_NO_DAEMON");
    const bool good = bench::spawn_and_wait({exec.c_str(), "true"});
    ::setenv("CORDON_NO_DAEMON", "1", 1);
    return good;
  };
  const char* reference = "bwrap --unshare-all … true";
  std::vector<Series> all = {
      {"bare true", [] { return bench::spawn_and_wait({"/bin/true"}); }},
      {reference, [] { return bench::bubblewrap({"/bin/true"}); }},
      {"cordon version",
       [&] {
         return bench::spawn_and_wait({cordon.c_str(), "version"});
       }},
      {"sandbox-check ls",
       [&] {
         return bench::spawn_and_wait({cordon.c_str(), "check", "ls"});
       },
       false, "<= 5 ms"},
      {"sandbox-exec true",
       [&] {
         return bench::spawn_and_wait({exec.c_str(), "true"});
       },
       false, "<= 1.0 ×"},
      {"sandbox-exec true, by the daemon", by_daemon, true, "<= 1.0 ×"},
  };
  for (int round = -3; round < rounds; ++round) {
    for (Series& series : all) {
      // It replaces in the background what the last run used up; that is not this one's cost.
      if (series.uses_daemon) std::this_thread::sleep_for(std::chrono::milliseconds(60));
      const double begin = bench::now_us();
      const bool good = series.once();
      const double took = bench::now_us() - begin;
      if (round < 0) continue;
      good ? series.samples.add(took / 1000) : void(++series.failures);
    }
  }
  if (::chdir("..") != 0) return 1;
  std::printf("uid %u, %d runs\n", ::getuid(), rounds);
  bench::Table table("exec");
  const double bwrap = all[1].samples.percentile(0.5);
  for (Series& series : all) {
    table.add({series.name + ", p50", series.samples.percentile(0.5), "ms", "bwrap, p50", bwrap, series.target});
    table.add({series.name + ", p95", series.samples.percentile(0.95), "ms", "bwrap, p95",
               all[1].samples.percentile(0.95), ""});
    table.add({series.name + ", least", series.samples.percentile(0), "ms", "bwrap, least",
               all[1].samples.percentile(0), ""});
    if (series.failures) std::printf("  %s failed %d times\n", series.name.c_str(), series.failures);
  }
  return 0;
}

}  // namespace
}  // namespace cordon

int main(int argc, char** argv) { return cordon::run(argc, argv); }
