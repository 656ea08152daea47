#include <gtest/gtest.h>

#include "risk/code.h"

namespace cordon::risk {
namespace {

std::string shown(std::string_view language, std::string_view text) {
  std::string all;
  for (const Token& token : lex(language, text)) {
    const char* kind = token.kind == Token::Kind::name     ? "N"
                       : token.kind == Token::Kind::string ? "S"
                       : token.kind == Token::Kind::shell  ? "$"
                                                           : "";
    all += (all.empty() ? "" : " ") + std::string(kind) + (token.kind == Token::Kind::line_end ? "/" : token.text);
  }
  return all;
}

TEST(Lex, NamesKeepTheirDots) {
  EXPECT_EQ(shown("python", "os.path.join('a')"), "Nos.path.join ( Sa )");
  EXPECT_EQ(shown("ruby", "FileUtils::rm_rf('x')"), "NFileUtils.rm_rf ( Sx )");
}

TEST(Lex, PunctuationVariablesOfPerlBeginNothing) {
  EXPECT_EQ(shown("perl", "local $/; system('x') / 2"), "Nlocal N$_ ; Nsystem ( Sx ) / 2");
  EXPECT_EQ(shown("perl", "print $#a; exec('x')"), "Nprint N$_ Na ; Nexec ( Sx )");
}

TEST(Lex, ASymbolThatLispQuotesIsNoString) {
  EXPECT_EQ(shown("generic", "(require 'asdf) (run \"x\")"), "( Nrequire Nasdf ) ( Nrun Sx )");
  EXPECT_EQ(shown("generic", "shell('rm -rf x')"), "Nshell ( Srm -rf x )");
}

TEST(Lex, CommentsAreDropped) {
  EXPECT_EQ(shown("python", "x # os.system('rm')"), "Nx");
  EXPECT_EQ(shown("javascript", "x // eval()\n/* y */z"), "Nx / Nz");
  EXPECT_EQ(shown("lua", "x -- os.execute()"), "Nx");
}

TEST(Lex, StringsOfEveryKind) {
  EXPECT_EQ(shown("python", "'''a'b'''"), "Sa'b");
  EXPECT_EQ(shown("python", "'\\x72m'"), "Srm");
  EXPECT_EQ(shown("ruby", "%x{rm -rf x}"), "$rm -rf x");
  EXPECT_EQ(shown("perl", "`id`"), "$id");
  EXPECT_EQ(shown("perl", "qx(id)"), "$id");
  EXPECT_EQ(shown("javascript", "`id`"), "Sid");
}

TEST(Lex, AQuoteInAPatternOpensNoString) {
  EXPECT_EQ(shown("javascript", "x.match(/'/); eval(y)"), "Nx.match ( S ) ; Neval ( Ny )");
  EXPECT_EQ(shown("perl", "s/'/x/; system($y)"), "S ; Nsystem ( N$y )");
}

TEST(Lex, UnfinishedTextEndsWithTheText) {
  for (const char* text :
       {"'abc", "`", "/x", "%x{a", "\"\\", "/*", "q{", "s/a/b", "s{a", "s{a}", "tr{a} ", "qx", "%w"}) {
    for (const char* language : {"python", "javascript", "perl", "ruby", "php", "lua", "awk"}) lex(language, text);
  }
}

}  // namespace
}  // namespace cordon::risk
