#include "serve/mcp/conversation.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <mutex>

#include "guard/testing.h"
#include "serve/mcp/own_tools.h"

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

  /// Cordon's tools for the caller of `options`.
  static OwnTools tools(const Premises& place) { return {place, options().caller}; }

  config::Room room_;
  SystemClock clock_;
  RequestStates states_{"key", clock_};
  Kept outlet_;
};

TEST_F(ConversationTest, AnswersACallWithTheExecObject) {
  const auto sandbox = std::make_shared<guard::CountingSandbox>();
  const Premises place = premises(sandbox);
  OwnTools own = tools(place);
  Conversation conversation(own, states_, outlet_, options());
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
  OwnTools own = tools(place);
  Conversation conversation(own, states_, outlet_, options({.calls = 8}));
  std::set<int> answered;
  for (int id = 1; id <= 8; ++id) conversation.receive(exec(id, "echo hi"));
  for (int id = 1; id <= 8; ++id) answered.insert(outlet_.next()["id"].get<int>());
  EXPECT_EQ(answered.size(), 8U);
}

TEST_F(ConversationTest, CancellingStopsTheRunAndSaysNothing) {
  const auto sandbox = std::make_shared<EndlessSandbox>();
  const Premises place = premises(sandbox);
  OwnTools own = tools(place);
  Conversation conversation(own, states_, outlet_, options());
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
    OwnTools own = tools(place);
    Conversation conversation(own, states_, outlet_, options());
    for (int id = 1; id <= 4; ++id) conversation.receive(exec(id, "echo hi"));
    EndlessSandbox::wait_for(sandbox->running, 4);
  }
  EXPECT_EQ(sandbox->stopped, 4);
}

TEST_F(ConversationTest, AnAnswerOfTheClientThatNobodyWaitsForIsNothing) {
  const Premises place = premises(std::make_shared<guard::CountingSandbox>());
  OwnTools own = tools(place);
  Conversation conversation(own, states_, outlet_, options());
  conversation.receive(R"({"jsonrpc":"2.0","id":"cordon-1","result":{"action":"accept"}})");
  EXPECT_TRUE(outlet_.empty());
}

TEST_F(ConversationTest, SettingsThatCannotBeReadAreToldAndNothingRuns) {
  const auto sandbox = std::make_shared<guard::CountingSandbox>();
  room_.write("SANDBOX.md", "# S\n## Security Level\nLevel: fll\n");
  const Premises place = premises(sandbox);
  OwnTools own = tools(place);
  Conversation conversation(own, states_, outlet_, options());
  conversation.receive(exec(1, "echo hi"));
  const Json answer = outlet_.next();
  EXPECT_TRUE(answer["result"]["isError"].get<bool>());
  EXPECT_NE(answer["result"]["content"][0]["text"].get<std::string>().find("SANDBOX.md:3"), std::string::npos);
  EXPECT_EQ(sandbox->runs, 0);
}

/// One tool, `greet`, that asks for two things and then greets.
class AskingTools : public Toolset {
 public:
  Result<Json> list() override { return Json::array(); }
  Result<std::optional<Round>> call(const ToolCall& call) override {
    if (call.name != "greet") return std::nullopt;
    const std::lock_guard lock(mutex);
    rounds.push_back(call);
    if (!call.state.is_null() && call.replies.contains("name"))
      return Round{.result = {{"said", call.replies["name"]}}};
    return Round{.questions = {{.key = "name", .method = "elicitation/create", .params = {{"message", "Who?"}}},
                               {.key = "word", .method = "sampling/createMessage", .params = {{"maxTokens", 1}}}},
                 .state = {{"asked", rounds.size()}},
                 .lasts = std::chrono::minutes(1)};
  }
  std::mutex mutex;
  std::vector<ToolCall> rounds;
};

class QuestionTest : public ConversationTest {
 protected:
  static std::string greet(int id, const Json& capabilities, Json more = Json::object()) {
    more["name"] = "greet";
    more["_meta"] = {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                     {"io.modelcontextprotocol/clientCapabilities", capabilities}};
    return Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", "tools/call"}, {"params", std::move(more)}}.dump();
  }
  Json ask(const std::string& message) {
    conversation_.receive(message);
    return outlet_.next();
  }

