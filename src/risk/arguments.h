// What stands between the brackets of a call.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "risk/code.h"

namespace cordon::risk {

struct Arguments {
  std::size_t begin = 0, end = 0;
  std::vector<std::string> deep;     // literals at any depth
  bool home = false;                 // names the home directory by a call
  bool everyone = false;             // a mode that opens a file to everyone
  bool setid = false;                // … or lets it run with its owner's rights
  std::vector<std::string> strings;  // literals, "" for others; the first level only
  std::vector<bool> literal;
  bool list = false;     // the first argument is a [list]
  bool more = false;     // names among the words that are not in `strings`
  bool unknown = false;  // something in it is not a literal
};

/// `at` is where the arguments begin: on the bracket, or on the first of them where the language needs none.
Arguments arguments_of(std::string_view language, const std::vector<Token>& tokens, std::size_t at);

/// The code with texts that are put together from pieces whole, and names that are given one, or a list of them, once
/// and for all replaced by it where they are handed on.
std::vector<Token> with_constants(std::string_view language, std::vector<Token> tokens);

/// Is the token there that mark or name, and no string that says the same?
bool is_token(const std::vector<Token>& tokens, std::size_t at, std::string_view text);

}  // namespace cordon::risk
