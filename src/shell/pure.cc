#include "shell/pure.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "shell/ansi.h"
#include "shell/characters.h"

namespace cordon::shell {
namespace {

using Arguments = std::vector<std::string>;
using Text = std::optional<std::string>;
constexpr std::size_t max_output = 1 << 18;

Text echo(const Arguments& arguments) {
  bool newline = true, escapes = false;
  std::size_t i = 1;
  for (; i < arguments.size(); ++i) {
    const std::string& option = arguments[i];
    bool known = option.size() > 1 && option[0] == '-' && option.find_first_not_of("neE", 1) == std::string::npos;
    if (!known) break;
    for (char c : option.substr(1)) {
      if (c == 'n') newline = false;
      if (c == 'e') escapes = true;
      if (c == 'E') escapes = false;
    }
  }
  std::string out;
  for (std::size_t first = i; i < arguments.size(); ++i) {
    if (i > first) out += ' ';
    bool stop = false;
    out += escapes ? decode_echo(arguments[i], stop) : arguments[i];
    if (stop) return out;
  }
  if (newline) out += '\n';
  return out;
}

struct Conversion {
  bool left = false, zero = false, plus = false, blank = false, alternate = false;
  std::size_t width = 0;
  std::optional<std::size_t> precision;
};

std::string pad(std::string text, const Conversion& conversion) {
  if (text.size() >= conversion.width) return text;
  std::size_t missing = conversion.width - text.size();
  return conversion.left ? text + std::string(missing, ' ') : std::string(missing, ' ') + text;
}

std::optional<long long> printf_number(const std::string& text) {
  if (text.empty()) return 0;
  if ((text[0] == '\'' || text[0] == '"') && text.size() == 2)
    return static_cast<unsigned char>(text[1]) < 0x80 ? std::optional<long long>(text[1]) : std::nullopt;
  std::size_t sign = text[0] == '-' || text[0] == '+' ? 1 : 0;
  int base = 10;
  std::size_t at = sign;
  if (text.size() > sign + 2 && text[sign] == '0' && (text[sign + 1] == 'x' || text[sign + 1] == 'X'))
    base = 16, at += 2;
  else if (text.size() > sign + 1 && text[sign] == '0')
    base = 8;
  long long value = 0;
  auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size() || (at < text.size() && text[at] == '-'))
    return std::nullopt;
  return text[0] == '-' ? -value : value;
}

std::string digits(long long value, char kind) {
  auto bits = static_cast<unsigned long long>(value);
  if (kind == 'd' || kind == 'i') return std::to_string(value);
  if (kind == 'u') return std::to_string(bits);
  int base = kind == 'o' ? 8 : 16;
  char buffer[32];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, bits, base).ptr;
  std::string text(buffer, end);
  if (kind == 'X')
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'a' ? static_cast<char>(c - 32) : c; });
  return text;
}

// One pass over the format. False: something in it is not computed.
class Printf {
 public:
  explicit Printf(const Arguments& arguments) : arguments_(arguments) {}

  Text run() {
    if (arguments_.size() < 2) return std::nullopt;
    std::size_t at = 1;
    if (arguments_[at] == "--")
      ++at;
    else if (arguments_[at].starts_with('-'))
      return std::nullopt;
    if (at >= arguments_.size()) return std::nullopt;
    format_ = arguments_[at];
    next_ = at + 1;
    do {
      std::size_t before = next_;
      if (!pass()) return std::nullopt;
      if (stop_) return out_;
      if (out_.size() > max_output) return std::nullopt;
      if (next_ == before) break;
    } while (next_ < arguments_.size());
    return out_;
  }

 private:
  std::string take() { return next_ < arguments_.size() ? arguments_[next_++] : std::string(); }

  bool pass() {
    for (std::size_t i = 0; i < format_.size();) {
      if (format_[i] == '\\') {
        i = escape(i);
        continue;
      }
      if (format_[i] != '%') {
        out_ += format_[i++];
        continue;
      }
      if (i + 1 < format_.size() && format_[i + 1] == '%') {
        out_ += '%';
        i += 2;
        continue;
      }
      if (!convert(++i)) return false;
      if (stop_) return true;
    }
    return true;
  }

