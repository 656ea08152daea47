#include "shell/brace.h"

#include <charconv>
#include <optional>
#include <string>

#include "shell/characters.h"

namespace cordon::shell {
namespace {

constexpr std::size_t max_words = 4096;

// A character of a literal part, or −2 for a part that is not one.
struct Atom {
  int c;
  const Part* part;
};
using Atoms = std::vector<Atom>;
struct Range {
  std::size_t begin, end;
};

class Braces {
 public:
  Braces(const Parts& parts, Arena& arena, bool& complete) : arena_(arena), complete_(complete) {
    for (const Part& part : parts) {
      if (part.kind != Part::Kind::literal) {
        atoms_.push_back({-2, &part});
        continue;
      }
      for (char c : part.text) atoms_.push_back({static_cast<unsigned char>(c), &part});
    }
  }

  std::vector<Parts> expand() {
    std::vector<Atoms> words = expand({0, atoms_.size()}, 0);
    std::vector<Parts> out;
    for (const Atoms& word : words) out.push_back(to_parts(word));
    return out;
  }

 private:
  int at(std::size_t i) const { return i < atoms_.size() ? atoms_[i].c : 0; }

  // bash's brace_gobbler: the next `wanted` at this level, or npos.
  std::size_t find(Range in, char wanted) const {
    int level = 0, separators = wanted == '}' ? 0 : 1;
    for (std::size_t i = in.begin; i < in.end; ++i) {
      int c = at(i);
      if (c == wanted && level == 0 && separators > 0) {
        bool bare = c == '{' && i == in.begin && (i + 1 >= in.end || at(i + 1) == '}');
        if (!bare) return i;
        continue;
      }
      if (c == '{') {
        ++level;
      } else if (c == '}' && level > 0) {
        --level;
      } else if (wanted == '}' && level == 0) {
        if (c == ',') ++separators;
        if (c == '.' && i + 2 < in.end && at(i + 1) == '.' && at(i + 2) != '}') ++separators;
      }
    }
    return std::string::npos;
  }

  std::vector<Atoms> expand(Range in, int depth) {
    std::size_t open = in.begin, close = std::string::npos;
    for (;;) {
      open = find({open, in.end}, '{');
      if (open == std::string::npos || depth > 50)
        return {Atoms(atoms_.begin() + offset(in.begin), atoms_.begin() + offset(in.end))};
      close = find({open + 1, in.end}, '}');
      if (close != std::string::npos) break;
      ++open;
    }
    std::vector<Atoms> middle;
    Range inside{open + 1, close};
    bool has_comma = false;
    for (std::size_t i = inside.begin; i < inside.end; ++i) has_comma = has_comma || at(i) == ',';
    if (has_comma) {
      middle = alternatives(inside, depth);
    } else if (auto sequence = expand_sequence(inside)) {
      middle = std::move(*sequence);
    } else {
      middle.push_back(Atoms(atoms_.begin() + offset(open), atoms_.begin() + offset(close + 1)));
    }
    Atoms before(atoms_.begin() + offset(in.begin), atoms_.begin() + offset(open));
    std::vector<Atoms> after = expand({close + 1, in.end}, depth + 1);
    std::vector<Atoms> out;
    for (const Atoms& one : middle) {
      for (const Atoms& two : after) {
        made_ += before.size() + one.size() + two.size() + 1;
        if (out.size() >= max_words || made_ > (1 << 20)) {
          complete_ = false;
          return out;
        }
        Atoms word = before;
        word.insert(word.end(), one.begin(), one.end());
        word.insert(word.end(), two.begin(), two.end());
        out.push_back(std::move(word));
      }
    }
    return out;
  }

  std::vector<Atoms> alternatives(Range inside, int depth) {
    std::vector<Atoms> out;
    std::size_t begin = inside.begin;
    for (;;) {
      std::size_t comma = find({begin, inside.end}, ',');
      std::size_t end = comma == std::string::npos ? inside.end : comma;
      for (Atoms& one : expand({begin, end}, depth + 1)) {
        if (out.size() >= max_words) {
          complete_ = false;
          return out;
        }
        out.push_back(std::move(one));
      }
      if (comma == std::string::npos) return out;
      begin = comma + 1;
    }
  }

