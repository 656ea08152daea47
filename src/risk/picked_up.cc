// Files that a tool finds by itself: a makefile, a test, a package's scripts. Those that this script has written are
// judged when the tool runs, as if they stood on the command line.
#include <algorithm>
#include <array>
#include <utility>

#include "risk/checks.h"
#include "risk/makefile.h"

namespace cordon::risk {

namespace {

/// Blank-separated: programs, the names of files that they run without being told, the language these are in.
/// "lines": no language that is known here, but lines of it may be commands.
struct PickedUp {
  std::string_view programs, files, language;
};

constexpr std::array picked_up_by{
    PickedUp{
        "pytest py.test tox nox coverage nosetests nose2 python:pytest python:unittest python:nose2 python:tox hatch "
        "python:coverage behave python:behave ptw pytest-watch",
        "conftest.py test_*.py *_test.py tests.py test.py noxfile.py setup.py environment.py", "python"},
    PickedUp{"pip pip3 python:pip python:build uv poetry pipx easy_install", "setup.py conftest.py", "python"},
    PickedUp{"django-admin manage.py flask fab invoke inv scons doit luigi celery gunicorn uvicorn alembic",
             "manage.py settings.py fabfile.py tasks.py SConstruct dodo.py gunicorn.conf.py env.py wsgi.py app.py",
             "python"},
    PickedUp{"go", "*.go", "go"},
    PickedUp{"cargo rust-script", "*.rs", "rust"},
    PickedUp{
        "npm yarn pnpm bun jest vitest mocha ava tap jasmine karma cypress playwright webpack rollup vite esbuild "
        "gulp grunt eslint prettier babel next nuxt astro tsx ts-node c8 nyc lint-staged commitlint semantic-release",
        "*.test.* *.spec.* test.js *.config.js *.config.cjs *.config.mjs *.config.ts jest.setup.* setupTests.* "
        "Gruntfile.js gulpfile.js .eslintrc.js .eslintrc.cjs .mocharc.js .mocharc.cjs .prettierrc.js "
        ".babelrc.js .pnpmfile.cjs",
        "javascript"},
    PickedUp{
        "rspec rake bundle rails rubocop vagrant pod fastlane guard cucumber minitest jekyll",
        "Rakefile Gemfile *.gemspec *.rake *_spec.rb *_test.rb test_*.rb spec_helper.rb Vagrantfile Podfile Fastfile "
        "Guardfile .rspec.rb _plugins/*.rb .pryrc .irbrc",
        "ruby"},
    PickedUp{"phpunit pest codeception artisan composer", "*Test.php bootstrap.php *.phpunit.php artisan", "php"},
    PickedUp{"git", ".gitmodules", "lines"},
    PickedUp{"docker docker-compose podman podman-compose nerdctl",
             "docker-compose*.yml docker-compose*.yaml compose*.yml compose*.yaml", "compose"},
    PickedUp{"terraform tofu terragrunt", "*.tf", "terraform"},
    PickedUp{"meson muon", "meson.build", "generic"},
    PickedUp{"conan waf", "conanfile.py wscript", "python"},
    PickedUp{"devcontainer", "devcontainer.json", "lines"},
    PickedUp{"prove", "*.t", "perl"},
    PickedUp{"bats bats-core shellspec shunit2", "*.bats *_test.sh *_spec.sh", "shell"},
    PickedUp{"java gradle gradlew mvn mvnw sbt kotlin scala groovy ant jbang",
             "*.java *.kt *.scala *.groovy *.gradle *.kts", "java"},
    PickedUp{"dotnet csc mcs mono zig nim swift dart flutter crystal v stack cabal runghc ghc lein rebar3 dune",
             "*.cs *.zig *.nim *.swift *.dart *.cr *.v *.hs *.clj *.erl *.ml", "generic"},
    PickedUp{"mix elixir iex", "*.exs *.ex", "elixir"},
    PickedUp{
        "cmake ctest cpack ninja samu meson just task tox pre-commit lefthook husky overcommit act mise composer deno "
        "foreman "
        "honcho overmind ansible-playbook ansible docker-compose earthly mvn tmuxinator mage bazel buck cargo-make "
        "npm-run-all wireit nx turbo lerna taskfile",
        "CMakeLists.txt *.cmake build.ninja meson.build Taskfile.* tox.ini .pre-commit-config.yaml lefthook.yml "
        "lefthook.yaml mise.toml .mise.toml composer.json deno.json deno.jsonc Procfile *.yml *.yaml pom.xml Earthfile "
        "Makefile.toml project.json turbo.json",
        "lines"},
};

/// Compilers, what they compile, and the language to judge it by once something compiled runs.
constexpr std::array compiled_from{
    PickedUp{"", "*.c *.cc *.cpp *.cxx *.h *.hpp *.m *.s", "c"},
    PickedUp{"", "*.rs", "rust"},
    PickedUp{"", "*.go", "go"},
    PickedUp{"", "*.zig *.nim *.swift *.hs *.d *.cr *.v *.f90 *.pas *.ml *.cs *.adb", "generic"},
};

constexpr std::string_view compilers =
    " gcc g++ cc c++ clang clang++ tcc icc make gmake cmake ninja meson rustc go zig nim swiftc swift ghc dmd ldc2 gdc "
    "crystal "
    "v gfortran fpc ocamlc ocamlopt ocamlfind csc mcs gnatmake musl-gcc zigcc bear scan-build as ld cargo ";

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// The value of a JSON string that begins after the quote at `quote`.
std::string json_string(const std::string& text, std::size_t quote) {
  std::string value;
  for (std::size_t at = quote + 1; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\' && at + 1 < text.size()) ++at;
    value += text[at];
  }
  return value;
}

/// Names of a package's scripts that the words of a call may run; npm looks for pre… and post… of each by itself.
std::vector<std::string> script_names(std::span<const Arg> words) {
  std::vector<std::string> names;
  for (const Arg& word : words) {
    if (word.text.empty() || word.text.starts_with('-')) continue;
    std::string name(word.text == "t" || word.text == "tst" ? "test" : word.text);
    if (name == "i" || name == "ci" || name == "add") name = "install";
    if (name == "install" || name == "pack" || name == "publish") names.insert(names.end(), {"prepare", "prepack"});
    names.insert(names.end(), {name, "pre" + name, "post" + name});
  }
  if (words.empty()) names = {"install", "preinstall", "postinstall", "prepare"};
  return names;
}

}  // namespace

bool has_word(std::string_view words, std::string_view word) {
  for (std::size_t at = 0; (at = words.find(word, at)) != std::string_view::npos; ++at) {
    const std::size_t end = at + word.size();
    if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' ')) return !word.empty();
  }
  return false;
}

