#include "config/template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.h"
#include "config/registry.h"
#include "config/testing.h"

namespace cordon::config {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> names(const std::vector<const ProjectKind*>& kinds) {
  std::vector<std::string> made;
  for (const ProjectKind* kind : kinds) made.emplace_back(kind->name);
  return made;
}

TEST(Project, IsKnownByItsFiles) {
  struct Case {
    const char* file;
    const char* kind;
  };
  const Case cases[] = {{"package.json", "Node.js"},
                        {"pyproject.toml", "Python"},
                        {"requirements.txt", "Python"},
                        {"Cargo.toml", "Rust"},
                        {"go.mod", "Go"},
                        {"CMakeLists.txt", "C and C++"},
                        {"main.cc", "C and C++"},
                        {"Makefile", "Make"},
                        {"pom.xml", "Java with Maven"},
                        {"build.gradle.kts", "Java with Gradle"},
                        {"Gemfile", "Ruby"},
                        {"composer.json", "PHP"},
                        {"app.csproj", ".NET"}};
  for (const Case& one : cases) {
    Room room;
    room.write(one.file, "");
    EXPECT_THAT(names(detect_project(room.workspace())), ElementsAre(one.kind)) << one.file;
  }
  EXPECT_THAT(detect_project(Room().workspace()), IsEmpty());
  EXPECT_THAT(detect_project("/nonexistent"), IsEmpty());
}

TEST(Toolchains, AreFoundNarrowEnoughToLeaveCredentialsOut) {
  Room room;
  for (const char* path : {".pyenv/versions", ".cargo/bin", ".cargo/registry", ".rustup/toolchains", "go/bin"}) {
    fs::create_directories(room.home() + "/" + path);
  }
  room.write_at(room.home() + "/.cargo/credentials.toml", "secret");
  fs::create_directories(room.home() + "/.ssh");
  fs::create_directory_symlink(room.home() + "/.ssh", room.home() + "/.rbenv");
  const auto found = find_toolchains(room.home(), BindRules::create(room.home(), {}, {}));
  std::vector<std::string> usable, refused;
  for (const Toolchain& one : found)
    (one.refused.empty() ? usable : refused).push_back(one.path.substr(room.home().size()));
  EXPECT_THAT(usable, ElementsAre("/.pyenv", "/.cargo/bin", "/.cargo/registry", "/.rustup", "/go/bin"));
  EXPECT_THAT(refused, ElementsAre("/.rbenv"));
}

TEST(Template, IsAcceptedWithoutAWarningForEveryKindOfProject) {
  Room room;
  for (const char* file :
       {"package.json", "deno.json", "setup.py", "Cargo.toml", "go.mod", "CMakeLists.txt", "Makefile", "pom.xml",
        "build.gradle", "Gemfile", "composer.json", "x.sln", "mix.exs", "Package.swift", "stack.yaml"}) {
    room.write(file, "");
  }
  fs::create_directories(room.home() + "/.pyenv");
  fs::create_directories(room.home() + "/.cargo/bin");
  TemplateFacts facts;
  facts.kinds = detect_project(room.workspace());
  facts.toolchains = find_toolchains(room.home(), BindRules::create(room.home(), {}, {}));
  facts.toolchains.push_back({"odd", room.home() + "/--> - rm", "it covers secrets"});
  facts.open_presets = {"npm"};
  facts.found_presets = {{"npm", {"r.example:443"}}, {"pip", {"p.example:443", "f.example:443"}}};
  facts.home = room.home();
  const std::string text = sandbox_md_for(facts);
  room.write("SANDBOX.md", text);
  room.trust_all();
  const auto made = load(room.sources());
  ASSERT_TRUE(made) << made.error().sentence;
  EXPECT_THAT(made->remarks, IsEmpty()) << made->remarks[0].sentence;
  EXPECT_THAT(made->ignored, IsEmpty());
  EXPECT_GT(made->settings.allowed.size(), 60U);
  for (const Entry& entry : made->settings.allowed) EXPECT_NE(entry.value, "rm");
  ASSERT_EQ(made->settings.filesystem.size(), 2U);
  EXPECT_EQ(made->settings.filesystem[0].path, room.home() + "/.pyenv");
  EXPECT_EQ(made->settings.filesystem[0].access, PathAccess::ro);
  ASSERT_EQ(made->settings.defaults.sandbox.network.size(), 1U);
  EXPECT_EQ(made->settings.defaults.sandbox.network[0].preset, "npm");
  EXPECT_THAT(text, AllOf(HasSubstr("- ~/.pyenv: ro\n"), HasSubstr("- preset:pip   (p.example:443, f.example:443)\n")));
}

TEST(Template, OfAnEmptyWorkspaceOpensNothing) {
  Room room;
  room.write("SANDBOX.md", sandbox_md_for({}));
  room.trust_all();
  const auto made = load(room.sources());
  ASSERT_TRUE(made) << made.error().sentence;
  EXPECT_THAT(made->remarks, IsEmpty());
  EXPECT_THAT(made->settings.defaults.sandbox.network, IsEmpty());
  EXPECT_THAT(made->settings.filesystem, IsEmpty());
}

TEST(Registries, AreReadFromTheUsersAndTheSystemsSettings) {
  Room room;
  room.write_at(room.path("etc/pip.conf"), "[global]\nindex-url = https://pip.example/simple\n# https://no.example\n");
  room.write_at(room.home() + "/.config/pip/pip.conf",
                "[global]\nextra-index-url = https://u:p@more.example:8443/simple\n");
  room.write_at(room.path("etc/apt/sources.list"),
                "# deb http://old.example x\ndeb [arch=amd64] http://deb.example/debian bookworm main\n");
  room.write_at(room.path("etc/apt/sources.list.d/x.sources"), "Types: deb\nURIs: https://apt.example/ubuntu\n");
  room.write_at(room.home() + "/.cargo/config.toml",
                "[source.crates-io]\nreplace-with = 'm'\n[source.m]\n"
                "registry = \"sparse+https://crates.example/index/\"\n");
  fs::create_directories(room.home() + "/.cargo/registry/index/index.example-6f17d22bba15001f");
  room.write_at(room.home() + "/.cargo/registry/index/index.example-6f17d22bba15001f/config.json",
                R"({"dl":"https://dl.example/x"})");
  room.write_at(room.home() + "/.npmrc", "@me:registry=https://scope.example/\n//scope.example/:_authToken=hidden\n");
  const Presets found =
      find_registries({.home = room.home(), .path = "", .workspace = room.workspace(), .root = room.path("")});
  EXPECT_THAT(found.at("pip"), ElementsAre("more.example:8443", "pip.example:443"));
  EXPECT_THAT(found.at("apt"), ElementsAre("apt.example:443", "deb.example:80"));
  EXPECT_THAT(found.at("cargo"), ElementsAre("crates.example:443", "dl.example:443", "index.example:443"));
  EXPECT_THAT(found.at("npm"), ElementsAre("scope.example:443"));
}

TEST(Registries, AreAskedOfToolsButNeverOfOnesInTheWorkspace) {
  Room room;
  const auto tool = [&](const std::string& path, const std::string& host) {
    room.write_at(path,
                  "#!/bin/sh\n[ \"$PWD\" = / ] && [ -z \"$NPM_CONFIG_REGISTRY\" ] && echo https://" + host + "/\n");
    fs::permissions(path, fs::perms::owner_all);
  };
  tool(room.workspace() + "/node_modules/.bin/npm", "evil.example");
  tool(room.path("bin/npm"), "good.example");
  fs::create_symlink(room.workspace() + "/node_modules/.bin/npm", room.path("link-npm"));
  room.write(".npmrc", "registry=https://evil.example/\n");
  ::setenv("NPM_CONFIG_REGISTRY", "https://evil.example", 1);
  const std::string path = ".:" + room.workspace() + "/node_modules/.bin:" + room.path("bin") + ":/usr/bin:/bin";
  const Presets found =
      find_registries({.home = room.home(), .path = path, .workspace = room.workspace(), .root = room.path("")});
  ::unsetenv("NPM_CONFIG_REGISTRY");
  EXPECT_THAT(found.at("npm"), ElementsAre("good.example:443"));
}

TEST(Registries, AnAddressIsReducedToItsHostAndPort) {
  EXPECT_EQ(host_of("https://R.example/simple/"), "r.example:443");
  EXPECT_EQ(host_of("http://user:secret@r.example:8080/x"), "r.example:8080");
  EXPECT_EQ(host_of("git@code.example:me/x.git"), "code.example:22");
  EXPECT_EQ(host_of("ssh://git@code.example/x"), "code.example:22");
  for (const char* other :
       {"", "undefined", "r.example", "/srv/mirror", "file:///srv/x", "https://", "https://a b/", "cdrom:[Debian]"}) {
    EXPECT_EQ(host_of(other), "") << other;
  }
}

}  // namespace
}  // namespace cordon::config
