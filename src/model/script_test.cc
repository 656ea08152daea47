#include "model/script.h"

#include <gtest/gtest.h>

namespace cordon {
namespace {

TEST(Word, IsKnownOnlyWithoutGlobsAndUnknowns) {
  Word word = Word::literal("/tmp/");
  EXPECT_TRUE(word.known());
  word.pieces.push_back(Piece{.kind = Piece::Kind::glob, .text = "*"});
  EXPECT_FALSE(word.known());
  EXPECT_EQ(word.text(), "/tmp/*");
  EXPECT_EQ(word.prefix(), "/tmp/");
}

TEST(Script, OneKnownProgramCallIsAPlainCall) {
  Script script;
  script.commands.push_back(Command{.words = {Word::literal("ls"), Word::literal("-l")}});
  EXPECT_TRUE(script.is_plain_call());
  script.commands.front().kind = Command::Kind::builtin;
  EXPECT_FALSE(script.is_plain_call());
}

}  // namespace
}  // namespace cordon
