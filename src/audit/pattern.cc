#include "audit/pattern.h"

#include <charconv>
#include <memory>

namespace cordon::audit {

namespace {

constexpr std::size_t most_states = 4096;
constexpr std::size_t most_nesting = 64;
// A match may not be longer. Without a bound, an expression like a.*z would look at the whole rest once per 'a'.
constexpr std::size_t longest_match = 1024;

}  // namespace

/// Recursive descent into a tree, then the tree into states; {m,n} copies its part.
class PatternReader {
 public:
  explicit PatternReader(std::string_view text) : text_(text) {}

  Result<Pattern> read() {
    const std::size_t root = TRY(alternatives());
    if (at_ < text_.size()) return wrong("an unmatched )");
    pattern_.states_.push_back({});  // the match
    pattern_.start_ = TRY(emit(root, 0));
    return std::move(pattern_);
  }

 private:
  using Set = Pattern::Set;
  using State = Pattern::State;
  struct Node {
    enum class Kind { empty, byte, sequence, either, repeat } kind = Kind::empty;
    Set set;
    std::vector<std::size_t> parts;
    int least = 0;
    int most = -1;  // −1: no bound
  };

  tl::unexpected<Error> wrong(std::string_view what) const {
    return fail(Fault::invalid_input, "the expression '{}' has {} at character {}", text_, what, at_ + 1);
  }
  bool more() const { return at_ < text_.size(); }
  std::size_t add(Node node) {
    nodes_.push_back(std::move(node));
    return nodes_.size() - 1;
  }

  Result<std::size_t> alternatives() {
    if (++depth_ > most_nesting) return wrong("too many nested groups");
    Node either{Node::Kind::either};
    either.parts.push_back(TRY(sequence()));
    while (more() && text_[at_] == '|') {
      ++at_;
      either.parts.push_back(TRY(sequence()));
    }
    --depth_;
    return either.parts.size() == 1 ? either.parts.front() : add(std::move(either));
  }

  Result<std::size_t> sequence() {
    Node sequence{Node::Kind::sequence};
    while (more() && text_[at_] != '|' && text_[at_] != ')') {
      const std::size_t atom = TRY(this->atom());
      sequence.parts.push_back(TRY(repeated(atom)));
    }
    return add(std::move(sequence));
  }

  Result<std::size_t> repeated(std::size_t atom) {
    while (more()) {
      Node repeat{Node::Kind::repeat, {}, {atom}};
      const char c = text_[at_];
      if (c == '+') {
        repeat.least = 1;
      } else if (c == '?') {
        repeat.most = 1;
      } else if (c == '{') {
        CHECK_OK(bounds(repeat));
      } else if (c != '*') {
        break;
      }
      ++at_;
      atom = add(std::move(repeat));
    }
    return atom;
  }

  Result<void> bounds(Node& repeat) {
    ++at_;
    repeat.least = TRY(number());
    repeat.most = repeat.least;
    if (more() && text_[at_] == ',') {
      ++at_;
      repeat.most = more() && text_[at_] == '}' ? -1 : TRY(number());
    }
    if (!more() || text_[at_] != '}') return wrong("no } for its {");
    if (repeat.most >= 0 && repeat.most < repeat.least) return wrong("bounds in the wrong order");
    return {};
  }

  Result<int> number() {
    int value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc() || value < 0 || value > 1000) return wrong("no number from 0 to 1000");
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }

  Result<std::size_t> atom() {
    const char c = text_[at_];
    if (c == '*' || c == '+' || c == '?' || c == '{') return wrong("nothing to repeat");
    if (c == '^' || c == '$') return wrong("an anchor, which is not supported; a literal one is \\^ or \\$,");
    ++at_;
    if (c == '(') {
      if (text_.substr(at_).starts_with("?:")) at_ += 2;
      const std::size_t inner = TRY(alternatives());
      if (!more() || text_[at_] != ')') return wrong("no ) for its (");
      ++at_;
      return inner;
    }
    Set set;
    if (c == '.') {
      set.set().reset('\n');
    } else if (c == '[') {
      set = TRY(bracket());
    } else if (c == '\\') {
      set = TRY(escape());
    } else {
      set.set(static_cast<unsigned char>(c));
    }
    return add(Node{Node::Kind::byte, set});
  }

  static void add_range(Set& set, unsigned char first, unsigned char last) {
    for (unsigned c = first; c <= last; ++c) set.set(c);
  }

