#include "base/json5.h"
#include "base/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace cordon::json5 {
namespace {

Result<Document> read_text(std::string_view text) { return read(text, "f", {.bytes = 1 << 20}); }

std::string json_of(std::string_view text) {
  const auto document = read_text(text);
  return document ? to_json(document->root).dump() : "refused: " + document.error().sentence;
}

struct Case {
  std::string_view text;
  std::string_view expected;
};

TEST(Json5, ReadsEverythingThatTheStandardAdds) {
  const Case cases[] = {
      {"{a: 1, 'b': 2, \"c\": 3,}", R"({"a":1,"b":2,"c":3})"},
      {"[1, 2,]", "[1,2]"},
      {"0x1F", "31"},
      {"-0xA", "-10"},
      {"+.5", "0.5"},
      {"5.", "5"},
      {"1e3", "1000"},
      {"'it\\'s'", "\"it's\""},
      {"'a\\\nb'", "\"ab\""},
      {"'a\\\r\nb'", "\"ab\""},
      {"'\\x41\\u0042\\0'", "\"AB\\u0000\""},
      {"'\\uD83D\\uDE00'", "\"😀\""},
      {"'\\q\\é'", "\"qé\""},
      {"// c\n/* d */ null // e", "null"},
      {"\xEF\xBB\xBF{}", "{}"},
      {"\xC2\xA0\xE2\x80\xA8true", "true"},
      {"{$_a\\u0031: 1, ünï: 2}", R"({"$_a1":1,"ünï":2})"},
      {"{__proto__: 1}", R"({"__proto__":1})"},
      {"{null: 1, true: 2, Infinity: 3}", R"({"null":1,"true":2,"Infinity":3})"},
      {"Infinity", "null"},
      {"9007199254740993", "9.007199254740992e+15"},
  };
  for (const Case& one : cases) EXPECT_EQ(json_of(one.text), one.expected) << one.text;
}

TEST(Json5, RefusesWithThePlaceAndWhatWasExpected) {
  const Case cases[] = {
      {"", "refused: f:1:1: expected a value, found the end of the file"},
      {"{a: 1\n b: 2}", "refused: f:2:2: expected ',' or '}', found 'b'"},
      {"{a 1}", "refused: f:1:4: expected ':', found '1'"},
      {"[1,,2]", "refused: f:1:4: expected a value, found ','"},
      {"01", "refused: f:1:2: expected a number without leading zero, found '1'"},
      {"0x", "refused: f:1:3: expected a hexadecimal digit, found the end of the file"},
      {".", "refused: f:1:2: expected a digit, found the end of the file"},
      {"'a\nb'", "refused: f:1:1: string is not closed by ''' on its line"},
      {"'\\1'", "refused: f:1:3: expected an escape (octal ones do not exist), found '1'"},
      {"'\\uD800'", "refused: f:1:8: a \\u escape is half of a surrogate pair, which is no character"},
      {"{} x", "refused: f:1:4: expected the end of the file, found 'x'"},
      {"/* a\n", "refused: f:1:1: comment is not closed by '*/'"},
      {"{a: \xFF}", "refused: f:1:5: not valid UTF-8 (byte 0xFF)"},
      {"\r\n\r\n  é\x01", "refused: f:3:3: expected a value, found U+00E9"},
      {"undefined", "refused: f:1:1: expected a value, found 'u'"},
  };
  for (const Case& one : cases) EXPECT_EQ(json_of(one.text), one.expected) << one.text;
}

TEST(Json5, KeepsLineAndColumnOfEveryValueAndKey) {
  for (const std::string_view end : {"\n", "\r\n", "\r"}) {
    const std::string text = fmt::format("{{{0}  a: 1,{0}  'é': [true,{0}    null]}}", end);
    const auto document = read_text(text);
    ASSERT_TRUE(document);
    const Value& root = document->root;
    EXPECT_EQ(root.where, (Place{1, 1}));
    EXPECT_EQ(root.members[0].where, (Place{2, 3}));
    EXPECT_EQ(root.members[0].value.where, (Place{2, 6}));
    EXPECT_EQ(root.members[1].value.where, (Place{3, 8}));
    EXPECT_EQ(root.members[1].value.items[1].where, (Place{4, 5}));
  }
}

TEST(Json5, AByteOrderMarkMovesNoColumn) { EXPECT_EQ(read_text("\xEF\xBB\xBFnull")->root.where, (Place{1, 1})); }

TEST(Json5, ALaterKeyWinsAndIsReported) {
  const auto document = read_text("{a: 1, b: 2,\n a: 3}");
  ASSERT_TRUE(document);
  EXPECT_EQ(to_json(document->root).dump(), R"({"a":3,"b":2})");
  ASSERT_EQ(document->repeated.size(), 1U);
  EXPECT_EQ(document->repeated[0].first, (Place{1, 2}));
  EXPECT_EQ(document->repeated[0].again, (Place{2, 2}));
}

TEST(Json5, ReadsTheNumbersThatJsonCannotSay) {
  EXPECT_TRUE(std::isinf(read_text("-Infinity")->root.number));
  EXPECT_TRUE(std::isnan(read_text("+NaN")->root.number));
  EXPECT_TRUE(std::signbit(read_text("-0")->root.number));
  EXPECT_TRUE(std::isinf(read_text("1e999")->root.number));
  EXPECT_EQ(read_text("1e-999")->root.number, 0);
}

TEST(Json5, StopsAtItsDepthWithoutUsingUpTheStack) {
  EXPECT_TRUE(read_text(std::string(256, '[') + std::string(256, ']')));
  EXPECT_EQ(json_of(std::string(257, '[')), "refused: f:1:257: nested deeper than 256 levels");
  std::string objects;
  for (int level = 0; level < 100'000; ++level) objects += "{a:";
  EXPECT_EQ(json_of(objects), "refused: f:1:769: nested deeper than 256 levels");
}

TEST(Json5, RefusesMoreBytesThanTheCallerAllows) {
  const auto document = read("[1, 2]", "f", {.bytes = 5});
  ASSERT_FALSE(document);
  EXPECT_EQ(document.error().sentence, "f: 6 bytes are more than the 5 allowed");
}

TEST(Json5, ManyKeysCostNoMoreThanTheirNumber) {
  std::string text = "{";
  for (int key = 0; key < 50'000; ++key) text += fmt::format("k{}:1,", key);
  EXPECT_EQ(read(text + "}", "f", {.bytes = 10 << 20})->root.members.size(), 50'000U);
}

}  // namespace
}  // namespace cordon::json5
