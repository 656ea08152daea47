#include "serve/mcp/request_state.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace cordon::serve::mcp {
namespace {

class RequestStateTest : public ::testing::Test {
 protected:
  static Caller caller(const std::string& agent) { return {.principal = {.user = "me", .uid = 7, .agent = agent}}; }
  static Digest call(const std::string& agent, const std::string& command) {
    return digest_of_call(caller(agent), "tools/call", "sandbox_exec", {{"command", command}});
  }
  std::string issue() {
    return states_.issue({{"approval", "cmd_0123456789"}}, call("a", "rm x"), std::chrono::minutes(5)).value();
  }

  ManualClock clock_{Time{std::chrono::hours(24)}};
  RequestStates states_{"key", clock_};
};

TEST_F(RequestStateTest, ComesBackOnceForTheSameCall) {
  const std::string state = issue();
  const auto taken = states_.take(state, call("a", "rm x"));
  ASSERT_TRUE(taken) << taken.error().sentence;
  EXPECT_EQ((*taken)["approval"], "cmd_0123456789");
  EXPECT_FALSE(states_.take(state, call("a", "rm x")));
}

TEST_F(RequestStateTest, BelongsToOnePrincipalAndOneCall) {
  const std::string state = issue();
  EXPECT_FALSE(states_.take(state, call("b", "rm x")));
  EXPECT_FALSE(states_.take(state, call("a", "rm y")));
  Caller approver = caller("a");
  approver.role = Role::approver;
  EXPECT_FALSE(states_.take(state, digest_of_call(approver, "tools/call", "sandbox_exec", {{"command", "rm x"}})));
  EXPECT_TRUE(states_.take(state, call("a", "rm x"))) << "a wrong try does not spend it";
}

TEST_F(RequestStateTest, Expires) {
  const std::string state = issue();
  clock_.advance(std::chrono::minutes(5));
  EXPECT_FALSE(states_.take(state, call("a", "rm x")));
}

TEST_F(RequestStateTest, OfAnotherProcessIsNoneOfOurs) {
  RequestStates other("other key", clock_);
  EXPECT_FALSE(other.take(issue(), call("a", "rm x")));
}

TEST_F(RequestStateTest, EveryChangedByteIsSeen) {
  const std::string state = issue();
  for (std::size_t at = 0; at < state.size(); ++at) {
    std::string forged = state;
    forged[at] = forged[at] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(states_.take(forged, call("a", "rm x"))) << at;
    EXPECT_FALSE(states_.take(state.substr(0, at), call("a", "rm x"))) << at;
  }
}

}  // namespace
}  // namespace cordon::serve::mcp
