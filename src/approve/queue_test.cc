#include "approve/queue.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

namespace cordon::approve {
namespace {

using namespace std::chrono_literals;

class QueueTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "cordon-queue-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  Queue open(QueueLimits limits = {}) { return *Queue::open(directory_, clock_, limits); }
  Request request(const std::string& command, bool is_agent = false) {
    return {.command = command,
            .risk = Risk::dangerous,
            .reasons = {"Recursive deletion"},
            .asker = {"/work", "me", "main", "", "cli", is_agent},
            .digest = sha256(command),
            .plan = {{"argv", {"x"}}}};
  }
  Asker me() { return request("").asker; }
  Vote yes(Presence presence = Presence::passphrase) { return {.by = "me", .presence = presence}; }

  std::string directory_;
  ManualClock clock_{*from_rfc3339("2026-01-01T00:00:00Z")};
};

TEST_F(QueueTest, AnApprovalIsRedeemedOnce) {
  Queue queue = open();
  const std::string id = queue.submit(request("rm -rf x"))->entry.id;
  EXPECT_TRUE(id.starts_with("cmd_") && id.size() >= 14) << id;
  EXPECT_FALSE(queue.redeem(id, sha256("rm -rf x"), me(), "x changed")) << "not approved yet";
  ASSERT_TRUE(queue.approve(id, yes()));
  ASSERT_TRUE(queue.redeem(id, sha256("rm -rf x"), me(), "x changed"));
  EXPECT_EQ(queue.redeem(id, sha256("rm -rf x"), me(), "x changed").error().sentence, "Command is already executed");
}

TEST_F(QueueTest, WhatItsApproverCommitsIsLeftForNobodyToRun) {
  Queue queue = open();
  const std::string id = queue.submit(request("rm -rf x"))->entry.id;
  Vote vote = yes();
  vote.commit = "prv_0";
  const auto approved = queue.approve(id, vote);
  ASSERT_TRUE(approved) << approved.error().sentence;
  EXPECT_EQ(approved->state, State::executed);
  EXPECT_TRUE(is_committing(*approved));
  EXPECT_FALSE(queue.redeem(id, sha256("rm -rf x"), me(), ""));
  EXPECT_FALSE(*queue.approved_for(sha256("rm -rf x"), me()));
  ASSERT_TRUE(queue.conclude(id, {{"committed", "prv_0"}}, false));
  EXPECT_EQ(queue.find(id)->state, State::failed);
  EXPECT_FALSE(is_committing(*queue.find(id)));
}

TEST_F(QueueTest, AWiderGrantIsRedeemedAsOftenAsItSays) {
  Queue queue = open();
  const std::string id = queue.submit(request("make"))->entry.id;
  Vote vote = yes();
  vote.uses = 3;
  vote.lasts = 1h;
  ASSERT_TRUE(queue.approve(id, vote));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(queue.redeem(id, sha256("make"), me(), "x changed")) << i;
  EXPECT_FALSE(queue.redeem(id, sha256("make"), me(), "x changed"));
}

TEST_F(QueueTest, ExpiryMeansDenial) {
  Queue queue = open({.expiry = 15min});
  const std::string id = queue.submit(request("rm -rf x"))->entry.id;
  clock_.advance(15min);
  EXPECT_EQ(queue.approve(id, yes()).error().sentence, "Command is already expired");
  const std::string second = queue.submit(request("rm -rf y"))->entry.id;
  ASSERT_TRUE(queue.approve(second, yes()));
  clock_.advance(5min);
  EXPECT_FALSE(queue.redeem(second, sha256("rm -rf y"), me(), "")) << "an approval that nobody redeems expires too";
}

TEST_F(QueueTest, WhatChangedSinceTheVoteIsDriftedForGood) {
  Queue queue = open();
  const std::string id = queue.submit(request("./script.sh"))->entry.id;
  ASSERT_TRUE(queue.approve(id, yes()));
  EXPECT_EQ(queue.redeem(id, sha256("another plan"), me(), "x changed").error().fault, Fault::conflict);
  EXPECT_EQ(queue.find(id)->state, State::drifted);
  EXPECT_FALSE(queue.redeem(id, sha256("./script.sh"), me(), "x changed")) << "changing it back does not help";
}

TEST_F(QueueTest, OneAnswerWins) {
  Queue queue = open();
  const std::string id = queue.submit(request("rm -rf x"))->entry.id;
  ASSERT_TRUE(queue.reject(id, "alice", "no"));
  EXPECT_EQ(queue.approve(id, yes()).error().sentence, "Command is already rejected");
  EXPECT_EQ(queue.find(id)->rejected_by, "alice");
}

TEST_F(QueueTest, AnAgentsRequestNeedsMoreThanAYes) {
  Queue queue = open();
  const std::string id = queue.submit(request("rm -rf x", true))->entry.id;
  EXPECT_EQ(queue.approve(id, yes(Presence::none)).error().fault, Fault::denied);
  EXPECT_EQ(queue.approve(id, yes(Presence::confirmed)).error().fault, Fault::denied);
  Vote inside = yes();
  inside.inside_sandbox = true;
  EXPECT_EQ(queue.approve(id, inside).error().fault, Fault::denied);
  Vote agent = yes();
  agent.from_agent = true;
  EXPECT_EQ(queue.approve(id, agent).error().fault, Fault::denied);
  EXPECT_EQ(queue.find(id)->state, State::pending);
  EXPECT_TRUE(queue.approve(id, yes(Presence::token)));
}

TEST_F(QueueTest, IdsAreMatchedWhole) {
  Queue queue = open();
  const std::string id = queue.submit(request("rm -rf x"))->entry.id;
  for (const std::string& wrong :
       {id.substr(0, id.size() - 1), id + "a", std::string("cmd_"), std::string("%"), std::string()}) {
    EXPECT_EQ(queue.approve(wrong, yes()).error().sentence, "Command not found in queue") << wrong;
  }
}

TEST_F(QueueTest, IdenticalPendingRequestsAreOneEntry) {
  Queue queue = open();
  const auto first = *queue.submit(request("rm -rf x"));
  const auto second = *queue.submit(request("rm -rf x"));
  EXPECT_TRUE(second.merged);
  EXPECT_EQ(first.entry.id, second.entry.id);
  Request other = request("rm -rf x");
  other.asker.session = "another";
  EXPECT_FALSE(queue.submit(other)->merged);
}

TEST_F(QueueTest, AFullQueueRefusesAndSaysWhatToDo) {
  Queue queue = open({.pending = 2});
  ASSERT_TRUE(queue.submit(request("a")));
  ASSERT_TRUE(queue.submit(request("b")));
  EXPECT_NE(queue.submit(request("c")).error().sentence.find("full"), std::string::npos);
  EXPECT_TRUE(queue.submit(request("a"))->merged) << "what waits already is not a new request";
}

TEST_F(QueueTest, ClearNeverRemovesWhatIsStillOpen) {
  Queue queue = open({.expiry = 24h * 365, .approval_expiry = 24h * 365});
  const std::string pending = queue.submit(request("a"))->entry.id;
  const std::string approved = queue.submit(request("b"))->entry.id;
  const std::string rejected = queue.submit(request("c"))->entry.id;
  ASSERT_TRUE(queue.approve(approved, yes()));
  ASSERT_TRUE(queue.reject(rejected, "me", "no"));
  clock_.advance(24h * 30);
  EXPECT_EQ(*queue.clear(24h * 7), 1);
  EXPECT_TRUE(queue.find(pending));
  EXPECT_TRUE(queue.find(approved));
}

TEST_F(QueueTest, AnotherUserCannotRedeem) {
  Queue queue = open();
  const std::string id = queue.submit(request("a"))->entry.id;
  ASSERT_TRUE(queue.approve(id, yes()));
  Asker other = me();
  other.user = "mallory";
  EXPECT_EQ(queue.redeem(id, sha256("a"), other, "x changed").error().fault, Fault::denied);
  EXPECT_TRUE(queue.redeem(id, sha256("a"), me(), "x changed"));
}

TEST_F(QueueTest, OfManyProcessesExactlyOneRedeems) {
  const std::string id = open().submit(request("a"))->entry.id;
  ASSERT_TRUE(open().approve(id, yes()));
  constexpr int processes = 16;
  for (int p = 0; p < processes; ++p) {
    if (::fork() != 0) continue;
    Queue queue = open();
    ::_exit(queue.redeem(id, sha256("a"), me(), "x changed") ? 42 : 0);
  }
  int winners = 0;
  for (int p = 0; p < processes; ++p) {
    int status = 0;
    ::wait(&status);
    winners += WIFEXITED(status) && WEXITSTATUS(status) == 42 ? 1 : 0;
  }
  EXPECT_EQ(winners, 1);
}

TEST_F(QueueTest, AFileThatIsNoQueueIsAnErrorAndNotAnEmptyQueue) {
  {
    auto file = ::fopen((directory_ + "/queue.sqlite").c_str(), "w");
    ::fputs("this is not a database, but long enough to be read as the header of one, if it were one at all; it is not",
            file);
    ::fclose(file);
  }
  const auto queue = Queue::open(directory_, clock_, {});
  ASSERT_FALSE(queue);
  EXPECT_EQ(queue.error().fault, Fault::corrupt);
}

}  // namespace
}  // namespace cordon::approve
