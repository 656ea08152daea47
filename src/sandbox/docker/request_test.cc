#include "sandbox/docker/request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cordon::sandbox::docker {
namespace {

using testing::Contains;
using testing::HasSubstr;

ContainerRequest request(Dialect dialect) {
  ContainerRequest made;
  made.dialect = dialect;
  made.filter = "FILTER";
  return made;
}

TEST(Request, IsNeverUnconfinedAndAlwaysLimited) {
  for (const Dialect dialect : {Dialect::docker, Dialect::podman}) {
    container::Layout layout;
    layout.profile.limits.memory_bytes = 0;
    layout.profile.limits.pids = 0;
    const Json config = body_of(layout, request(dialect))["HostConfig"];
    EXPECT_THAT(config["SecurityOpt"], Contains("seccomp=FILTER"));
    EXPECT_THAT(config["SecurityOpt"], Contains("no-new-privileges"));
    EXPECT_EQ(config["CapDrop"], Json({"ALL"}));
    EXPECT_EQ(config["NetworkMode"], "none");
    EXPECT_EQ(config["ReadonlyRootfs"], true);
    EXPECT_GT(config["Memory"].get<std::uint64_t>(), 0U);
    EXPECT_GT(config["PidsLimit"].get<std::uint64_t>(), 0U);
  }
}

TEST(Request, CoversTheSamePathsInPodmansWords) {
  const Json options = body_of({}, request(Dialect::podman))["HostConfig"]["SecurityOpt"];
  const std::string last = options.back().get<std::string>();
  ASSERT_TRUE(last.starts_with("mask=/proc/")) << last;
  for (const std::string& path : container::masked_paths()) EXPECT_THAT(last + ":", HasSubstr(path + ":"));
}

TEST(Request, APathThatPodmanWouldReadAsOptionsIsRefused) {
  for (const char* path : {"/a,rw", "/a\"b", "/a\nb", "/a\rb"}) {
    EXPECT_FALSE(check_mount({path, "/data"}, Dialect::podman)) << path;
    EXPECT_FALSE(check_mount({"/data", path}, Dialect::podman)) << path;
    EXPECT_TRUE(check_mount({path, path}, Dialect::docker)) << path;
  }
  EXPECT_TRUE(check_mount({"/a b=c", "/data:x"}, Dialect::podman));
}

}  // namespace
}  // namespace cordon::sandbox::docker