  // Decodes the escape at `i` and returns where it ends.
  std::size_t escape(std::size_t i) {
    std::size_t length = 2;
    char letter = i + 1 < format_.size() ? format_[i + 1] : 0;
    if (letter >= '0' && letter <= '7') {
      while (length < 4 && i + length < format_.size() && format_[i + length] >= '0' && format_[i + length] <= '7')
        ++length;
    } else if (letter == 'x' || letter == 'u' || letter == 'U') {
      std::size_t most = letter == 'x' ? 4 : letter == 'u' ? 6 : 10;
      while (length < most && i + length < format_.size() &&
             std::string_view("0123456789abcdefABCDEF").find(format_[i + length]) != std::string_view::npos)
        ++length;
    } else if (std::string_view("abefnrtvE\\'\"?").find(letter) == std::string_view::npos) {
      length = 1;  // what follows means what it means without it
    }
    out_ += decode_format(format_.substr(i, length));
    return i + length;
  }

  bool convert(std::size_t& i) {
    Conversion conversion;
    for (; i < format_.size(); ++i) {
      char c = format_[i];
      if (c == '-')
        conversion.left = true;
      else if (c == '0')
        conversion.zero = true;
      else if (c == '+')
        conversion.plus = true;
      else if (c == ' ')
        conversion.blank = true;
      else if (c == '#')
        conversion.alternate = true;
      else
        break;
    }
    auto number = [&](std::size_t& value) {
      while (i < format_.size() && is_digit(format_[i]))
        value = value * 10 + static_cast<std::size_t>(format_[i++] - '0');
      return value < 10000;
    };
    if (!number(conversion.width)) return false;
    if (i < format_.size() && format_[i] == '.') {
      ++i;
      conversion.precision = 0;
      if (!number(*conversion.precision)) return false;
    }
    if (i >= format_.size() || conversion.alternate || conversion.plus || conversion.blank) return false;
    return write(conversion, format_[i++]);
  }

  bool write(const Conversion& conversion, char kind) {
    switch (kind) {
      case 's':
      case 'b':
      case 'c': {
        std::string text = take();
        if (kind == 'b') text = decode_b(text);
        if (kind == 'c') text = text.substr(0, 1);
        if (kind == 'c' && text.empty()) return false;  // bash writes a NUL
        bool wide = std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
        if (wide && (conversion.width > 0 || conversion.precision || kind == 'c')) return false;
        if (conversion.zero) return false;
        if (conversion.precision) text = text.substr(0, *conversion.precision);
        out_ += pad(std::move(text), conversion);
        return true;
      }
      case 'd':
      case 'i':
      case 'u':
      case 'x':
      case 'X':
      case 'o': {
        std::optional<long long> value = printf_number(take());
        if (!value || conversion.precision) return false;
        std::string text = digits(*value, kind);
        if (conversion.zero && !conversion.left && text.size() < conversion.width) {
          std::size_t sign = text[0] == '-' ? 1 : 0;
          text.insert(sign, conversion.width - text.size(), '0');
        }
        out_ += pad(std::move(text), conversion);
        return true;
      }
      default:
        return false;
    }
  }

  // %b: as echo -e, but \nnn needs no zero.
  std::string decode_b(const std::string& text) {
    std::string prepared;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\\' && i + 1 < text.size()) {
        char next = text[i + 1];
        if (next >= '1' && next <= '7') {
          prepared += "\\0";
          continue;
        }
        prepared += text[i++];
      }
      prepared += text[i];
    }
    bool stop = false;
    std::string out = decode_echo(prepared, stop);
    stop_ = stop_ || stop;
    return out;
  }

  const Arguments& arguments_;
  std::string format_;
  std::size_t next_ = 0;
  std::string out_;
  bool stop_ = false;
};

