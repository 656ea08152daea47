#include "code/request.h"

#include <gtest/gtest.h>

#include "code/runtime.h"

namespace cordon::code {
namespace {

std::string error_of(CodeRequest request) {
  auto checked = check(request);
  return checked ? "" : checked.error().sentence;
}

TEST(Request, SaysWhatIsMissingInTheWordsThatProgramsKnow) {
  EXPECT_EQ(error_of({.language = "", .code = "x"}), "Language is required and must be a string");
  EXPECT_EQ(error_of({.language = "js", .code = ""}), "Code is required and must be a string");
  EXPECT_EQ(error_of({.language = "Brainfuck", .code = "x"}), "Unsupported language: Brainfuck");
  EXPECT_EQ(error_of({.language = "js", .code = "x", .timeout_ms = 0}), "timeout must be between 1 and 86400000 ms");
}

TEST(Language, IsFoundByNameAndAliasInAnyCase) {
  for (const char* name : {"javascript", "JavaScript", "JS", "js"})
    EXPECT_EQ(language_named(name)->title, "JavaScript");
  for (const char* name : {"bash", "SH", "shell"}) EXPECT_EQ(language_named(name)->title, "Bash");
  EXPECT_EQ(language_named("python2"), nullptr);
}

TEST(Language, NoNameOrAliasIsUsedTwice) {
  std::vector<std::string_view> seen;
  for (const Language& language : languages()) {
    seen.push_back(language.name);
    seen.insert(seen.end(), language.aliases.begin(), language.aliases.end());
  }
  for (std::string_view name : seen) EXPECT_EQ(std::ranges::count(seen, name), 1) << name;
}

TEST(Language, WhatIsNotInstalledIsNamedWithItsPackage) {
  Language language{.name = "x", .title = "X", .command = {"no-such-interpreter", "{}"}, .package = "x-interpreter"};
  EXPECT_NE(missing(language)->sentence.find("Debian package x-interpreter"), std::string::npos);
}

std::string kept(std::string_view text, std::uint64_t limit) {
  KeptStream stream(limit, sandbox::Stream::out, nullptr);
  for (char c : text) stream.add({&c, 1});
  return stream.finish("|cut");
}

TEST(KeptStream, CutsBetweenCharacters) {
  EXPECT_EQ(kept("abc", 3), "abc");
  EXPECT_EQ(kept("abcd", 3), "abc|cut");
  EXPECT_EQ(kept("aéb", 2), "a|cut");
  EXPECT_EQ(kept("aéb", 3), "aé|cut");
  EXPECT_EQ(kept("😀😀", 7), "😀|cut");
  EXPECT_EQ(kept("\xff\xff\xff", 2), "\xff\xff|cut");
  EXPECT_EQ(kept("x", 0), "|cut");
}

TEST(KeptStream, DropsOneNewlineAtTheEnd) {
  EXPECT_EQ(kept("a\n", 10), "a");
  EXPECT_EQ(kept("a\n\n", 10), "a\n");
}

CodeResult concluded(const char* language, Reply reply, Outcome outcome, const std::string& errors = "") {
  CodeRequest request{.language = language, .code = "x", .timeout_ms = 250};
  KeptStream out(100, sandbox::Stream::out, nullptr);
  KeptStream err(1000, sandbox::Stream::err, nullptr);
  err.add(errors);
  RunReport report;
  report.outcome = std::move(outcome);
  return conclude({*language_named(language), request, reply, out, err, 1000}, report);
}

Reply answered(int status) {
  Reply reply;
  reply.status = status;
  reply.done = true;
  return reply;
}

TEST(Conclusion, NeverCallsARunGoodThatWasStopped) {
  for (Why why : {Why::timeout, Why::memory, Why::pids, Why::disk, Why::output, Why::signal, Why::policy}) {
    const CodeResult result = concluded("python", answered(0), Killed{9, why, "stopped"});
    EXPECT_FALSE(result.success);
    EXPECT_EQ(result.killed_by, why);
    EXPECT_TRUE(result.error);
  }
  EXPECT_FALSE(concluded("js", Reply{}, Exited{0}).success);
  EXPECT_FALSE(concluded("js", answered(0), Broken{{Fault::internal, "no"}}).success);
}

TEST(Conclusion, ATimeoutIsToldInTheWordsThatProgramsKnow) {
  Reply late = answered(1);
  late.ended.emplace_back("timeout");
  for (const CodeResult& result :
       {concluded("js", late, Exited{0}), concluded("bash", Reply{}, Killed{9, Why::timeout, ""})}) {
    EXPECT_EQ(result.error, "Execution timeout after 250ms");
    EXPECT_EQ(result.exit_code, -1);
  }
}

TEST(Conclusion, FindsTheErrorAndItsLine) {
  const CodeResult python = concluded("python", answered(1), Exited{0},
                                      "Traceback (most recent call last):\n  File \"main.py\", line 7, in <module>\n  "
                                      "File \"main.py\", line 3, in f\nValueError: no\n");
  EXPECT_EQ(python.error, "ValueError: no");
  EXPECT_EQ(python.error_line, 3u);
  const CodeResult c =
      concluded("c", answered(1), Exited{0}, "/tmp/code/main.c: In function 'f':\n/tmp/code/main.c:12:3: error: x\n");
  EXPECT_EQ(c.error, "/tmp/code/main.c:12:3: error: x");
  EXPECT_EQ(c.error_line, 12u);
  EXPECT_EQ(concluded("bash", answered(5), Exited{0}).error, "Process exited with code 5");
}

}  // namespace
}  // namespace cordon::code
