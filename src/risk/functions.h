// What a name stands for in inline code where it is one of few things that the code states.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "risk/code.h"

namespace cordon::risk {

struct Function {
  std::string name;
  std::vector<std::string> parameters;
  std::size_t begin, end;  // of its body
};

/// The functions of Python and JavaScript code; others are not told apart.
class Functions {
 public:
  Functions(std::string_view language, const std::vector<Token>& tokens);
  /// The innermost function whose body holds the token.
  const Function* around(std::size_t at) const;
  /// Is the function never handed on, and its first parameter never given anything else? Then its calls say it all.
  static bool only_called(const std::vector<Token>& tokens, const Function& function);
  const std::vector<Function>& all() const { return all_; }
  bool none() const { return all_.empty(); }

 private:
  std::vector<Function> all_;
};

/// for c in ["a", "b"]: by the loop's name, each text, or list of texts, that it may be. Only where all are stated.
std::map<std::string, std::vector<std::vector<std::string>>> loop_choices(const Functions& functions,
                                                                          const std::vector<Token>& tokens);

}  // namespace cordon::risk