Text base64_decode(const std::string& input, bool ignore_garbage) {
  std::string out;
  unsigned bits = 0;
  int count = 0, padding = 0;
  for (char c : input) {
    int value;
    if (c >= 'A' && c <= 'Z')
      value = c - 'A';
    else if (c >= 'a' && c <= 'z')
      value = c - 'a' + 26;
    else if (c >= '0' && c <= '9')
      value = c - '0' + 52;
    else if (c == '+')
      value = 62;
    else if (c == '/')
      value = 63;
    else if (c == '\n')
      continue;
    else if (c == '=') {
      ++padding;
      continue;
    } else if (ignore_garbage)
      continue;
    else
      return std::nullopt;
    if (padding > 0) return std::nullopt;
    bits = (bits << 6) | static_cast<unsigned>(value);
    if (++count == 4) {
      out += static_cast<char>(bits >> 16), out += static_cast<char>(bits >> 8), out += static_cast<char>(bits);
      bits = 0, count = 0;
    }
  }
  // A cut-off end is decoded as far as it goes, with a complaint.
  if (count == 2) out += static_cast<char>(bits >> 4);
  if (count == 3) out += static_cast<char>(bits >> 10), out += static_cast<char>(bits >> 2);
  return out;
}

Text base64(const Arguments& arguments, const std::string& input) {
  bool decode = false, garbage = false;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string& a = arguments[i];
    if (a == "-d" || (a.size() > 2 && std::string_view("--decode").starts_with(a)))
      decode = true;
    else if (a == "-i" || (a.size() > 2 && std::string_view("--ignore-garbage").starts_with(a)))
      garbage = true;
    else if (a == "-di" || a == "-id")
      decode = garbage = true;
    else if (a == "-")
      continue;
    else
      return std::nullopt;
  }
  if (!decode) return std::nullopt;
  return base64_decode(input, garbage);
}

Text xxd(const Arguments& arguments, const std::string& input) {
  bool reverse = false, plain = false;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string& a = arguments[i];
    if (a == "-r")
      reverse = true;
    else if (a == "-p" || a == "-ps" || a == "-plain" || a == "-postscript")
      plain = true;
    else if (a == "-r-p" || a == "-rp")
      return std::nullopt;
    else
      return std::nullopt;
  }
  if (!reverse || !plain) return std::nullopt;
  std::string out;
  int half = -1;
  for (char c : input) {
    int value;
    if (c >= '0' && c <= '9')
      value = c - '0';
    else if (c >= 'a' && c <= 'f')
      value = c - 'a' + 10;
    else if (c >= 'A' && c <= 'F')
      value = c - 'A' + 10;
    else if (c == ' ' || c == '\n')
      continue;
    else
      return std::nullopt;
    if (half < 0)
      half = value;
    else
      out += static_cast<char>(half * 16 + value), half = -1;
  }
  if (half >= 0) return std::nullopt;
  return out;
}

Text rev(const Arguments& arguments, const std::string& input) {
  if (arguments.size() != 1) return std::nullopt;
  std::string out, line;
  for (char c : input) {
    if (static_cast<unsigned char>(c) >= 0x80 || c == '\0') return std::nullopt;
    if (c != '\n') {
      line += c;
      continue;
    }
    out.append(line.rbegin(), line.rend());
    out += '\n';
    line.clear();
  }
  out.append(line.rbegin(), line.rend());
  return out;
}

