#include "sys/file_mark.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace cordon::sys {
namespace {

namespace fs = std::filesystem;

class FileMarkTest : public ::testing::Test {
 protected:
  FileMarkTest() {
    std::string pattern = (fs::temp_directory_path() / "cordon-mark-XXXXXX").string();
    root_ = fs::canonical(::mkdtemp(pattern.data()));
  }
  ~FileMarkTest() override { fs::remove_all(root_); }
  std::string path(const char* name) const { return (root_ / name).string(); }
  void write(const char* name, const char* text) const { std::ofstream(path(name)) << text; }
  std::optional<FileMark> mark(const char* name, Links links = Links::refuse) const {
    return mark_of(path(name), links, later_);
  }

  fs::path root_;
  Time later_ = SystemClock().now() + std::chrono::minutes(1);
};

TEST_F(FileMarkTest, ChangesWithTheContentThePlaceAndTheMode) {
  write("a", "one");
  const auto first = mark("a");
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->there);
  EXPECT_EQ(first, mark("a"));
  write("a", "more");
  EXPECT_NE(first, mark("a"));
  write("b", "one");
  EXPECT_NE(first, mark("b"));
}

TEST_F(FileMarkTest, NothingThereIsAMarkToo) {
  write("a", "");
  for (const char* name : {"nothing", "no/thing", "a/thing"}) {
    const auto made = mark(name);
    ASSERT_TRUE(made) << name;
    EXPECT_FALSE(made->there) << name;
  }
}

TEST_F(FileMarkTest, ThereIsNoneThroughALinkThatIsRefused) {
  fs::create_directory(path("real"));
  write("real/a", "one");
  fs::create_directory_symlink("real", path("way"));
  fs::create_symlink("real/a", path("link"));
  for (const char* name : {"way/a", "link", "way/nothing"}) EXPECT_FALSE(mark(name)) << name;
  EXPECT_EQ(mark("way/a", Links::follow), mark("real/a"));
}

TEST_F(FileMarkTest, ThereIsNoneOfAFileThatWasTouchedJustNow) {
  write("a", "one");
  EXPECT_FALSE(mark_of(path("a"), Links::follow, SystemClock().now()));
  // Also when the clock was set back.
  EXPECT_FALSE(mark_of(path("a"), Links::follow, SystemClock().now() - std::chrono::hours(1)));
}

TEST_F(FileMarkTest, ThereIsNoneOfWhatMayNotBeLookedAt) { EXPECT_FALSE(mark(std::string(5000, 'x').c_str())); }

}  // namespace
}  // namespace cordon::sys