bool is_compiler(std::string_view path) { return has_word(compilers, last_part(path)); }

bool matches_any(std::string_view patterns, std::string_view name) {
  while (!patterns.empty()) {
    const std::size_t end = std::min(patterns.find(' '), patterns.size());
    if (matches(patterns.substr(0, end), name)) return true;
    patterns.remove_prefix(std::min(end + 1, patterns.size()));
  }
  return false;
}

/// echo '{"scripts":{"x":"rm -rf y"}}' > package.json; npm run x
void Judge::scripts_of_package(Run& run) {
  const std::string_view program = run.sorted.program->name.view();
  if (program != "npm" && program != "yarn" && program != "pnpm" && program != "bun") return;
  const std::string* package = file_text(locate(run, "package.json").path);
  if (!package || too_deep(run)) return;
  const std::string text = *package;
  for (const std::string& name : script_names(run.words.subspan(1))) {
    // The last of several is the one that counts.
    const std::size_t key = text.rfind(fmt::format("\"{}\"", name));
    if (key == std::string::npos) continue;
    const std::size_t value = text.find_first_not_of(" :\n\t", key + name.size() + 2);
    if (value == std::string::npos || text[value] != '"') continue;
    const Stdin before = std::exchange(run.in, {});
    shell_text(run, synthetic(json_string(text, value), run.words[0]), {});
    run.in = before;
  }
}

