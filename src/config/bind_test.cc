#include "config/bind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "config/testing.h"

namespace cordon::config {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Binds : public testing::Test {
 protected:
  BindRules rules() const { return BindRules::create(room.home(), {room.state()}, {}); }
  std::string refusal(const std::string& bind) const {
    const auto made = rules().read(bind, {"f", 3, 1});
    return made ? "" : made.error().sentence;
  }
  Room room;
};

TEST_F(Binds, AnOrdinaryDirectoryIsTakenAndResolved) {
  fs::create_directories(room.path("data/real"));
  fs::create_symlink("real", room.path("data/link"));
  const auto made = rules().read(room.path("data/link") + ":/data:rw", {"f", 3, 1});
  ASSERT_TRUE(made) << made.error().sentence;
  EXPECT_EQ(made->resolved, room.path("data/real"));
  EXPECT_EQ(made->access, PathAccess::rw);
  EXPECT_EQ(made->target, "/data");
}

TEST_F(Binds, WithoutAModeItIsReadOnly) { EXPECT_EQ(rules().read("/srv/x:/x", {"f", 1, 1})->access, PathAccess::ro); }

TEST_F(Binds, NeverASystemDirectoryNorWhatIsInsideOrAroundIt) {
  for (const char* source : {"/", "/etc", "/etc/ssl", "/proc", "/proc/self/root", "/sys", "/dev/shm", "/boot", "/root",
                             "/root/x", "/run", "/run/user/1000", "/var/run", "/var/run/docker.sock", "/var", "//etc",
                             "/srv/../etc", "/./etc/", "/run/podman/podman.sock"}) {
    EXPECT_THAT(refusal(std::string(source) + ":/x:ro"), HasSubstr("the blocked path")) << source;
  }
}

TEST_F(Binds, NeverTheCredentialsOfAnyHome) {
  for (const char* name : {".ssh", ".aws", ".gnupg", ".docker", ".config", ".netrc", ".npmrc", ".pypirc", ".kube",
                           ".cargo/credentials", ".cargo/credentials.toml"}) {
    const std::string path = room.home() + "/" + name;
    EXPECT_THAT(refusal(path + ":/x:ro"), HasSubstr(fmt::format("the blocked path \"{}/", room.home()))) << path;
    EXPECT_THAT(refusal(path + "/inside:/x:ro"), HasSubstr("the blocked path")) << path;
  }
  EXPECT_THAT(refusal("/root/.ssh:/x:ro"), HasSubstr("the blocked path"));
}

TEST_F(Binds, NothingThatCoversCredentialsEvenBeforeTheyExist) {
  EXPECT_THAT(refusal(room.home() + ":/x:ro"), HasSubstr("covers the blocked path \"" + room.home() + "/.ssh\""));
  EXPECT_THAT(refusal(room.path("") + ":/x:ro"), HasSubstr("covers the blocked path"));
  EXPECT_THAT(refusal(room.home() + "/.cargo:/x:ro"),
              HasSubstr("covers the blocked path \"" + room.home() + "/.cargo/credentials\""));
  EXPECT_EQ(refusal(room.home() + "/.cargo/bin:/x:ro"), "");
  EXPECT_EQ(refusal(room.home() + "/.sshfs:/x:ro"), "");
}

TEST_F(Binds, NothingThroughASymlinkOrUnderOne) {
  fs::create_directories(room.home() + "/.ssh");
  fs::create_symlink(room.home() + "/.ssh", room.path("innocent"));
  fs::create_symlink("/etc", room.path("conf"));
  fs::create_symlink("dangling-target", room.path("loop-free"));
  fs::create_symlink(room.home() + "/.aws", room.path("later"));
  EXPECT_THAT(refusal(room.path("innocent") + ":/x:ro"), HasSubstr("(it resolves to \"" + room.home() + "/.ssh\")"));
  EXPECT_THAT(refusal(room.path("conf/does/not/exist") + ":/x:ro"), HasSubstr("lies inside the blocked path \"/etc\""));
  EXPECT_THAT(refusal(room.path("later") + ":/x:ro"), HasSubstr("the blocked path"))
      << "dangling now, a key store later";
  EXPECT_THAT(refusal(room.path("innocent/../.ssh") + ":/x:ro"), HasSubstr("the blocked path"));
}

TEST_F(Binds, NothingThatACredentialNameLinksTo) {
  fs::create_directories(room.path("vault/keys"));
  fs::create_symlink(room.path("vault/keys"), room.home() + "/.ssh");
  EXPECT_THAT(refusal(room.path("vault/keys") + ":/x:ro"), HasSubstr("is the blocked path"));
  EXPECT_THAT(refusal(room.path("vault") + ":/x:ro"), HasSubstr("covers the blocked path"));
}

TEST_F(Binds, ALoopOfSymlinksIsAnErrorNotAHang) {
  fs::create_symlink(room.path("b"), room.path("a"));
  fs::create_symlink(room.path("a"), room.path("b"));
  EXPECT_THAT(refusal(room.path("a") + ":/x:ro"), HasSubstr("too many symlinks"));
}

TEST_F(Binds, NotCordonsOwnState) {
  EXPECT_THAT(refusal(room.state() + "/sub:/x:rw"), HasSubstr("lies inside the blocked path \"" + room.state()));
}

TEST_F(Binds, NoContainerEngineSocketWhereverItIs) {
  fs::create_directories(room.path("sock"));
  room.write_at(room.path("sock/docker.sock"), "");
  EXPECT_THAT(refusal(room.path("sock/docker.sock") + ":/x:rw"), HasSubstr("is the container engine's socket"));
  EXPECT_THAT(refusal(room.path("sock") + ":/x:rw"), HasSubstr("covers the container engine's socket"));
  const BindRules with_host = BindRules::create(room.home(), {}, {room.path("elsewhere/engine")});
  EXPECT_FALSE(with_host.read(room.path("elsewhere") + ":/x:ro", {}));
}

TEST_F(Binds, TheWorkspacesTargetsAreReserved) {
  for (const char* target : {"/workspace", "/agent", "/workspace/sub", "/x/../agent", "/workspace/"}) {
    EXPECT_THAT(refusal("/srv/x:" + std::string(target) + ":ro"), HasSubstr("is reserved for the workspace")) << target;
  }
  EXPECT_EQ(refusal("/srv/x:/workspaces:ro"), "");
  EXPECT_THAT(refusal("/srv/x:/proc/1:ro"), HasSubstr("which the sandbox makes itself"));
  EXPECT_THAT(refusal("/srv/x:/:ro"), HasSubstr("targets \"/\""));
}

TEST_F(Binds, TheFormIsHostSandboxMode) {
  EXPECT_EQ(refusal("/srv/x"), "f:3: bind \"/srv/x\" is not of the form \"host:sandbox:ro\"");
  EXPECT_EQ(refusal("/srv/x:/x:ro:z"), "f:3: bind \"/srv/x:/x:ro:z\" is not of the form \"host:sandbox:ro\"");
  EXPECT_EQ(refusal(":/x:ro"), "f:3: bind \":/x:ro\" is not of the form \"host:sandbox:ro\"");
  EXPECT_EQ(refusal("/srv/x:/x:rx"), "f:3: bind \"/srv/x:/x:rx\" has the mode \"rx\"; expected ro or rw");
  EXPECT_EQ(refusal("x:/x:ro"), "f:3: bind \"x:/x:ro\" has the source \"x\", which is not an absolute path");
  EXPECT_EQ(refusal("~/x:/x:ro"), "f:3: bind \"~/x:/x:ro\" has the source \"~/x\", which is not an absolute path");
  EXPECT_EQ(refusal("/srv/x:x:ro"), "f:3: bind \"/srv/x:x:ro\" has the target \"x\", which is not absolute");
}

TEST_F(Binds, AWorkspaceMayNotBeOrCoverAHomeOrABlockedPlace) {
  EXPECT_TRUE(rules().check_workspace(room.workspace()));
  for (const std::string& path : {std::string("/"), room.home(), room.path(""), std::string("/etc"),
                                  std::string("/root"), std::string("/home"), room.state()}) {
    EXPECT_FALSE(rules().check_workspace(path)) << path;
  }
  EXPECT_TRUE(rules().check_workspace(room.home() + "/project"));
}

}  // namespace
}  // namespace cordon::config
