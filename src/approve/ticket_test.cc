#include "approve/ticket.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

namespace cordon::approve {
namespace {

class TicketTest : public ::testing::Test {
 protected:
  TicketTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "cordon-ticket-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
  }
  ~TicketTest() override { std::filesystem::remove_all(directory_); }

  bool take(const std::string& ticket, const char* command, Time now) const {
    return Tickets(directory_).take(ticket, ticket_subject(command, "/w", "a"), now).value_or(false);
  }
  std::string issue() const {
    return Tickets(directory_).issue(ticket_subject("rm x", "/w", "a"), now_ + std::chrono::minutes(5)).value();
  }

  std::string directory_;
  Time now_ = SystemClock().now();
};

TEST_F(TicketTest, IsGoodOnceForItsRequest) {
  const std::string ticket = issue();
  EXPECT_TRUE(take(ticket, "rm x", now_));
  EXPECT_FALSE(take(ticket, "rm x", now_));
}

TEST_F(TicketTest, IsSpentByTryingItOnSomethingElse) {
  const std::string ticket = issue();
  EXPECT_FALSE(take(ticket, "rm y", now_));
  EXPECT_FALSE(take(ticket, "rm x", now_));
}

TEST_F(TicketTest, Expires) { EXPECT_FALSE(take(issue(), "rm x", now_ + std::chrono::minutes(5))); }

TEST_F(TicketTest, OneThatNobodyIssuedIsNone) {
  issue();
  EXPECT_FALSE(take("", "rm x", now_));
  EXPECT_FALSE(take("../approver.json", "rm x", now_));
}

}  // namespace
}  // namespace cordon::approve
