#include <iostream>

#include "app/verbs.h"
#include "base/json.h"

namespace cordon::app {

namespace {

constexpr const char* compiler =
#if defined(__clang__)
    "clang " __clang_version__;
#else
    "g++ " __VERSION__;
#endif

int run(const GlobalOptions& global) {
  if (!global.json) {
    std::cout << "cordon " CORDON_VERSION "\n";
    return exit_code::done;
  }
  const Json answer = {{"name", "cordon"}, {"version", CORDON_VERSION}, {"compiler", compiler}};
  std::cout << answer.dump(2) << '\n';
  return exit_code::done;
}

}  // namespace

void define_version(CommandLine& line) {
  const Verb verb = line.verb("version", "Say which Cordon this is");
  verb.example("cordon version --json");
  line.does(verb, [&line] { return run(line.global()); });
}

}  // namespace cordon::app
