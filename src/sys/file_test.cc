#include "sys/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace cordon::sys {
namespace {

class File : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "cordon-file-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::string at(const std::string& name) const { return directory_ + "/" + name; }
  std::string directory_;
};

TEST_F(File, ReplacedContentIsReadBack) {
  ASSERT_TRUE(replace_file(at("a"), "one", 0600));
  ASSERT_TRUE(replace_file(at("a"), "two", 0600));
  EXPECT_EQ(*read_file(at("a"), 100), "two");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_), {}), 1) << "a temporary file was left";
}

TEST_F(File, MoreThanTheLimitIsAnErrorAndNotACut) {
  ASSERT_TRUE(replace_file(at("a"), std::string(100, 'x'), 0600));
  EXPECT_EQ(read_file(at("a"), 100)->size(), 100U);
  EXPECT_EQ(read_file(at("a"), 99).error().fault, Fault::invalid_input);
}

TEST_F(File, AFifoIsRefusedWithoutWaiting) {
  ASSERT_EQ(::mkfifo(at("fifo").c_str(), 0600), 0);
  EXPECT_EQ(read_file(at("fifo"), 10).error().sentence, at("fifo") + " is a FIFO, not a file");
}

TEST_F(File, ADirectoryIsNotAFile) {
  EXPECT_EQ(read_file(directory_, 10).error().sentence, directory_ + " is a directory, not a file");
}

TEST_F(File, AMissingFileIsNothing) {
  EXPECT_FALSE(read_file_if_exists(at("missing"), 10)->has_value());
  EXPECT_EQ(read_file(at("missing"), 10).error().fault, Fault::invalid_input);
}

TEST_F(File, CreateNeverOverwritesNorFollowsALink) {
  ASSERT_TRUE(create_file(at("a"), "mine", 0600));
  EXPECT_EQ(create_file(at("a"), "other", 0600).error().fault, Fault::conflict);
  ASSERT_EQ(::symlink(at("target").c_str(), at("link").c_str()), 0);
  EXPECT_FALSE(create_file(at("link"), "x", 0600));
  EXPECT_FALSE(std::filesystem::exists(at("target")));
}

TEST_F(File, AStateDirectoryThatOthersMayWriteIsRefused) {
  EXPECT_TRUE(ensure_private_directory(at("x/y/z")));
  ASSERT_EQ(::chmod(at("x/y/z").c_str(), 0777), 0);
  EXPECT_EQ(ensure_private_directory(at("x/y/z")).error().fault, Fault::denied);
}

}  // namespace
}  // namespace cordon::sys