void Judge::package_script(Run& run, std::string_view name, std::string_view text, const Arg& arg) {
  std::string line = fmt::format("\n\"{}\": \"", name);
  for (char c : text) {
    if (c == '"' || c == '\\') line += '\\';
    line += c;
  }
  write_text(locate(run, "package.json").path, line + "\"", true);
  // These run by themselves wherever the package is installed: one that fetches is as grave as what it does.
  const bool by_itself = listed("package_hook", name);
  const bool fetches = text.find("curl") != std::string_view::npos || text.find("wget") != std::string_view::npos ||
                       text.find("http") != std::string_view::npos;
  if (by_itself && fetches && !too_deep(run)) shell_text(run, synthetic(std::string(text), arg), {});
}

/// The lines that a makefile runs for the goals of this call.
void Judge::run_recipes(Run& run, const std::string& text, const Arg& arg) {
  std::vector<std::string> goals;
  std::map<std::string, std::string> variables;
  for (const Operand& operand : run.sorted.operands) {
    const std::string_view word = operand.arg.text;
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos)
      goals.emplace_back(word);
    else
      variables.emplace(word.substr(0, equals), word.substr(equals + 1));
  }
  for (std::string& line : makefile_commands(text, goals, std::move(variables))) {
    if (too_deep(run)) return;
    Arg recipe = synthetic(std::move(line), arg);
    recipe.known = true;
    recipe.flow = {};
    const Stdin before = std::exchange(run.in, Stdin{});
    shell_text(run, recipe, {});
    run.in = before;
  }
}

namespace {

/// Of a CMakeLists.txt only what runs while it is read; custom commands belong to their targets.
std::string processes_of(std::string_view text) {
  std::string all;
  for (std::size_t at = 0; (at = text.find("execute_process", at)) != std::string_view::npos;) {
    const std::size_t end = std::min(text.find(")\n", at), text.size());
    all += text.substr(at, end - at);
    all += '\n';
    at = end;
  }
  return all;
}

}  // namespace

/// docker compose up, with a file that says what docker run would be stopped for.
void Judge::compose_file(Run& run, std::string_view text) {
  const bool starts = std::any_of(run.words.begin() + 1, run.words.end(), [](const Arg& word) {
    return word.text == "up" || word.text == "run" || word.text == "start" || word.text == "create";
  });
  if (!starts) return;
  auto has = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
  if (has("privileged: true") || has("pid: host") || has("pid: \"host\"") || has("SYS_ADMIN") || has("- ALL") ||
      has("unconfined"))
    raise(run, "container.privileged", run.where);
  if (has("docker.sock:") || has("containerd.sock:")) raise(run, "container.socket", run.where);
  for (std::string_view before : {"- ", "- \"", "- '", "[\"", "['", "\"", "source: "}) {
    for (std::string_view path : {"/:/", "/etc:", "/root:", "/home:", "/var/run:", "~/.ssh", "~/.aws",
                                  "~:", "${HOME}:", "$HOME:", "${HOME}/.ssh", "${HOME}/.aws", "~/.kube", "~/.docker"}) {
      if (has(std::string(before) + std::string(path))) raise(run, "container.mount_system", run.where);
    }
  }
}

/// docker compose -f x.yml run y: also where what is run is in the container.
void Judge::named_compose_files(Run& run, std::string_view program) {
  if (program != "docker" && program != "podman" && program != "nerdctl" && !program.ends_with("-compose")) return;
  for (const GivenOption& given : run.sorted.options) {
    if ((given.name != "-f" && given.name != "--file") || !given.has_value) continue;
    if (const std::string* text = file_text(locate(run, given.value.text).path)) compose_file(run, *text);
  }
}

