#include "serve/mcp/conversation.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <mutex>

#include "guard/testing.h"

namespace cordon::serve::mcp {
namespace {

/// Keeps what is sent, and hands it out in order.
class Kept : public Outlet {
 public:
  void send(const Json& message) override {
    const std::lock_guard lock(mutex_);
    messages_.push_back(parse_json(to_line(message)));
    changed_.notify_all();
  }
  Json next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !messages_.empty(); });
    Json message = std::move(messages_.front());
    messages_.pop_front();
    return message;
  }
  bool empty() {
    const std::lock_guard lock(mutex_);
    return messages_.empty();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Json> messages_;
};

/// Runs until it is stopped.
class EndlessSandbox : public sandbox::Sandbox {
 public:
  RunReport run(Clearance, sandbox::Io&, std::stop_token stop) override {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    ++running;
    running.notify_all();
    std::condition_variable_any().wait(lock, stop, [] { return false; });
    ++stopped;
    stopped.notify_all();
    return {.outcome = Killed{.signal = 9, .why = Why::signal, .sentence = "stopped"}};
  }
  static void wait_for(const std::atomic<int>& number, int wanted) {
    for (int seen = number; seen < wanted; seen = number) number.wait(seen);
  }
  std::atomic<int> running = 0;
  std::atomic<int> stopped = 0;
};

class ConversationTest : public ::testing::Test {
 protected:
  Premises premises(std::shared_ptr<sandbox::Sandbox> sandbox) const {
    return Premises({.sources = room_.sources(), .cwd = room_.workspace(), .sandbox = std::move(sandbox)}, clock_);
  }
  static ConversationOptions options(Bounds bounds = {}) {
    ConversationOptions made{.version = "1", .bounds = bounds};
    made.caller.principal = {.user = "me", .uid = ::geteuid(), .agent = "tester", .surface = "mcp", .is_agent = true};
    return made;
  }
  static std::string request(int id, const std::string& method, Json params) {
    params["_meta"] = {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                       {"io.modelcontextprotocol/clientCapabilities", Json::object()}};
    return Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}}.dump();
  }
  static std::string exec(int id, const std::string& command) {
    return request(id, "tools/call", {{"name", "sandbox_exec"}, {"arguments", {{"command", command}}}});
  }

  config::Room room_;
  SystemClock clock_;
  RequestStates states_{"key", clock_};
  Kept outlet_;
};

TEST_F(ConversationTest, AnswersACallWithTheExecObject) {
  const auto sandbox = std::make_shared<guard::CountingSandbox>();
  const Premises place = premises(sandbox);
  Conversation conversation(place, states_, outlet_, options());
  conversation.receive(exec(1, "echo hi"));
  const Json answer = outlet_.next();
  EXPECT_EQ(answer["id"], 1);
  EXPECT_EQ(answer["result"]["resultType"], "complete");
  EXPECT_EQ(answer["result"]["structuredContent"]["stdout"], "done\n");
  EXPECT_EQ(sandbox->runs, 1);
}

TEST_F(ConversationTest, ManyCallsAtOnceAreAllAnswered) {
  const auto sandbox = std::make_shared<guard::CountingSandbox>();
  const Premises place = premises(sandbox);
  Conversation conversation(place, states_, outlet_, options({.calls = 8}));
  std::set<int> answered;
  for (int id = 1; id <= 8; ++id) conversation.receive(exec(id, "echo hi"));
  for (int id = 1; id <= 8; ++id) answered.insert(outlet_.next()["id"].get<int>());
  EXPECT_EQ(answered.size(), 8U);
}

TEST_F(ConversationTest, CancellingStopsTheRunAndSaysNothing) {
  const auto sandbox = std::make_shared<EndlessSandbox>();
  const Premises place = premises(sandbox);
  Conversation conversation(place, states_, outlet_, options());
  conversation.receive(exec(1, "echo hi"));
  EndlessSandbox::wait_for(sandbox->running, 1);
  conversation.receive(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  EndlessSandbox::wait_for(sandbox->stopped, 1);
  conversation.end();
  EXPECT_TRUE(outlet_.empty());
}

TEST_F(ConversationTest, ItsEndIsTheEndOfEveryCall) {
  const auto sandbox = std::make_shared<EndlessSandbox>();
  const Premises place = premises(sandbox);
  {
    Conversation conversation(place, states_, outlet_, options());
    for (int id = 1; id <= 4; ++id) conversation.receive(exec(id, "echo hi"));
    EndlessSandbox::wait_for(sandbox->running, 4);
  }
  EXPECT_EQ(sandbox->stopped, 4);
}

TEST_F(ConversationTest, AnAnswerOfTheClientThatNobodyWaitsForIsNothing) {
  const Premises place = premises(std::make_shared<guard::CountingSandbox>());
  Conversation conversation(place, states_, outlet_, options());
  conversation.receive(R"({"jsonrpc":"2.0","id":"cordon-1","result":{"action":"accept"}})");
  EXPECT_TRUE(outlet_.empty());
}

TEST_F(ConversationTest, SettingsThatCannotBeReadAreToldAndNothingRuns) {
  const auto sandbox = std::make_shared<guard::CountingSandbox>();
  room_.write("SANDBOX.md", "# S\n## Security Level\nLevel: fll\n");
  const Premises place = premises(sandbox);
  Conversation conversation(place, states_, outlet_, options());
  conversation.receive(exec(1, "echo hi"));
  const Json answer = outlet_.next();
  EXPECT_TRUE(answer["result"]["isError"].get<bool>());
  EXPECT_NE(answer["result"]["content"][0]["text"].get<std::string>().find("SANDBOX.md:3"), std::string::npos);
  EXPECT_EQ(sandbox->runs, 0);
}

}  // namespace
}  // namespace cordon::serve::mcp
