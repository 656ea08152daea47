#include "sys/capture.h"

#include <gtest/gtest.h>

namespace cordon::sys {
namespace {

Question shell(std::string text) {
  Question made;
  made.argv = {"/bin/sh", "-c", std::move(text)};
  made.environment = {"A=b"};
  return made;
}

TEST(Capture, GivesWhatTheProgramWroteAndNothingOfOurEnvironment) {
  EXPECT_EQ(capture(shell("echo $A$HOME; pwd; cat; echo lost >&2")), "b\n/\n");
}

TEST(Capture, AFailureIsAnError) {
  EXPECT_FALSE(capture(shell("echo x; exit 3")));
  Question missing = shell("");
  missing.argv = {"/nonexistent"};
  EXPECT_FALSE(capture(missing));
}

TEST(Capture, WhatNeverEndsIsKilled) {
  Question slow = shell("while :; do :; done");
  slow.patience = std::chrono::milliseconds(50);
  EXPECT_FALSE(capture(slow));
}

TEST(Capture, AnEndlessAnswerIsAnErrorNotAnEndlessString) {
  Question endless = shell("while :; do echo xxxxxxxxxxxxxxxxxxxxxxxx; done");
  endless.limit = 10'000;
  EXPECT_FALSE(capture(endless));
}

}  // namespace
}  // namespace cordon::sys
