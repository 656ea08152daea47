// What a snippet costs, beside the bare interpreters and bubblewrap, all interleaved in one run. bench/code.sh sets the
// stage: an unprivileged user in delegated control groups.
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench/programs.h"
#include "bench/table.h"
#include "code/engine_session.h"
#include "code/runtime.h"
#include "sandbox/native/native.h"
#include "serve/socket/address.h"
#include "serve/socket/frame.h"
#include "tests/support/unrecorded_clearance.h"

namespace cordon {
namespace {

using namespace code;
using sandbox::native::NativeSandbox;

struct Series {
  std::string name;
  std::function<bool()> once;
  bool asks_daemon = false;
  bench::Samples samples = {};
  int failures = 0;
};

class Bench {
 public:
  Bench(Runtime runtime, std::unique_ptr<NativeSandbox> cold, std::unique_ptr<NativeSandbox> warm)
      : runtime_(std::move(runtime)), cold_(std::move(cold)), warm_(std::move(warm)) {}

  bool warm_up() {
    for (const char* name : {"javascript", "python", "bash"}) {
      auto warmed = warm_->warm_up(runtime_.profile_for(*language_named(name), {}, base()), {8, 3});
      if (!warmed) std::fprintf(stderr, "no warm slots: %s\n", warmed.error().sentence.c_str());
      if (!warmed) return false;
    }
    return true;
  }

  bool run(NativeSandbox& sandbox, const char* name, const char* text, const char* expected) const {
    CodeRequest request{.language = name, .code = text};
    const Language& language = *language_named(name);
    auto clearance = testing::UnrecordedClearance::make(runtime_.profile_for(language, request, base()));
    const CodeResult result = runtime_.run(language, request, std::move(clearance), {sandbox});
    return result.success && result.output == expected;
  }
  bool cold(const char* name, const char* text, const char* expected) const {
    return run(*cold_, name, text, expected);
  }
  bool warm(const char* name, const char* text, const char* expected) const {
    return run(*warm_, name, text, expected);
  }
  void settle() const { warm_->wait_until_warm(); }
  Isolation isolation() const { return cold_->isolation(); }

