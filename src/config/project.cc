#include "config/project.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/text.h"

namespace cordon::config {
namespace {

namespace fs = std::filesystem;

constexpr ProjectKind kinds[] = {
    {"Node.js", "package.json",
     "node --version\nnpm --version\nnpm list\nnpm test\nnpm run\nnpm ci\nnpx tsc\nnpx eslint\nnpx prettier", "npm"},
    {"Deno", "deno.json deno.jsonc", "deno --version\ndeno test\ndeno check\ndeno lint\ndeno fmt", ""},
    {"Python", "pyproject.toml setup.py setup.cfg requirements.txt Pipfile tox.ini",
     "python3 --version\npython3 -m pytest\npytest\npython3 -m unittest\nruff check\nmypy\npip list\npip show", "pip"},
    {"Rust", "Cargo.toml",
     "cargo --version\ncargo check\ncargo build\ncargo test\ncargo clippy\ncargo fmt\ncargo doc\ncargo tree", "cargo"},
    {"Go", "go.mod", "go version\ngo build\ngo test\ngo vet\ngo fmt\ngo list\ngo mod tidy", ""},
    {"C and C++", "CMakeLists.txt configure.ac configure meson.build *.cc *.cpp *.c",
     "cmake --version\ncmake -S\ncmake --build\ncmake --preset\nctest\nninja\nmeson compile\nmeson test", ""},
    {"Make", "Makefile makefile GNUmakefile", "make --version\nmake\nmake all\nmake test\nmake check", ""},
    {"Java with Maven", "pom.xml", "mvn --version\nmvn compile\nmvn test\nmvn verify\nmvn package", ""},
    {"Java with Gradle", "build.gradle build.gradle.kts settings.gradle settings.gradle.kts",
     "gradle --version\ngradle build\ngradle test\ngradle check", ""},
    {"Ruby", "Gemfile *.gemspec", "ruby --version\nbundle list\nbundle exec rspec\nbundle exec rake test\nrubocop", ""},
    {"PHP", "composer.json", "php --version\nphp -l\ncomposer validate\nvendor/bin/phpunit", ""},
    {".NET", "*.csproj *.fsproj *.sln global.json", "dotnet --version\ndotnet build\ndotnet test\ndotnet format", ""},
    {"Elixir", "mix.exs", "mix compile\nmix test\nmix format", ""},
    {"Swift", "Package.swift", "swift --version\nswift build\nswift test", ""},
    {"Haskell", "stack.yaml cabal.project *.cabal", "cabal build\ncabal test\nstack build\nstack test", ""},
};

struct Place {
  std::string_view name;
  std::string_view path;  // below the home
};

/// Only the parts that hold programs and packages: ~/.cargo itself would show its credentials.
constexpr Place places[] = {
    {"pyenv", ".pyenv"},
    {"cargo", ".cargo/bin"},
    {"cargo registry", ".cargo/registry"},
    {"cargo git sources", ".cargo/git"},
    {"rustup", ".rustup"},
    {"nvm", ".nvm/versions"},
    {"volta", ".volta"},
    {"fnm", ".local/share/fnm"},
    {"bun", ".bun/bin"},
    {"deno", ".deno/bin"},
    {"go", "go/bin"},
    {"go modules", "go/pkg"},
    {"sdkman", ".sdkman/candidates"},
    {"mise", ".local/share/mise"},
    {"asdf installs", ".asdf/installs"},
    {"asdf shims", ".asdf/shims"},
    {"rbenv", ".rbenv"},
    {"uv", ".local/share/uv"},
    {"pipx", ".local/share/pipx"},
    {"miniconda", "miniconda3"},
    {"anaconda", "anaconda3"},
    {"miniforge", "miniforge3"},
    {"ghcup", ".ghcup/bin"},
    {"juliaup", ".juliaup"},
    {"own programs", ".local/bin"},
};

bool fits(std::string_view marker, std::string_view name) {
  if (!marker.starts_with('*')) return marker == name;
  return name.size() >= marker.size() && name.ends_with(marker.substr(1));
}

bool any_fits(std::string_view markers, const std::set<std::string>& names) {
  while (!markers.empty()) {
    const std::size_t end = std::min(markers.find(' '), markers.size());
    const std::string_view marker = markers.substr(0, end);
    if (std::ranges::any_of(names, [&](const std::string& name) { return fits(marker, name); })) return true;
    markers.remove_prefix(std::min(end + 1, markers.size()));
  }
  return false;
}

}  // namespace

std::vector<const ProjectKind*> detect_project(const std::string& workspace) {
  constexpr std::size_t most_names = 10'000;
  std::set<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(workspace, ignored)) {
    if (names.size() >= most_names) break;
    names.insert(entry.path().filename().string());
  }
  std::vector<const ProjectKind*> made;
  for (const ProjectKind& kind : kinds) {
    if (any_fits(kind.markers, names)) made.push_back(&kind);
  }
  return made;
}

std::vector<Toolchain> find_toolchains(const std::string& home, const BindRules& rules) {
  std::vector<Toolchain> made;
  for (const Place& place : places) {
    Toolchain found{std::string(place.name), fmt::format("{}/{}", home, place.path), ""};
    std::error_code ignored;
    if (!fs::is_directory(found.path, ignored)) continue;
    const auto checked = rules.check_source(found.path, found.path, {"cordon init", 0, 0});
    if (!checked) found.refused = checked.error().sentence;
    made.push_back(std::move(found));
  }
  return made;
}

}  // namespace cordon::config
