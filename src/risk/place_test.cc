#include "risk/place.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace cordon::risk {
namespace {

RiskContext context() {
  RiskContext made;
  made.cwd = made.workspace = "/home/me/project";
  made.home = "/home/me";
  made.look_at_files = false;
  return made;
}

Place at(std::string_view path) { return locate(path, std::string("/home/me/project"), context()); }

TEST(Place, DotsAndSlashesAreRemovedAsTheKernelWould) {
  EXPECT_EQ(absolute("a/../b//./c", "/x"), "/x/b/c");
  EXPECT_EQ(absolute("../../../..", "/x/y"), "/");
  EXPECT_EQ(absolute("/home/../", "/"), "/");
}

TEST(Place, AreasAreToldApart) {
  EXPECT_EQ(at("src/x").area, Area::workspace);
  EXPECT_EQ(at("../other").area, Area::home);
  EXPECT_EQ(at("/tmp/x").area, Area::temporary);
  EXPECT_EQ(at("/etc/x").area, Area::system);
  EXPECT_EQ(at("/dev/sda").area, Area::device);
  EXPECT_EQ(at("/dev/null").area, Area::sink);
  EXPECT_EQ(at("/proc/sys/x").area, Area::kernel);
  EXPECT_EQ(at("/srv/x").area, Area::outside);
  EXPECT_EQ(at("$X/y").area, Area::unknown);
  EXPECT_EQ(at("/home/me/project2/x").area, Area::home);
}

TEST(Place, EverythingInADirectoryIsTheDirectory) {
  EXPECT_TRUE(at("/*").vital);
  EXPECT_TRUE(at("~/*").vital);
  EXPECT_TRUE(at("/etc").vital);
  EXPECT_FALSE(at("/tmp/*").vital);
  EXPECT_FALSE(at("~/x").vital);
}

TEST(Place, CredentialsButNotTheirTemplatesOrPublicHalves) {
  for (const char* path : {"~/.ssh/id_rsa", ".env", ".env.production", "~/.aws/credentials", "/etc/shadow",
                           "server.key", "~/.kube/config", "$X/.netrc", "/proc/1/environ"})
    EXPECT_TRUE(at(path).credential) << path;
  for (const char* path : {"~/.ssh/id_rsa.pub", ".env.example", "~/.ssh/known_hosts", "cert.pem", "README.md"})
    EXPECT_FALSE(at(path).credential) << path;
}

TEST(Place, APatternThatCouldNameACredential) {
  EXPECT_TRUE(could_be_credential("/home/me/.s*h/id_*", context()));
  EXPECT_TRUE(could_be_credential("/home/me/.a?s/cred*", context()));
  EXPECT_TRUE(could_be_credential("/home/me/.[s]sh/id_rs[a]", context()));
  EXPECT_FALSE(could_be_credential("/home/me/*", context()));
  EXPECT_FALSE(could_be_credential("/home/me/project/*", context()));
}

TEST(Place, StartupFilesHooksAndTheGuardsOwnFiles) {
  EXPECT_TRUE(at("~/.bashrc").persistent);
  EXPECT_TRUE(at("/etc/cron.d/x").persistent);
  EXPECT_TRUE(at("~/.ssh/authorized_keys").persistent);
  EXPECT_TRUE(at(".git/hooks/pre-commit").hook);
  EXPECT_TRUE(at("SANDBOX.md").guarded);
  EXPECT_TRUE(at("~/.config/cordon/config.json5").guarded);
  EXPECT_FALSE(at("docs/example.bashrc").persistent);
}

TEST(Place, HostsInAddresses) {
  EXPECT_EQ(host_of("https://user@h.example:8080/p?q"), "h.example");
  EXPECT_EQ(host_of("h.example:80"), "h.example");
  EXPECT_EQ(host_of("http://[::1]:3000/"), "::1");
  EXPECT_EQ(host_of("http://169.254.170.2$X"), "169.254.170.2");
  EXPECT_TRUE(is_local_host("127.0.0.1"));
  EXPECT_TRUE(is_metadata_host("169.254.169.254"));
}

namespace fs = std::filesystem;

struct Links : testing::Test {
  fs::path root = fs::temp_directory_path() / ("place_test." + std::to_string(::getpid()));
  RiskContext here;

  void SetUp() override {
    fs::remove_all(root);
    fs::create_directories(root / "home/.ssh");
    fs::create_directories(root / "home/work/src");
    std::ofstream(root / "home/.ssh/id_rsa") << "x";
    std::ofstream(root / "home/notes") << "x";
    here.home = (root / "home").string();
    here.cwd = here.workspace = here.home + "/work";
  }
  void TearDown() override { fs::remove_all(root); }
  void link(const std::string& name, const std::string& target) {
    fs::create_symlink(target, here.workspace + "/" + name);
  }
  Place at(std::string_view path) { return locate(path, here.workspace, here); }
};

TEST_F(Links, OneThatStaysInsideChangesNothing) {
  link("lib", "src");
  EXPECT_EQ(at("lib/x.c").area, Area::workspace);
  EXPECT_EQ(at("lib/x.c").path, here.workspace + "/lib/x.c");
}

TEST_F(Links, OneThatLeadsOutIsWhereItLeads) {
  link("up", "../notes");
  link("etc", "/etc");
  EXPECT_NE(at("up").area, Area::workspace);
  EXPECT_EQ(at("etc/passwd").area, Area::system);
  EXPECT_TRUE(at("etc").vital);
}

TEST_F(Links, OneToACredentialStoreIsACredential) {
  link("data", "../.ssh");
  link("key.txt", "../.ssh/id_rsa");
  EXPECT_TRUE(at("data/id_rsa").credential);
  EXPECT_TRUE(at("key.txt").credential);
  EXPECT_TRUE(at("data").holds_secrets || at("data").credential);
}

TEST_F(Links, ThroughALinkAPatternCoversWhatLiesBehind) {
  link("all", "/");
  link("data", "../.ssh");
  EXPECT_TRUE(at("all/*").vital);
  EXPECT_TRUE(at("data/*").credential || could_be_credential(at("data/*").path, here));
}

TEST_F(Links, ChainsAndDanglingOnesAreFollowedAsFarAsTheyGo) {
  link("one", "two");
  link("two", "/etc");
  link("new", "/etc/does-not-exist.d/x");
  EXPECT_EQ(at("one/hosts").area, Area::system);
  EXPECT_EQ(at("new").area, Area::system);
  link("loop", "loop");
  EXPECT_EQ(at("loop").path, here.workspace + "/loop");
}

TEST_F(Links, AWorkspaceThatIsItselfALinkIsStillTheWorkspace) {
  fs::create_directory_symlink(here.workspace, root / "alias");
  here.workspace = here.cwd = (root / "alias").string();
  EXPECT_EQ(at("src/x").area, Area::workspace);
}

TEST_F(Links, NothingIsLookedAtWhenTheContextForbidsIt) {
  link("etc", "/etc");
  here.look_at_files = false;
  EXPECT_EQ(at("etc/passwd").area, Area::workspace);
}

}  // namespace
}  // namespace cordon::risk