std::optional<std::string> tr_set(const std::string& text) {
  static constexpr std::pair<std::string_view, std::pair<char, char>> classes[] = {
      {"[:lower:]", {'a', 'z'}}, {"[:upper:]", {'A', 'Z'}}, {"[:digit:]", {'0', '9'}}};
  std::string plain;
  std::vector<bool> escaped;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (static_cast<unsigned char>(text[i]) >= 0x80) return std::nullopt;
    if (text[i] != '\\') {
      plain += text[i];
      escaped.push_back(false);
      continue;
    }
    if (++i >= text.size()) return std::nullopt;
    static constexpr std::string_view letters = "abfnrtv\\", values = "\a\b\f\n\r\t\v\\";
    if (std::size_t which = letters.find(text[i]); which != std::string_view::npos) {
      plain += values[which];
    } else if (text[i] >= '0' && text[i] <= '7') {
      int value = 0;
      for (int n = 0; n < 3 && i < text.size() && text[i] >= '0' && text[i] <= '7'; ++n, ++i)
        value = value * 8 + (text[i] - '0');
      --i;
      if (value > 0xff) return std::nullopt;
      plain += static_cast<char>(value);
    } else {
      plain += text[i];
    }
    escaped.push_back(true);
  }
  std::string out;
  for (std::size_t i = 0; i < plain.size();) {
    bool matched = false;
    for (const auto& [name, range] : classes) {
      if (plain.substr(i).starts_with(name) && !escaped[i]) {
        for (char c = range.first; c <= range.second; ++c) out += c;
        i += name.size();
        matched = true;
        break;
      }
    }
    if (matched) continue;
    bool bracket = plain[i] == '[' && i + 1 < plain.size() &&
                   (plain[i + 1] == ':' || plain[i + 1] == '=' || plain.find("*", i) != std::string::npos);
    if (bracket && !escaped[i]) return std::nullopt;
    if (i + 2 < plain.size() && plain[i + 1] == '-' && !escaped[i + 1]) {
      auto low = static_cast<unsigned char>(plain[i]), high = static_cast<unsigned char>(plain[i + 2]);
      if (low > high) return std::nullopt;
      for (unsigned c = low; c <= high; ++c) out += static_cast<char>(c);
      i += 3;
      continue;
    }
    out += plain[i++];
  }
  return out;
}

Text tr(const Arguments& arguments, const std::string& input) {
  std::size_t i = 1;
  bool remove = false;
  if (i < arguments.size() && (arguments[i] == "-d" || arguments[i] == "--delete"))
    remove = true, ++i;
  else if (i < arguments.size() && arguments[i] == "--")
    ++i;
  else if (i < arguments.size() && arguments[i].size() > 1 && arguments[i][0] == '-')
    return std::nullopt;
  if (arguments.size() - i != (remove ? 1u : 2u)) return std::nullopt;
  if (remove && arguments[i].size() > 1 && arguments[i][0] == '-') return std::nullopt;
  Text from = tr_set(arguments[i]);
  if (!from) return std::nullopt;
  std::string out;
  if (remove) {
    for (char c : input) {
      if (from->find(c) == std::string::npos) out += c;
    }
    return out;
  }
  Text to = tr_set(arguments[i + 1]);
  if (!to || to->empty()) return std::nullopt;
  // There a class has to stand for the other case of one in the same place.
  const bool classes = arguments[i + 1].find("[:") != std::string::npos;
  const bool cases = (arguments[i] == "[:lower:]" && arguments[i + 1] == "[:upper:]") ||
                     (arguments[i] == "[:upper:]" && arguments[i + 1] == "[:lower:]");
  if (classes && !cases) return std::nullopt;
  for (char c : input) {
    // The last mention of a character counts.
    std::size_t at = from->rfind(c);
    out += at == std::string::npos ? c : (*to)[std::min(at, to->size() - 1)];
  }
  return out;
}

Text cat(const Arguments& arguments, const std::string& input) {
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (arguments[i] != "-" || i > 1) return std::nullopt;
  }
  return input;
}

}  // namespace

std::optional<std::string> pure_output(const std::vector<std::string>& arguments,
                                       const std::optional<std::string>& input) {
  std::string_view name = arguments[0];
  if (name == "echo") return echo(arguments);
  if (name == "printf") return Printf(arguments).run();
  const bool nothing =
      name == "cat" && arguments.size() > 1 &&
      std::all_of(arguments.begin() + 1, arguments.end(), [](const std::string& each) { return each == "/dev/null"; });
  if (nothing) return "";
  if (!input) return std::nullopt;
  if (name == "cat") return cat(arguments, *input);
  if (name == "rev") return rev(arguments, *input);
  if (name == "tr") return tr(arguments, *input);
  if (name == "base64") return base64(arguments, *input);
  if (name == "xxd") return xxd(arguments, *input);
  return std::nullopt;
}

}  // namespace cordon::shell
