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

Script one_call(std::string text, std::initializer_list<const char*> words, Span where) {
  Script script;
  script.text = std::move(text);
  script.commands.push_back(Command{.where = where});
  for (const char* word : words) script.commands.front().words.push_back(Word::literal(word));
  return script;
}

TEST(Script, OneKnownProgramCallIsAPlainCall) {
  Script script = one_call(" ls -l;\n", {"ls", "-l"}, {1, 6});
  EXPECT_TRUE(script.is_plain_call());
  script.commands.front().kind = Command::Kind::builtin;
  EXPECT_FALSE(script.is_plain_call());
}

TEST(Script, ACallWithAnythingAroundItIsNotPlain) {
  EXPECT_FALSE(one_call("! ls", {"ls"}, {2, 4}).is_plain_call());
  EXPECT_FALSE(one_call("time ls", {"ls"}, {5, 7}).is_plain_call());
  EXPECT_FALSE(one_call("ls &", {"ls"}, {0, 2}).is_plain_call());
}

TEST(Script, ABuiltinIsPlainWhereAProgramDoesTheSame) {
  auto builtin = [](std::initializer_list<const char*> words) {
    Script script = one_call("text", words, {0, 4});
    script.commands.front().kind = Command::Kind::builtin;
    return script.is_plain_call();
  };
  EXPECT_TRUE(builtin({"true"}));
  EXPECT_FALSE(builtin({"true", "--help"}));
  EXPECT_TRUE(builtin({"echo", "a\\n", "b"}));
  EXPECT_FALSE(builtin({"echo", "-e", "a"}));
  EXPECT_FALSE(builtin({"cd", "/"}));
}

}  // namespace
}  // namespace cordon
