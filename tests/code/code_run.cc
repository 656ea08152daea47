// Runs code as the library does, without judging, approval or record: for tests and benchmarks. Reads one JSON object
// per line and writes one result per line, in order.
//
//   code_run [--warm N] [--level L] [--state DIR] [--at-once N] [--without LAYER]
//   {"language","code","timeout","maxOutputSize","args","stdin","files":{name:base64},"session","memory"}
//   {"op":"fork","from","to"} {"op":"rollback","session","step"} {"op":"steps","session"} {"op":"remove","session"}
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>

#include "base/digest.h"
#include "base/json.h"
#include "code/engine_session.h"
#include "code/live_session.h"
#include "sandbox/native/native.h"
#include "tests/support/unrecorded_clearance.h"

namespace cordon {
namespace {

using namespace code;
using sandbox::native::NativeSandbox;

struct Options {
  std::size_t warm = 0;
  std::size_t at_once = 1;
  Level level = Level::L2;
  std::string state;
};

class Driver {
 public:
  Driver(Options options, std::unique_ptr<NativeSandbox> sandbox, Runtime runtime)
      : options_(std::move(options)), sandbox_(std::move(sandbox)), runtime_(std::move(runtime)) {
    if (!options_.state.empty()) {
      auto opened = StateStore::open(options_.state);
      if (opened) store_.emplace(std::move(*opened));
    }
  }

  void warm_up() {
    if (options_.warm == 0) return;
    for (const char* name : {"javascript", "python", "bash"}) {
      CodeRequest request;
      auto warmed = sandbox_->warm_up(runtime_.profile_for(*language_named(name), request, base()), {8, options_.warm});
      if (!warmed) std::fprintf(stderr, "code_run: %s\n", warmed.error().sentence.c_str());
    }
  }

  Json answer(const Json& line) {
    if (line.contains("op")) return operate(line);
    CodeRequest request;
    if (line.contains("language") && line["language"].is_string()) request.language = line["language"];
    if (line.contains("code") && line["code"].is_string()) request.code = line["code"];
    request.timeout_ms = line.value("timeout", request.timeout_ms);
    request.max_output = line.value("maxOutputSize", request.max_output);
    request.engine_memory = line.value("memory", request.engine_memory);
    request.input = line.value("stdin", "");
    if (line.contains("args")) request.arguments = line["args"].get<std::vector<std::string>>();
    if (line.contains("files")) {
      for (const auto& [name, content] : line["files"].items()) {
        request.files.emplace_back(name, from_base64(content.get<std::string>()).value_or(""));
      }
    }
    auto language = check(request);
    if (!language) return to_json(refused(language.error()));
    if (line.contains("session")) return to_json(in_session(line["session"], **language, request));
    auto clearance = testing::UnrecordedClearance::make(runtime_.profile_for(**language, request, base()));
    return to_json(runtime_.run(**language, request, std::move(clearance), {*sandbox_}));
  }

 private:
  Profile base() const {
    Profile profile;
    profile.require = options_.level;
    profile.limits.memory_bytes = 512ULL << 20;
    profile.limits.disk_bytes = 256ULL << 20;
    profile.limits.pids = 64;
    return profile;
  }

  CodeResult in_session(const std::string& name, const Language& language, const CodeRequest& request) {
    if (language.engine == Engine::javascript) {
      auto clearance = testing::UnrecordedClearance::make(runtime_.profile_for(language, request, base()));
      return run_in_session(runtime_, *store_, {name, {}, {}}, language, request, std::move(clearance), {*sandbox_});
    }
    auto session = live_.find(name);
    if (!session) {
      auto clearance = testing::UnrecordedClearance::make(runtime_.profile_for_session(language, base()));
      auto started = LiveSession::start(language, std::move(clearance), *sandbox_);
      if (!started) return refused(started.error());
      auto added = live_.add(name, std::move(*started));
      if (!added) return refused(added.error());
      session = *added;
    }
    CodeResult result = session->call(request, nullptr, {});
    if (result.session) result.session->id = name;
    return result;
  }

  Json operate(const Json& line) {
    const std::string op = line["op"];
    auto told = [](const auto& result) {
      return result ? Json{{"ok", true}} : Json{{"error", result.error().sentence}};
    };
    if (op == "fork") return told(store_->fork(line["from"], line["to"]));
    if (op == "rollback") return told(store_->roll_back(line["session"], line["step"]));
    if (op == "remove") return told(store_->remove(line["session"]));
    if (op == "expire") return {{"ended", live_.expire(std::chrono::steady_clock::now() + std::chrono::hours(1))}};
    if (op == "settle") {
      sandbox_->wait_until_warm();
      return {{"ok", true}};
    }
    auto steps = store_->steps(line["session"]);
    return steps ? Json{{"steps", *steps}} : told(steps);
  }

  Options options_;
  std::unique_ptr<NativeSandbox> sandbox_;
  Runtime runtime_;
  std::optional<StateStore> store_;
  LiveSessions live_{8, std::chrono::minutes(10)};
};

void print(const Json& json) {
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void serve_many(Driver& driver, std::size_t at_once) {
  std::vector<std::string> lines;
  for (std::string line; std::getline(std::cin, line);) lines.push_back(line);
  std::vector<Json> answers(lines.size());
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < at_once; ++i) {
    threads.emplace_back([&] {
      for (std::size_t mine; (mine = next++) < lines.size();) answers[mine] = driver.answer(Json::parse(lines[mine]));
    });
  }
  for (auto& thread : threads) thread.join();
  for (const Json& answer : answers) print(answer);
}

int run(int argc, char** argv) {
  Options options;
  sandbox::native::Options native;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    if (option == "--warm") options.warm = std::strtoull(argv[i + 1], nullptr, 10);
    if (option == "--at-once") options.at_once = std::strtoull(argv[i + 1], nullptr, 10);
    if (option == "--level") options.level = level_named(argv[i + 1]).value_or(Level::L0);
    if (option == "--state") options.state = argv[i + 1];
    if (option == "--without" && std::string(argv[i + 1]) == "namespaces")
      native.weakened.allow(sandbox::WithoutNamespaces{});
  }
  auto sandbox = NativeSandbox::open(native);
  auto runtime = Runtime::open();
  if (!sandbox || !runtime) {
    std::fprintf(stderr, "code_run: %s\n", (!sandbox ? sandbox.error() : runtime.error()).sentence.c_str());
    return 125;
  }
  Driver driver(options, std::move(*sandbox), std::move(*runtime));
  driver.warm_up();
  if (options.at_once > 1) {
    serve_many(driver, options.at_once);
    return 0;
  }
  for (std::string line; std::getline(std::cin, line);) print(driver.answer(Json::parse(line)));
  return 0;
}

}  // namespace
}  // namespace cordon

int main(int argc, char** argv) { return cordon::run(argc, argv); }
