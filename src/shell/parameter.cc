#include "shell/parameter.h"

#include "shell/characters.h"

namespace cordon::shell {
namespace {

constexpr int opaque = -2;
constexpr int at_end = -1;

// A place between two characters of a sequence of parts. Only literal parts have characters; others are one opaque
// step.
struct Cursor {
  const Parts* parts;
  std::uint32_t part = 0;
  std::size_t offset = 0;

  void settle() {
    while (part < parts->size() && (*parts)[part].kind == Part::Kind::literal && offset >= (*parts)[part].text.size()) {
      ++part, offset = 0;
    }
  }
  int peek(std::size_t ahead = 0) const {
    Cursor at = *this;
    at.settle();
    for (;; --ahead) {
      if (at.part >= at.parts->size()) return at_end;
      const Part& here = (*at.parts)[at.part];
      int c = here.kind == Part::Kind::literal ? static_cast<unsigned char>(here.text[at.offset]) : opaque;
      if (ahead == 0) return c;
      at.next();
    }
  }
  void next() {
    settle();
    if (part >= parts->size()) return;
    if ((*parts)[part].kind == Part::Kind::literal) {
      ++offset;
    } else {
      ++part, offset = 0;
    }
    settle();
  }
};

Parts slice(const Cursor& from, const Cursor& to, Arena& arena) {
  Parts out;
  for (std::uint32_t i = from.part; i <= to.part && i < from.parts->size(); ++i) {
    Part part = (*from.parts)[i];
    std::size_t begin = i == from.part ? from.offset : 0;
    if (i == to.part && (part.kind != Part::Kind::literal || to.offset == 0)) break;
    if (part.kind == Part::Kind::literal) {
      std::size_t end = i == to.part ? to.offset : part.text.size();
      if (begin >= end) continue;
      part.text = part.text.substr(begin, end - begin);
    }
    out.push(arena, part);
  }
  return out;
}

Cursor end_of(const Parts& parts) { return {&parts, parts.size(), 0}; }

std::string_view take_name(Cursor& at, Arena& arena) {
  std::string name;
  if (is_name_start(at.peek())) {
    while (is_name_char(at.peek())) name += static_cast<char>(at.peek()), at.next();
  } else if (is_digit(at.peek())) {
    while (is_digit(at.peek())) name += static_cast<char>(at.peek()), at.next();
  } else if (is_special_parameter(at.peek())) {
    name += static_cast<char>(at.peek());
    at.next();
  }
  return arena.copy(name);
}

bool take_subscript(Cursor& at, Parameter& out, Arena& arena) {
  at.next();
  Cursor begin = at;
  int depth = 1;
  for (;; at.next()) {
    int c = at.peek();
    if (c == at_end) return false;
    if (c == '[') ++depth;
    if (c == ']' && --depth == 0) break;
  }
  out.has_subscript = true;
  out.subscript = slice(begin, at, arena);
  at.next();
  return !out.subscript.empty();
}

// Finds the separator between first and second operand, outside brackets and, for arithmetic, outside ?: pairs.
Cursor find_separator(Cursor at, char separator, bool arithmetic) {
  int parens = 0, questions = 0;
  for (;; at.next()) {
    int c = at.peek();
    if (c == at_end) return at;
    if (arithmetic) {
      if (c == '(') ++parens;
      if (c == ')') --parens;
      if (c == '?') ++questions;
      if (c == ':' && questions > 0 && parens == 0) {
        --questions;
        continue;
      }
    }
    if (c == separator && parens <= 0) return at;
  }
}

void take_substitution(Cursor at, Parameter& out, Arena& arena) {
  at.next();
  std::string_view op = "/";
  bool all = at.peek() == '/';
  if (all) at.next(), op = "//";
  Cursor search = at;
  if (!all && (at.peek() == '#' || at.peek() == '%')) {
    op = at.peek() == '#' ? "/#" : "/%";
    at.next();
    search = at;
  }
  out.op = op;
  // A pattern may begin with the separator: ${x////_} and ${x//\//_} say the same.
  if (all && search.peek() == '/') search.next();
  Cursor middle = find_separator(search, '/', false);
  out.first = slice(at, middle, arena);
  if (middle.peek() != '/') return;
  middle.next();
  out.has_second = true;
  out.second = slice(middle, end_of(*at.parts), arena);
}

void take_operator(Cursor at, Parameter& out, Arena& arena) {
  static constexpr std::string_view doubled = "#%^,~";
  int c = at.peek();
  if (c == at_end) return;
  auto rest = [&](std::string_view op) {
    for (std::size_t i = 0; i < op.size(); ++i) at.next();
    out.op = op;
    out.first = slice(at, end_of(*at.parts), arena);
  };
  switch (c) {
    case '-':
      return rest("-");
    case '=':
      return rest("=");
    case '?':
      return rest("?");
    case '+':
      return rest("+");
    case '/':
      return take_substitution(at, out, arena);
    case '@': {
      int letter = at.peek(1);
      bool known =
          letter > 0 && std::string_view("QEPAKakuUL").find(static_cast<char>(letter)) != std::string_view::npos;
      if (!known || at.peek(2) != at_end) break;
      return rest("@");
    }
    case ':': {
      switch (at.peek(1)) {
        case '-':
          return rest(":-");
        case '=':
          return rest(":=");
        case '?':
          return rest(":?");
        case '+':
          return rest(":+");
        default:
          break;
      }
      at.next();
      out.op = ":";
      Cursor middle = find_separator(at, ':', true);
      out.first = slice(at, middle, arena);
      if (out.first.empty() && middle.peek() == at_end) break;
      if (middle.peek() == ':') {
        middle.next();
        out.has_second = true;
        out.second = slice(middle, end_of(*at.parts), arena);
      }
      return;
    }
    default:
      if (c > 0 && doubled.find(static_cast<char>(c)) != std::string_view::npos) {
        static constexpr std::string_view once = "#%^,~", twice = "##%%^^,,~~";
        std::size_t which = once.find(static_cast<char>(c));
        return rest(at.peek(1) == c ? twice.substr(which * 2, 2) : once.substr(which, 1));
      }
      break;
  }
  out.trouble = "bad substitution";
}

// ${#…}: a length, unless the # is itself the parameter.
bool is_length(const Cursor& at) {
  int next = at.peek(1);
  if (next == at_end) return false;
  if (is_name_char(next)) return true;
  return is_special_parameter(next) && at.peek(2) == at_end;
}

bool is_indirect(const Cursor& at) {
  int next = at.peek(1);
  return is_name_char(next) || next == '#' || next == '?' || next == '@' || next == '*' || next == '$' || next == '!';
}

}  // namespace

Parameter* take_apart(const Parts& inside, Arena& arena) {
  Parameter* out = arena.make<Parameter>();
  Cursor at{&inside};
  at.settle();
  if (at.peek() == '#' && is_length(at)) {
    out->length = true;
    at.next();
  } else if (at.peek() == '!' && is_indirect(at)) {
    out->indirect = true;
    at.next();
  }
  out->name = take_name(at, arena);
  if (out->name.empty()) {
    out->trouble = "bad substitution";
    return out;
  }
  if (at.peek() == '[' && is_name_start(out->name[0]) && !take_subscript(at, *out, arena)) {
    out->trouble = "bad substitution";
    return out;
  }
  if (out->length) {
    if (at.peek() != at_end) out->trouble = "bad substitution";
    return out;
  }
  bool names = out->indirect && !out->has_subscript && (at.peek() == '*' || at.peek() == '@') && at.peek(1) == at_end;
  if (names) {
    out->op = at.peek() == '*' ? "names*" : "names@";
    return out;
  }
  take_operator(at, *out, arena);
  return out;
}

}  // namespace cordon::shell
