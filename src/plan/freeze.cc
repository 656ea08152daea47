#include "plan/freeze.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/text.h"
#include "plan/profile.h"

namespace cordon::plan {

namespace {

constexpr std::uint64_t largest_program = 4ULL << 30;
constexpr std::uint64_t largest_operand = 64ULL << 20;
constexpr std::size_t most_operands = 256;

class Freezer {
 public:
  Freezer(const Request& request, const Basis& basis, Contents& contents)
      : request_(request), basis_(basis), contents_(contents) {}

  Result<Plan> freeze() {
    CHECK_OK(check_variables(request_.environment, basis_.loads_code));
    plan_.request = request_;
    plan_.where = basis_.verdict.where;
    plan_.policy = basis_.policy;
    plan_.grants = basis_.verdict.grants;
    plan_.profile = TRY(profile_of(request_, basis_));
    plan_.cwd = TRY(identity_of_directory(request_.cwd));
    // Code is run by the runner, which whoever runs it adds; in a clean room no file of the host is named.
    if (!request_.snippet) CHECK_OK(freeze_program());
    if (!request_.snippet || request_.snippet->access != WorkspaceAccess::none) CHECK_OK(freeze_operands());
    plan_.not_twice = why_not_twice();
    return std::move(plan_);
  }

 private:
  /// One plain call is executed as it was parsed; anything else by the sandbox's own bash.
  Result<void> freeze_program() {
    Program& program = plan_.profile.program;
    const Script& script = basis_.script;
    if (script.is_plain_call()) {
      for (const Word& word : script.commands.front().words) program.argv.push_back(word.text());
    } else {
      program.shell_text = script.text;
      program.argv = {"bash"};
    }
    plan_.executable = TRY(find_program(program.shell_text ? "/bin/bash" : program.argv.front()));
    if (plan_.executable) {
      program.expected = plan_.executable->identity;
      program.expected->content = plan_.executable->content;
    }
    return {};
  }

  Result<std::optional<FrozenFile>> find_program(const std::string& name) {
    if (name.find('/') != std::string::npos) {
      const std::string inside = name.front() == '/' ? name : request_.cwd + "/" + name;
      if (!is_given(plan_.profile, inside)) return std::optional<FrozenFile>();
      return contents_.freeze(host_path(plan_.profile, inside), largest_program);
    }
    for (const std::string& directory : search_path(plan_.profile)) {
      if (!is_given(plan_.profile, directory)) break;  // the image's own come last
      const std::string path = host_path(plan_.profile, directory) + "/" + name;
      if (::access(path.c_str(), X_OK) != 0 || !identity_of_file(path)) continue;
      return contents_.freeze(path, largest_program);
    }
    return std::optional<FrozenFile>();
  }

  /// Files that the command names and reads or runs: an approver who looked at them must get what they saw.
  Result<void> freeze_operands() {
    std::set<std::string> paths;
    for (const Effect& effect : basis_.analysis.effects) {
      if (effect.kind != Effect::Kind::reads && effect.kind != Effect::Kind::runs) continue;
      if (effect.target.starts_with("/")) paths.insert(effect.target);
    }
    for (const std::string& path : paths) {
      if (!is_given(plan_.profile, path)) continue;
      if (plan_.operands.size() >= most_operands) {
        plan_.unpinned.emplace_back("more files than can be pinned");
        break;
      }
      const std::string source = host_path(plan_.profile, path);
      if (plan_.executable && source == plan_.executable->path) continue;
      auto frozen = contents_.freeze(source, largest_operand);
      if (!frozen) {
        plan_.unpinned.push_back(visible(frozen.error().sentence, Lines::escape));
      } else if (*frozen) {
        plan_.operands.push_back(**std::move(frozen));
      } else if (std::error_code ignored; std::filesystem::is_directory(source, ignored)) {
        plan_.unpinned.push_back(visible("what is in " + path, Lines::escape));
      }
    }
    return {};
  }

  /// A grant for several runs must mean the same each time.
  std::string why_not_twice() const {
    if (plan_.where == Where::host) return "it runs on the host";
    if (!basis_.analysis.understood) return "it is not understood";
    if (!basis_.script.is_plain_call()) return "it is more than one plain command";
    for (const Invocation& call : basis_.analysis.invocations) {
      if (call.wrapper) return fmt::format("{} runs another command", call.program);
      if (!call.uncoverable.empty()) return call.uncoverable;
      if (!call.exact) return "a word of it cannot be known before it runs";
    }
    if (basis_.analysis.invocations.size() != 1) return "it runs further commands";
    static const std::set<std::string, std::less<>> interpreters = {
        "sh",      "bash", "dash", "zsh",  "ksh",    "fish",  "python",  "python3", "perl", "ruby", "node",   "php",
        "lua",     "awk",  "gawk", "mawk", "env",    "xargs", "busybox", "sudo",    "ssh",  "eval", "source", "tclsh",
        "Rscript", "pwsh", "deno", "bun",  "nodejs", "pypy",  "guile",   "make",    "npm",  "npx",  "yarn",   "pnpm"};
    const std::string& program = basis_.analysis.invocations.front().program;
    // python3.11 is python3 is python.
    const std::string name = program.substr(0, program.find_last_not_of("0123456789.-") + 1);
    if (interpreters.contains(program) || interpreters.contains(name)) {
      return fmt::format("{} runs whatever it is given", program);
    }
    if (!plan_.unpinned.empty()) return "what it reads or runs cannot be pinned";
    return "";
  }

  const Request& request_;
  const Basis& basis_;
  Contents& contents_;
  Plan plan_;
};

}  // namespace

Result<Plan> freeze(const Request& request, const Basis& basis, Contents& contents) {
  return Freezer(request, basis, contents).freeze();
}

}  // namespace cordon::plan