  std::optional<std::vector<Atoms>> expand_sequence(Range inside) {
    std::string text;
    for (std::size_t i = inside.begin; i < inside.end; ++i) {
      if (at(i) < 0) return std::nullopt;
      text += static_cast<char>(at(i));
    }
    std::size_t first = text.find("..");
    if (first == std::string::npos) return std::nullopt;
    std::size_t second = text.find("..", first + 2);
    std::string from = text.substr(0, first);
    std::string to = text.substr(first + 2, second == std::string::npos ? second : second - first - 2);
    long long step = 1;
    if (second != std::string::npos && !number(text.substr(second + 2), step)) return std::nullopt;
    if (step == 0) step = 1;
    if (step < 0) step = -step;
    long long low, high;
    bool letters = from.size() == 1 && to.size() == 1 && is_letter(from[0]) && is_letter(to[0]);
    if (letters) {
      low = from[0], high = to[0];
      // Between Z and a stand characters that quote.
      if ((low >= 'a') != (high >= 'a')) complete_ = false;
    } else if (!number(from, low) || !number(to, high)) {
      return std::nullopt;
    }
    std::size_t width = padded(from) || padded(to) ? std::max(from.size(), to.size()) : 0;
    std::vector<Atoms> out;
    for (long long value = low; low <= high ? value <= high : value >= high; value += low <= high ? step : -step) {
      if (out.size() >= max_words) {
        complete_ = false;
        break;
      }
      std::string shown =
          letters ? std::string(1, static_cast<char>(value)) : std::to_string(value < 0 ? -value : value);
      if (!letters) {
        std::size_t sign = value < 0 ? 1 : 0;
        if (shown.size() + sign < width) shown.insert(0, width - sign - shown.size(), '0');
        if (value < 0) shown.insert(0, "-");
      }
      Atoms word;
      for (char c : shown) word.push_back({static_cast<unsigned char>(c), nullptr});
      out.push_back(std::move(word));
    }
    return out;
  }

  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
  static bool padded(const std::string& text) {
    std::size_t sign = text.starts_with('-') ? 1 : 0;
    return text.size() > sign + 1 && text[sign] == '0';
  }
  static bool number(const std::string& text, long long& value) {
    std::size_t sign = !text.empty() && text[0] == '+' ? 1 : 0;
    auto [end, error] = std::from_chars(text.data() + sign, text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && text.size() > sign && value > -(1LL << 40) &&
           value < (1LL << 40);
  }
  static std::ptrdiff_t offset(std::size_t i) { return static_cast<std::ptrdiff_t>(i); }

  Parts to_parts(const Atoms& word) {
    Parts out;
    std::string text;
    Span where;
    auto flush = [&] {
      // Braces come first: $x{p,q} is $xp $xq.
      bool grows = !out.empty() && out.back().kind == Part::Kind::variable && is_name_start(out.back().text[0]);
      std::size_t more = 0;
      while (grows && more < text.size() && is_name_char(text[more])) ++more;
      if (more > 0) {
        out.back().text = arena_.copy(std::string(out.back().text) + text.substr(0, more));
        text.erase(0, more);
      }
      if (text.empty()) return;
      out.push(arena_, Part{.kind = Part::Kind::literal, .where = where, .text = arena_.copy(text)});
      text.clear();
    };
    for (const Atom& atom : word) {
      if (atom.c >= 0) {
        text += static_cast<char>(atom.c);
        if (atom.part != nullptr) where = atom.part->where;
      } else {
        flush();
        out.push(arena_, *atom.part);
      }
    }
    flush();
    return out;
  }

  Atoms atoms_;
  Arena& arena_;
  bool& complete_;
  std::size_t made_ = 0;
};

}  // namespace

bool may_have_braces(const Parts& parts) {
  bool open = false;
  for (const Part& part : parts) {
    if (part.kind != Part::Kind::literal) continue;
    if (part.text.find('{') != std::string_view::npos) open = true;
    if (open && part.text.find('}') != std::string_view::npos) return true;
  }
  return false;
}

bool is_list(const Part& part) {
  if (part.kind == Part::Kind::variable) return part.text == "@";
  if (part.kind != Part::Kind::parameter || part.parameter == nullptr) return false;
  const Parameter& parameter = *part.parameter;
  if (parameter.length) return false;
  if (parameter.name == "@" || parameter.op == "names@") return true;
  return parameter.has_subscript && parameter.subscript.size() == 1 && parameter.subscript[0].text == "@";
}

std::vector<Parts> expand_braces(const Parts& parts, Arena& arena, bool& complete) {
  return Braces(parts, arena, complete).expand();
}

}  // namespace cordon::shell
