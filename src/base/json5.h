// Reads JSON5 1.0 into a tree in which every value and key knows its line and column.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"

namespace cordon::json5 {

/// Counted from 1, columns in characters. CR, LF and CR LF each end a line.
struct Place {
  int line = 1;
  int column = 1;
  bool operator==(const Place&) const = default;
};

struct Member;

struct Value {
  enum class Kind { null, boolean, number, string, array, object };
  Kind kind = Kind::null;
  Place where;
  bool boolean = false;
  double number = 0;
  std::string string;           // UTF-8
  std::vector<Value> items;     // of an array
  std::vector<Member> members;  // of an object, in the order of their first appearance; keys are unique

  const Value* find(std::string_view key) const;
};
const char* name_of(Value::Kind kind);

struct Member {
  std::string key;
  Place where;  // of the key
  Value value;
};

/// A key that stands more than once in one object. The later value won, as in npm json5; config refuses it.
struct Repeated {
  std::string key;
  Place first;
  Place again;
};

struct Document {
  Value root;
  std::vector<Repeated> repeated;
};

struct Limits {
  std::size_t bytes;
  int depth = 256;  // arrays and objects inside each other; the reader calls itself once per level
};

/// `name` begins every error: "config.json5:3:7: expected ',' or '}'".
/// Stricter than the standard in two things: text that is not UTF-8 (also an escaped lone surrogate) and more than
/// `limits` are refused.
Result<Document> read(std::string_view text, std::string_view name, const Limits& limits);

/// Infinity and NaN, which JSON cannot say, become null.
Json to_json(const Value& value);

}  // namespace cordon::json5
