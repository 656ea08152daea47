#include "approve/approver.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace cordon::approve {
namespace {

class ApproverTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "cordon-approver-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::string directory_;
};

TEST_F(ApproverTest, NobodyApprovesBeforeOneIsSet) { EXPECT_FALSE(ApproverStore(directory_).read()->has_value()); }

TEST_F(ApproverTest, OnlyTheRightPassphraseIsAccepted) {
  const ApproverStore store(directory_);
  ASSERT_TRUE(store.set_passphrase("correct horse"));
  const auto approver = *store.read();
  ASSERT_TRUE(approver);
  EXPECT_TRUE(*approver->accepts("correct horse"));
  EXPECT_FALSE(*approver->accepts("correct horsf"));
  EXPECT_FALSE(*approver->accepts(""));
}

TEST_F(ApproverTest, ATokenIsAcceptedAndNeverStored) {
  const ApproverStore store(directory_);
  const std::string token = *store.make_token();
  const auto approver = *store.read();
  EXPECT_TRUE(*approver->accepts(token));
  EXPECT_FALSE(*approver->accepts(token + "0"));
  std::ifstream file(directory_ + "/approver.json");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(text.find(token.substr(20, 16)), std::string::npos);
  struct stat about {};
  ASSERT_EQ(::stat((directory_ + "/approver.json").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600U);
}

TEST_F(ApproverTest, AShortPassphraseIsRefused) {
  EXPECT_EQ(ApproverStore(directory_).set_passphrase("1234567").error().fault, Fault::invalid_input);
}

TEST_F(ApproverTest, ADamagedFileIsAnErrorAndNotNobody) {
  const ApproverStore store(directory_);
  for (const char* text : {"", "{}", "[1]", "{\"version\":1,\"kind\":\"none\"}", "{\"version\":\"1\"}",
                           "{\"version\":1,\"kind\":\"token\",\"salt\":\"00\",\"hash\":\"00\"}"}) {
    std::ofstream(directory_ + "/approver.json") << text;
    EXPECT_EQ(store.read().error().fault, Fault::corrupt) << text;
  }
}

}  // namespace
}  // namespace cordon::approve
