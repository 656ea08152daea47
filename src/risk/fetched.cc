// Files that were downloaded a moment ago and that something runs: found by a name it knows, named to a tool that is
// told to run it, loaded as a module, or built.
#include <algorithm>
#include <array>

#include "risk/judge.h"

namespace cordon::risk {

namespace {

/// Blank-separated: programs, and the files that they run without being told their names.
struct Finds {
  std::string_view programs, files;
};

constexpr std::array finds{
    Finds{"make gmake", "Makefile makefile GNUmakefile"},
    Finds{"cmake ctest", "CMakeLists.txt *.cmake"},
    Finds{"ninja samu", "build.ninja"},
    Finds{"meson muon", "meson.build"},
    Finds{"scons waf", "SConstruct wscript"},
    Finds{"bazel bazelisk buck buck2 pants", "WORKSPACE WORKSPACE.bazel MODULE.bazel BUILD BUILD.bazel *.bzl BUCK"},
    Finds{"earthly", "Earthfile"},
    Finds{"npm yarn pnpm bun npx", "package.json .npmrc .yarnrc.yml .pnpmfile.cjs"},
    Finds{
        "npm yarn pnpm bun npx jest vitest mocha ava webpack rollup vite esbuild gulp grunt eslint prettier babel next "
        "nuxt astro playwright cypress",
        "*.config.js *.config.cjs *.config.mjs *.config.ts gulpfile.js Gruntfile.js .eslintrc.js .mocharc.js "
        ".babelrc.js"},
    Finds{"deno", "deno.json deno.jsonc"},
    Finds{"pip pip3 uv poetry pdm hatch rye pipx", "setup.py pyproject.toml"},
    Finds{"pytest py.test tox nox", "conftest.py pytest.ini pyproject.toml tox.ini noxfile.py"},
    Finds{"fab invoke inv doit", "fabfile.py tasks.py dodo.py"},
    Finds{"snakemake", "Snakefile"},
    Finds{"cargo", "build.rs Cargo.toml"},
    Finds{"zig", "build.zig"},
    Finds{"mix", "mix.exs"},
    Finds{"dune", "dune dune-project"},
    Finds{"gradle gradlew", "*.gradle *.gradle.kts"},
    Finds{"mvn mvnw", "pom.xml"},
    Finds{"sbt", "build.sbt"},
    Finds{"composer", "composer.json"},
    Finds{"rake bundle rails vagrant pod fastlane", "Rakefile Gemfile Vagrantfile Podfile Fastfile"},
    Finds{"just", "justfile Justfile .justfile"},
    Finds{"task", "Taskfile.yml Taskfile.yaml"},
    Finds{"mise", "mise.toml .mise.toml"},
    Finds{"foreman honcho overmind", "Procfile"},
    Finds{"pre-commit lefthook", ".pre-commit-config.yaml lefthook.yml"},
    Finds{"docker docker-compose podman", "Dockerfile Containerfile docker-compose.yml compose.yaml"},
    Finds{"tilt", "Tiltfile"},
    Finds{"terraform tofu", "*.tf"},
    Finds{"ansible-playbook ansible", "ansible.cfg"},
    Finds{"nix nix-shell nix-build nix-env", "flake.nix default.nix shell.nix"},
    Finds{"devbox", "devbox.json"},
    Finds{"direnv", ".envrc"},
};

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

bool Judge::was_fetched(const Run& run, const std::string& name) const {
  return file_flow(locate(run, name).path).network;
}

/// A file of that form that came over the network.
bool Judge::holds_fetched(Run& run, std::string_view patterns) {
  // curl … | git apply && make: all that is in the folder may have come.
  if (!trees_.empty() && was_fetched(run, std::string(patterns.substr(0, patterns.find(' '))))) return true;
  constexpr std::uint64_t most_compared = 8 << 20;
  compared_ += files_.size();
  if (compared_ > most_compared) raise(run, "shell.limit", run.where);
  return compared_ <= most_compared && std::any_of(files_.begin(), files_.end(), [&](const auto& file) {
           return file.second.network && matches_any(patterns, last_part(file.first));
         });
}

/// curl … > Makefile && make: code from the network by way of a name that the tool knows by itself.
void Judge::finds_fetched(Run& run) {
  const std::string_view program = last_part(run.words[0].text);
  for (const Finds& row : finds) {
    if (has_word(row.programs, program) && holds_fetched(run, row.files)) raise(run, "net.download_run", run.where);
  }
}

/// curl … > x.zig && zig run x.zig, curl … > m.py && uvicorn m:app: a tool that is told to run it.
void Judge::told_to_run_fetched(Run& run) {
  const std::string_view program = last_part(run.words[0].text);
  const bool runner = listed("runs_files", program);
  const bool told = std::any_of(run.words.begin() + 1, run.words.end(),
                                [](const Arg& word) { return word.known && listed("runs_operand", word.text); });
  const bool known = run.sorted.program != nullptr;
  if (known && !runner && !told) return;
  for (const Arg& word : run.words.subspan(1)) {
    if (!word.known || word.text.empty() || word.text.starts_with('-')) continue;
    const std::string name(word.text);
    const bool data = matches_any("*.json *.csv *.tsv *.txt *.xml *.parquet *.png *.jpg *.gz *.zip", name);
    const bool code = listed("code_file", name) || (runner && !data);
    const std::string module = name.substr(0, name.find(':')) + ".py";
    if ((code && was_fetched(run, name)) || (runner && was_fetched(run, module)))
      raise(run, "net.download_run", word.where);
  }
}

void Judge::runs_fetched(Run& run) {
  if (files_.empty() && trees_.empty()) return;
  finds_fetched(run);
  told_to_run_fetched(run);
}

}  // namespace cordon::risk