/// Judges what this script wrote to `path`, once for each time it was written.
void Judge::run_picked_up(Run& run, const std::string& path, std::string_view language) {
  if (too_deep(run) || !picks_up(path)) return;
  const std::string text = written_.find(path)->second;
  if (language == "compose") {
    compose_file(run, text);
    return;
  }
  if (language == "terraform") {
    // What a plan runs already; the rest waits for apply.
    for (std::size_t at = 0; (at = text.find("\"external\"", at)) != std::string::npos; at += 10)
      run_lines(run, std::string_view(text).substr(at + 10, 400), run.words[0]);
    return;
  }
  if (language == "lines") {
    const bool cmake = path.ends_with(".cmake") || path.ends_with("CMakeLists.txt");
    if (cmake && text.find("REMOVE_RECURSE") != std::string::npos)
      raise(run, "fs.delete.recursive", run.words[0].where);
    run_lines(run, cmake ? processes_of(text) : text, run.words[0]);
    return;
  }
  const bool own = std::exchange(run.own_code, true);
  const bool certain = std::exchange(run.only_certain, true);
  run_written(run, last_part(path), text, language_named(language).value_or(0), run.words[0]);
  run.own_code = own;
  run.only_certain = certain;
}

/// cat > conftest.py <<E …; pytest: what a tool finds by itself.
void Judge::picked_up(Run& run) {
  if (run.sorted.has("-n") || run.sorted.has("--dry-run")) return;
  const std::string_view program = last_part(run.words[0].text);
  named_compose_files(run, program);
  if (run.frame.away) return;
  compiles_ |= is_compiler(program);
  if (is_compiler(program)) compiled_to(run);
  const std::string_view family = run.sorted.program ? run.sorted.program->name.view() : program;
  if (family == "make" || program == "just") {
    const GivenOption* directory = run.sorted.find("-C");
    const std::string in = directory && directory->has_value ? std::string(directory->value.text) + "/" : "";
    for (std::string_view file : {"Makefile", "makefile", "GNUmakefile", "justfile", "Justfile", ".justfile"}) {
      if (const std::string* text = file_text(locate(run, in + std::string(file)).path); text && !run.sorted.has("-f"))
        run_recipes(run, std::string(*text), run.words[0]);
    }
  }
  for (const PickedUp& row : picked_up_by) {
    if (!has_word(row.programs, program) && !has_word(row.programs, family)) continue;
    std::vector<std::string> paths;
    for (const auto& [path, text] : written_) {
      if (matches_any(row.files, last_part(path))) paths.push_back(path);
    }
    for (const std::string& path : paths) run_picked_up(run, path, row.language);
  }
}

/// gcc -o /tmp/x /tmp/x.c: from here on /tmp/x is as known as its source, where that is known wholly.
void Judge::compiled_to(Run& run) {
  const GivenOption* output = run.sorted.find("-o");
  bool known = false;
  for (const Arg& word : run.words.subspan(1)) {
    const std::size_t dot = word.text.rfind('.');
    const bool source = dot != std::string_view::npos && !word.text.starts_with('-') && word.text.size() - dot <= 4;
    if (!source || (output && word.text == output->value.text)) continue;
    known = is_whole(locate(run, word.text).path);
    if (!known) return;
  }
  if (known && output && output->has_value) compiled_.insert(locate(run, output->value.text).path);
}

/// cc x.c -o x && ./x: the program is what its source says.
void Judge::run_compiled(Run& run) {
  if (!compiles_) return;
  for (const PickedUp& row : compiled_from) {
    if (!files_.empty() && holds_fetched(run, row.files)) raise(run, "net.download_run", run.where);
    std::vector<std::string> paths;
    for (const auto& [path, text] : written_) {
      if (matches_any(row.files, last_part(path))) paths.push_back(path);
    }
    for (const std::string& path : paths) run_picked_up(run, path, row.language);
  }
}

void Judge::implied_files(Run& run) {
  if (!run.sorted.program) return;
  if (!written_.empty()) {
    scripts_of_package(run);
    committed_workflows(run);
    picked_up(run);
  }
  compiles_ |= !files_.empty() && is_compiler(run.words[0].text);
  runs_fetched(run);
}

namespace checks {

/// npm pkg set scripts.x='…': what npm run x will find.
void package_script(Judge& judge, Run& run) {
  for (const Operand& operand : run.sorted.operands) {
    const std::string_view text = operand.arg.text;
    const std::size_t equals = text.find('=');
    if (!text.starts_with("scripts.") || equals == std::string_view::npos) continue;
    judge.package_script(run, text.substr(8, equals - 8), text.substr(equals + 1), operand.arg);
  }
}

}  // namespace checks

}  // namespace cordon::risk
