#include "risk/arguments.h"

namespace cordon::risk {

bool is_token(const std::vector<Token>& tokens, std::size_t at, std::string_view text) {
  return at < tokens.size() && tokens[at].kind != Token::Kind::string && tokens[at].text == text;
}

namespace {

/// f"…", b'…', r'…': not a name but a part of the string that follows.
bool is_prefix(const std::vector<Token>& tokens, std::size_t at) {
  const std::string& text = tokens[at].text;
  const bool letter = text == "f" || text == "b" || text == "r";
  return letter && at + 1 < tokens.size() && tokens[at + 1].kind == Token::Kind::string;
}

}  // namespace

Arguments arguments_of(std::string_view language, const std::vector<Token>& tokens, std::size_t at) {
  Arguments args;
  const bool parenthesis = is_token(tokens, at, "(");
  std::size_t i = parenthesis ? at + 1 : at;
  args.begin = i;
  int depth = 1;
  bool in_list = false;
  int brackets = 0;
  for (; i < tokens.size() && i < args.begin + 400; ++i) {
    const Token& token = tokens[i];
    if (token.kind == Token::Kind::line_end && !parenthesis) break;
    if (token.kind == Token::Kind::line_end) continue;
    if (token.kind == Token::Kind::mark) {
      const char c = token.text[0];
      brackets += c == '[' ? 1 : c == ']' ? -1 : 0;
      if (token.text == "0777" || token.text == "0o777" || token.text == "0o666" || token.text == "0666" ||
          token.text == "511" || token.text == "438")
        args.everyone = true;
      const std::string_view mode = std::string_view(token.text).substr(token.text.starts_with("0o") ? 2 : 0);
      args.setid |= (mode.size() == 4 && mode != token.text && mode[0] >= '2') ||
                    (mode.size() == 5 && mode[0] == '0' && mode[1] >= '2');
      if (!parenthesis && (c == ';' || c == '}')) break;
      // Popen(args=["rm", "-rf", "x"])
      const bool named = i == args.begin + 2 && is_token(tokens, i - 1, "=") && is_token(tokens, i - 2, "args");
      if (c == '[' && args.strings.empty() && (i == args.begin || named)) {
        args.list = true;
        in_list = true;
      } else if (c == ']' && depth == 1) {
        in_list = false;
      } else if (c == '(' || c == '{') {
        ++depth;
      } else if ((c == ')' || c == '}') && --depth == 0) {
        break;
      } else if (c == '+' || c == '%' || c == '\x01' || (c == '.' && (language == "perl" || language == "php"))) {
        args.unknown = true;
      }
      continue;
    }
    if (token.kind == Token::Kind::string && !token.unknown) args.deep.push_back(token.text);
    if (token.kind == Token::Kind::name &&
        (token.text.ends_with("homedir") || token.text.ends_with("Path.home") || token.text == "HOME" ||
         token.text.ends_with("env.HOME") || token.text.ends_with("Dir.home")))
      args.home = true;
    const bool key = is_token(tokens, i + 1, ":") || is_token(tokens, i + 1, "=");
    if (token.kind == Token::Kind::name && !key && !in_list && brackets > 0) args.more = true;
    if (depth > 1) continue;
    if (token.text == "sys.executable" || token.text == "process.execPath") {
      args.strings.emplace_back(token.text[0] == 's' ? "python3" : "node");
      args.literal.push_back(true);
      continue;
    }
    if (args.list && !in_list && !args.strings.empty()) continue;
    if (token.kind == Token::Kind::string) {
      args.strings.push_back(token.text);
      args.literal.push_back(!token.unknown);
    } else if (token.kind == Token::Kind::name && token.text != "shell" && token.text != "glob" &&
               !is_prefix(tokens, i)) {
      if (!is_token(tokens, i + 1, "=") && !is_token(tokens, i + 1, ":")) {
        if (args.strings.empty() || in_list) {
          args.strings.emplace_back();
          args.literal.push_back(false);
        } else if (language == "ruby" || language == "perl") {
          args.more = true;  // system("rm", "-rf", d)
        }
      } else {
        ++i;
        // a named argument's value: True, check=False …
        if (i + 1 < tokens.size() && tokens[i + 1].kind == Token::Kind::name) ++i;
      }
    }
  }
  args.end = i;
  return args;
}

}  // namespace cordon::risk
