#include "policy/allowlist.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace cordon::policy {
namespace {

class Store : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "cordon-allowlist-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  AllowlistEntry entry(const std::string& pattern) {
    return {.pattern = pattern, .added_at = *from_rfc3339("2026-01-01")};
  }
  std::string directory_;
};

TEST_F(Store, KeepsEntriesUntilTheyAreRemoved) {
  const AllowlistStore store(directory_);
  ASSERT_TRUE(store.add(entry("cargo build")));
  ASSERT_TRUE(store.add(entry("npm install *")));
  EXPECT_EQ(store.add(entry("cargo build")).error().fault, Fault::conflict);
  ASSERT_EQ(store.read()->entries().size(), 2U);
  ASSERT_TRUE(store.remove("cargo build"));
  EXPECT_FALSE(store.remove("cargo build"));
  EXPECT_EQ(store.read()->entries().front().pattern, "npm install *");
}

TEST_F(Store, RefusesPatternsThatCoverEverythingOrHideSomething) {
  const AllowlistStore store(directory_);
  for (const char* pattern : {"", "*", "  ", "ls\nrm", "l\u200bs", "ls\x1b[0m"}) {
    EXPECT_EQ(store.add(entry(pattern)).error().fault, Fault::invalid_input) << pattern;
  }
}

TEST_F(Store, ADamagedLineIsAnErrorAndNotAnEmptyList) {
  std::ofstream(directory_ + "/allowlist.jsonl") << "{\"pattern\":\"ls\",\"added_at\":\"2026-01-01\"}\nnonsense\n";
  const auto read = AllowlistStore(directory_).read();
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().fault, Fault::corrupt);
  EXPECT_NE(read.error().sentence.find("allowlist.jsonl:2"), std::string::npos);
}

TEST_F(Store, AnExpiryThatCannotBeReadDoesNotBecomeNever) {
  std::ofstream(directory_ + "/allowlist.jsonl")
      << "{\"pattern\":\"ls\",\"added_at\":\"2026-01-01\",\"expires\":\"soon\"}\n";
  EXPECT_FALSE(AllowlistStore(directory_).read());
}

TEST_F(Store, ManyProcessesLoseNoEntry) {
  constexpr int processes = 8, each = 10;
  for (int p = 0; p < processes; ++p) {
    if (::fork() != 0) continue;
    const AllowlistStore store(directory_);
    bool ok = true;
    for (int i = 0; i < each; ++i) ok = ok && store.add(entry("tool" + std::to_string(p) + " " + std::to_string(i)));
    ::_exit(ok ? 0 : 1);
  }
  for (int p = 0; p < processes; ++p) {
    int status = 0;
    ::wait(&status);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(AllowlistStore(directory_).read()->entries().size(), static_cast<std::size_t>(processes * each));
}

}  // namespace
}  // namespace cordon::policy
