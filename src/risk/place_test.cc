#include "risk/place.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace cordon::risk