  Result<Set> escape() {
    if (!more()) return wrong("a backslash with nothing after it");
    const char c = text_[at_++];
    Set set;
    switch (c) {
      case 'd':
      case 'D':
        add_range(set, '0', '9');
        return c == 'D' ? ~set : set;
      case 'w':
      case 'W':
        add_range(set, '0', '9');
        add_range(set, 'a', 'z');
        add_range(set, 'A', 'Z');
        set.set('_');
        return c == 'W' ? ~set : set;
      case 's':
      case 'S':
        for (const char blank : {' ', '\t', '\n', '\r', '\f', '\v'}) set.set(static_cast<unsigned char>(blank));
        return c == 'S' ? ~set : set;
      case 'n':
        return set.set('\n');
      case 't':
        return set.set('\t');
      default:
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) {
          --at_;
          return wrong("an escape that is not supported");
        }
        return set.set(static_cast<unsigned char>(c));
    }
  }

  Result<Set> bracket() {
    Set set;
    const bool inverted = more() && text_[at_] == '^';
    if (inverted) ++at_;
    for (bool first = true; more() && (first || text_[at_] != ']'); first = false) {
      const char c = text_[at_++];
      if (c == '\\') {
        set |= TRY(escape());
        continue;
      }
      const bool range = at_ + 1 < text_.size() && text_[at_] == '-' && text_[at_ + 1] != ']';
      const char last = range ? text_[at_ + 1] : c;
      if (range) at_ += 2;
      if (static_cast<unsigned char>(last) < static_cast<unsigned char>(c)) return wrong("a range in the wrong order");
      add_range(set, static_cast<unsigned char>(c), static_cast<unsigned char>(last));
    }
    if (!more()) return wrong("no ] for its [");
    ++at_;
    return inverted ? ~set : set;
  }

  Result<std::uint32_t> new_state(State state) {
    if (pattern_.states_.size() >= most_states)
      return fail(Fault::invalid_input, "the expression '{}' is too large", text_);
    pattern_.states_.push_back(state);
    return static_cast<std::uint32_t>(pattern_.states_.size() - 1);
  }

  /// The entry of a machine that does `node` and goes on to `next`.
  Result<std::uint32_t> emit(std::size_t index, std::uint32_t next) {
    const Node node = nodes_[index];
    switch (node.kind) {
      case Node::Kind::byte:
        return new_state({State::Kind::byte, node.set, next, 0});
      case Node::Kind::either: {
        std::uint32_t entry = TRY(emit(node.parts.back(), next));
        for (std::size_t i = node.parts.size() - 1; i > 0; --i) {
          const std::uint32_t part = TRY(emit(node.parts[i - 1], next));
          entry = TRY(new_state({State::Kind::split, {}, part, entry}));
        }
        return entry;
      }
      case Node::Kind::repeat:
        return emit_repeat(node, next);
      default:
        for (std::size_t i = node.parts.size(); i > 0; --i) next = TRY(emit(node.parts[i - 1], next));
        return next;
    }
  }

  Result<std::uint32_t> emit_repeat(const Node& node, std::uint32_t next) {
    std::uint32_t entry = next;
    if (node.most < 0) {
      const std::uint32_t loop = TRY(new_state({State::Kind::split, {}, 0, next}));
      const std::uint32_t body = TRY(emit(node.parts.front(), loop));
      pattern_.states_[loop].next = body;
      entry = loop;
    }
    for (int i = node.least; i < node.most; ++i) {
      const std::uint32_t body = TRY(emit(node.parts.front(), entry));
      entry = TRY(new_state({State::Kind::split, {}, body, next}));
    }
    for (int i = 0; i < node.least; ++i) entry = TRY(emit(node.parts.front(), entry));
    return entry;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::vector<Node> nodes_;
  Pattern pattern_;
};

Result<Pattern> Pattern::compile(std::string_view expression) { return PatternReader(expression).read(); }

/// The states that are alive, each with where its match began; the earliest beginning first.
struct Pattern::Threads {
  struct Thread {
    std::uint32_t state;
    std::size_t begin;
  };
  std::vector<Thread> list;
  std::vector<std::size_t> seen;  // by state: the step in which it was added
  std::vector<std::uint32_t> pending;
  std::size_t step = 1;

  explicit Threads(std::size_t states) : seen(states, 0) {}
  void clear() {
    list.clear();
    ++step;
  }
};

void Pattern::follow(Threads& threads, std::uint32_t state, std::size_t begin) const {
  threads.pending.push_back(state);
  while (!threads.pending.empty()) {
    const std::uint32_t at = threads.pending.back();
    threads.pending.pop_back();
    if (threads.seen[at] == threads.step) continue;
    threads.seen[at] = threads.step;
    if (states_[at].kind != State::Kind::split) {
      threads.list.push_back({at, begin});
      continue;
    }
    threads.pending.push_back(states_[at].other);
    threads.pending.push_back(states_[at].next);
  }
}

std::optional<Pattern::Match> Pattern::find(std::string_view text, std::size_t from) const {
  Threads now(states_.size());
  Threads then(states_.size());
  std::optional<Match> best;
  for (std::size_t at = from; at <= text.size(); ++at) {
    if (!best) follow(now, start_, at);
    if (now.list.empty()) break;
    then.clear();
    for (const auto& thread : now.list) {
      if (best && thread.begin > best->begin) continue;
      const State& state = states_[thread.state];
      if (state.kind == State::Kind::match) {
        if (at > thread.begin) best = Match{thread.begin, at};
        continue;
      }
      if (at < text.size() && at - thread.begin < longest_match && state.set[static_cast<unsigned char>(text[at])]) {
        follow(then, state.next, thread.begin);
      }
    }
    std::swap(now, then);
  }
  return best;
}

}  // namespace cordon::audit