 private:
  static Profile base() {
    Profile profile;
    profile.require = Level::L2;
    return profile;
  }
  Runtime runtime_;
  std::unique_ptr<NativeSandbox> cold_;
  std::unique_ptr<NativeSandbox> warm_;
};

/// As an SDK asks: judged, recorded twice on disk, and run.
bool ask_to_run(const bench::Daemon& daemon, const char* language, const char* code, const char* expected) {
  const auto address = serve::socket::address_at(daemon.path());
  const sys::Fd connection(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!address || ::connect(connection.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0) {
    return false;
  }
  const Json question = {{"protocol", serve::socket::protocol},
                         {"verb", "run"},
                         {"cwd", "/"},
                         {"snippet", {{"language", language}, {"code", code}}}};
  if (!serve::socket::send_frame(connection, question, {})) return false;
  for (;;) {
    const auto frame = serve::socket::receive_frame(connection, serve::socket::largest_frame);
    if (!frame || !*frame || (*frame)->body["type"] == "error" || (*frame)->body["type"] == "decline") return false;
    if ((*frame)->body["type"] == "answer") return (*frame)->body["object"]["output"] == expected;
  }
}

int run(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 60;
  auto runtime = Runtime::open();
  auto cold = NativeSandbox::open({});
  auto warm = NativeSandbox::open({});
  if (!runtime || !cold || !warm) {
    std::fprintf(stderr, "%s\n", (!runtime ? runtime.error() : !cold ? cold.error() : warm.error()).sentence.c_str());
    return 1;
  }
  const Bench bench(std::move(*runtime), std::move(*cold), std::move(*warm));
  const bool has_warm = const_cast<Bench&>(bench).warm_up();
  const char* node_vm = "console.log(require('vm').runInNewContext('40+2', {}, {timeout: 5000}))";
  std::vector<Series> all = {
      {"python3 -c 'print(1)'",
       [] {
         return bench::spawn_and_wait({"/usr/bin/python3", "-c", "print(1)"});
       }},
      {"node -e 'console.log(42)'",
       [] {
         return bench::spawn_and_wait({"node", "-e", "console.log(40+2)"});
       }},
      {"node vm",
       [&] {
         return bench::spawn_and_wait({"node", "-e", node_vm});
       }},
      {"bash -c 'echo 1'",
       [] {
         return bench::spawn_and_wait({"bash", "-c", "echo 1"});
       }},
      {"bwrap + python3",
       [] {
         return bench::bubblewrap({"/usr/bin/python3", "-c", "print(1)"});
       }},
      {"JavaScript, cold", [&] { return bench.cold("js", "40+2", "42"); }},
      {"TypeScript, cold", [&] { return bench.cold("ts", "const n: number = 42; n", "42"); }},
      {"Python, cold", [&] { return bench.cold("python", "print(1)", "1"); }},
      {"Bash, cold", [&] { return bench.cold("bash", "echo 1", "1"); }},
  };
  if (has_warm) {
    all.push_back({"JavaScript, warm", [&] { return bench.warm("js", "40+2", "42"); }});
    all.push_back({"Python, warm", [&] { return bench.warm("python", "print(1)", "1"); }});
    all.push_back({"Bash, warm", [&] { return bench.warm("bash", "echo 1", "1"); }});
  }
  const std::string cordon = bench::beside_this_program("cordon");
  const std::unique_ptr<bench::Daemon> daemon = bench::Daemon::start(cordon);
  if (daemon) {
    all.push_back({"JavaScript, daemon", [&] { return ask_to_run(*daemon, "js", "40+2", "42"); }, true});
    all.push_back({"Python, daemon", [&] { return ask_to_run(*daemon, "python", "print(1)", "1"); }, true});
    all.push_back({"Bash, daemon", [&] { return ask_to_run(*daemon, "bash", "echo 1", "1"); }, true});
    all.push_back({"cordon run (JavaScript), by the daemon",
                   [&] {
                     return bench::spawn_and_wait({cordon.c_str(), "run", "-l", "js", "-c", "40+2"});
                   },
                   true});
  } else {
    std::fprintf(stderr, "no daemon: %s could not be started\n", cordon.c_str());
  }
  all.push_back(
      {"cordon run (JavaScript), alone", [&] {
         return bench::spawn_and_wait({"env", "CORDON_NO_DAEMON=1", cordon.c_str(), "run", "-l", "js", "-c", "40+2"});
       }});
  for (int round = -2; round < rounds; ++round) {
    for (Series& series : all) {
      if (has_warm) bench.settle();
      // The daemon cannot be asked whether it has replaced what the last run used up; that run is not this one's cost.
      if (series.asks_daemon) std::this_thread::sleep_for(std::chrono::milliseconds(150));
      const double begin = bench::now_us();
      const bool good = series.once();
      const double took = bench::now_us() - begin;
      if (round < 0) continue;
      good ? series.samples.add(took / 1000) : void(++series.failures);
    }
  }
  const Isolation isolation = bench.isolation();
  std::printf("uid %u, level %s, p50 and p95 of %d runs\n", ::getuid(), isolation.level.c_str(), rounds);
  bench::Table table("code");
  auto p50 = [&](const std::string& name) {
    for (Series& series : all) {
      if (series.name == name) return series.samples.percentile(0.5);
    }
    return 0.0;
  };
  struct Against {
    const char* start;
    const char* reference;
    const char* target;
  };
  const Against references[] = {
      {"JavaScript, daemon", "node vm", "<= 3 ms"},    {"Python, daemon", "python3 -c 'print(1)'", "<= 6 ms"},
      {"Bash, daemon", "bash -c 'echo 1'", "<= 4 ms"}, {"cordon run", "node vm", ""},
      {"JavaScript, warm", "node vm", "<= 3 ms"},      {"JavaScript, cold", "node vm", "<= 8 ms"},
      {"TypeScript", "node -e 'console.log(42)'", ""}, {"Python, warm", "python3 -c 'print(1)'", "<= 6 ms"},
      {"Python, cold", "bwrap + python3", ""},         {"Bash, warm", "bash -c 'echo 1'", "<= 4 ms"},
      {"Bash, cold", "bash -c 'echo 1'", ""}};
  for (Series& series : all) {
    bench::Row row{series.name + ", p50", series.samples.percentile(0.5), "ms", "", 0, ""};
    for (const Against& against : references) {
      if (series.name.starts_with(against.start)) {
        row.reference = against.reference;
        row.reference_value = p50(against.reference);
        row.target = against.target;
      }
    }
    table.add(row);
    table.add({series.name + ", p95", series.samples.percentile(0.95), "ms", "", 0, ""});
    if (series.failures) std::printf("  %s failed %d times\n", series.name.c_str(), series.failures);
  }
  return 0;
}

}  // namespace
}  // namespace cordon

int main(int argc, char** argv) { return cordon::run(argc, argv); }
