#include "serve/socket/message.h"

#include <gtest/gtest.h>

namespace cordon::serve::socket {
namespace {

config::Sources world() {
  return {
      .workspace = "/w", .home = "/home/me", .user_file = "/home/me/.config/c", .extra_files = {}, .state_dir = "/s"};
}

Question question() {
  Question made{.verb = Verb::run, .approval = "cmd_1", .wait_ms = 5, .person_is_there = true};
  made.request.text = "text";
  made.request.cwd = "/w";
  made.request.workspace = "/w";
  made.request.asker = {.user = "me", .uid = 7, .agent = "robot", .session = "s", .is_agent = true};
  made.request.snippet = Snippet{.language = "python",
                                 .code = "print('\xff')",
                                 .arguments = {"a", "\xfe"},
                                 .files = {{"name", std::string("\0\1", 2)}},
                                 .output_bytes = 9,
                                 .session = "live",
                                 .fork_of = "other",
                                 .step = 3,
                                 .access = WorkspaceAccess::ro};
  made.passed = {Passed::cwd, Passed::output};
  return made;
}

TEST(Message, ComesBackAsItWas) {
  const Json body = encode(question(), world());
  EXPECT_EQ(stranger(body, world()), "");
  const auto read = decode(body);
  ASSERT_TRUE(read) << read.error().sentence;
  EXPECT_EQ(read->verb, Verb::run);
  EXPECT_EQ(read->approval, "cmd_1");
  EXPECT_EQ(read->wait_ms, 5U);
  EXPECT_TRUE(read->person_is_there);
  EXPECT_EQ(read->passed, (std::vector{Passed::cwd, Passed::output}));
  EXPECT_EQ(read->request.asker.agent, "robot");
  const Snippet sent = *question().request.snippet;
  const Snippet& got = *read->request.snippet;
  EXPECT_EQ(got.code, sent.code);
  EXPECT_EQ(got.arguments, sent.arguments);
  EXPECT_EQ(got.files, sent.files);
  EXPECT_EQ(got.output_bytes, 9U);
  EXPECT_EQ(got.session, "live");
  EXPECT_EQ(got.fork_of, "other");
  EXPECT_EQ(got.step, 3U);
  EXPECT_EQ(got.access, WorkspaceAccess::ro);
}

TEST(Message, OfAnotherWorldOrVersionIsAStrangers) {
  const Json body = encode(question(), world());
  config::Sources other = world();
  other.home = "/home/you";
  EXPECT_NE(stranger(body, other), "");
  Json old = body;
  old["version"] = "0.0.1";
  EXPECT_NE(stranger(old, world()), "");
  old = body;
  old["protocol"] = 2;
  EXPECT_NE(stranger(old, world()), "");
  EXPECT_NE(stranger(Json::object(), world()), "");
}

TEST(Message, HasNoPlaceForAVerdictOrAPlan) {
  Json body = encode(question(), world());
  body["verdict"] = "allow";
  body["plan"] = {{"digest", "00"}};
  body["request"]["clean_room"] = true;
  const auto read = decode(body);
  ASSERT_TRUE(read);
  EXPECT_EQ(encode(*read, world()).contains("verdict"), false);
  EXPECT_EQ(encode(*read, world()).contains("plan"), false);
}

TEST(Message, WrongKindsAreErrors) {
  const Json good = {{"protocol", 1}, {"verb", "run"}, {"cwd", "/"}, {"snippet", {{"language", "js"}, {"code", "1"}}}};
  ASSERT_TRUE(decode(good));
  for (const auto& [key, value] : std::vector<std::pair<std::string, Json>>{{"verb", "approve"},
                                                                            {"verb", 5},
                                                                            {"snippet", "x"},
                                                                            {"timeout", -1},
                                                                            {"timeout", "5"},
                                                                            {"wait", 1.5},
                                                                            {"input", 5},
                                                                            {"person", "yes"},
                                                                            {"descriptors", "cwd"},
                                                                            {"descriptors", {"root"}},
                                                                            {"cwd", "/nowhere/at/all"},
                                                                            {"request", Json::object()}}) {
    Json body = good;
    body[key] = value;
    EXPECT_FALSE(decode(body)) << key << " " << value;
  }
}

}  // namespace
}  // namespace cordon::serve::socket