  const Json able_ = {{"elicitation", Json::object()}, {"sampling", Json::object()}};
  AskingTools asking_;
  Conversation conversation_{asking_, states_, outlet_, options()};
};

TEST_F(QuestionTest, TravelTogetherAndTheAnswersComeWithTheState) {
  const Json asked = ask(greet(1, able_))["result"];
  EXPECT_EQ(asked["resultType"], "input_required");
  EXPECT_EQ(asked["inputRequests"]["name"]["method"], "elicitation/create");
  EXPECT_EQ(asked["inputRequests"]["word"]["params"]["maxTokens"], 1);
  const Json done = ask(greet(2, able_,
                              {{"requestState", asked["requestState"]},
                               {"inputResponses", {{"name", {{"action", "accept"}}}, {"other", Json::object()}}}}));
  EXPECT_EQ(done["result"]["resultType"], "complete");
  EXPECT_EQ(done["result"]["said"]["action"], "accept");
  EXPECT_EQ(asking_.rounds.back().state["asked"], 1);
}

TEST_F(QuestionTest, AreNotPutToAClientThatCannotAnswerAllOfThem) {
  const Json error = ask(greet(1, {{"elicitation", Json::object()}}))["error"];
  EXPECT_EQ(error["code"], code::missing_capability);
  EXPECT_TRUE(error["data"]["requiredCapabilities"]["sampling"].is_object());
}

TEST_F(QuestionTest, AStateThatIsNotOursIsAnErrorAndNothingIsCalled) {
  const Json asked = ask(greet(1, able_))["result"];
  const std::string state = asked["requestState"].get<std::string>();
  for (const std::string& wrong : {state + "x", std::string("x"), std::string()}) {
    const Json refused = ask(greet(2, able_, {{"requestState", wrong}}));
    EXPECT_EQ(refused["error"]["code"], code::invalid_params) << wrong;
  }
  EXPECT_EQ(asking_.rounds.size(), 1U);
}

TEST_F(QuestionTest, AnswersMustBeObjects) {
  for (const Json& wrong : {Json(nullptr), Json(1), Json{{"name", 12345}}}) {
    EXPECT_EQ(ask(greet(1, able_, {{"inputResponses", wrong}}))["error"]["code"], code::invalid_params) << wrong;
  }
  EXPECT_TRUE(asking_.rounds.empty());
}

TEST_F(QuestionTest, OfTheOlderEraAreRequestsOneAfterTheOther) {
  const Json hello = {{"protocolVersion", "2025-11-25"}, {"capabilities", able_}};
  ask(Json{{"jsonrpc", "2.0"}, {"id", 0}, {"method", "initialize"}, {"params", hello}}.dump());
  const Json first =
      ask(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","inputResponses":{"name":{}}}})");
  EXPECT_EQ(first["method"], "elicitation/create");
  const auto answer = [](const Json& id) {
    return Json{{"jsonrpc", "2.0"}, {"id", id}, {"result", {{"action", "accept"}}}}.dump();
  };
  const Json second = ask(answer(first["id"]));
  EXPECT_EQ(second["method"], "sampling/createMessage");
  const Json done = ask(answer(second["id"]));
  EXPECT_EQ(done["id"], 1);
  EXPECT_EQ(done["result"]["said"]["action"], "accept");
}

TEST_F(QuestionTest, NobodyIsAskedAgainAfterTheEnd) {
  const Json hello = {{"protocolVersion", "2025-11-25"}, {"capabilities", able_}};
  ask(Json{{"jsonrpc", "2.0"}, {"id", 0}, {"method", "initialize"}, {"params", hello}}.dump());
  ask(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet"}})");
  conversation_.end();
  EXPECT_LE(asking_.rounds.size(), 2U);
}

}  // namespace
}  // namespace cordon::serve::mcp
