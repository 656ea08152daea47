#include "shell/printer.h"

#include <vector>

#include "shell/characters.h"

namespace cordon::shell {
namespace {

class Printer {
 public:
  std::string take() { return std::move(out_); }

  void list(const List& list) {
    for (const Item& item : list.items) {
      for (const Link& link : item.links) {
        if (link.op == Link::Op::and_and) out_ += " && ";
        if (link.op == Link::Op::or_or) out_ += " || ";
        pipeline(link.pipeline);
      }
      if (item.background) out_ += " &";
      newline();
    }
  }

 private:
  // Here-documents begun on a line stand after it.
  void newline() {
    out_ += '\n';
    std::vector<const HereDocument*> pending = std::move(pending_);
    pending_.clear();
    for (const HereDocument* document : pending) {
      out_ += document->text;
      out_ += document->delimiter;
      out_ += '\n';
    }
  }

  void pipeline(const Pipeline& pipeline) {
    if (pipeline.time == Pipeline::Time::yes) out_ += "time ";
    if (pipeline.time == Pipeline::Time::posix) out_ += "time -p -- ";
    if (pipeline.negated) out_ += "! ";
    // Nothing, twice denied, is still a command.
    const Node& only = *pipeline.stages[0];
    const bool nothing = only.kind == Node::Kind::simple && only.words.empty() && only.redirects.empty();
    if (nothing && !pipeline.negated && pipeline.time == Pipeline::Time::no) out_ += "! ! ";
    for (std::uint32_t i = 0; i < pipeline.stages.size(); ++i) {
      if (i > 0) out_ += pipeline.with_stderr[i - 1] ? " |& " : " | ";
      node(*pipeline.stages[i]);
    }
  }

  void body(const List* list_of) {
    newline();
    if (list_of != nullptr) list(*list_of);
  }

  void node(const Node& node) {
    if (node.kind == Node::Kind::simple) return simple(node);
    compound(node);
    for (const Redirection& redirect : node.redirects) out_ += ' ', redirection(redirect);
  }

  /// An assignment to an element that stood after a redirect, where no subscript is looked for.
  static bool reads_bracket_as_text(const Word& word) {
    if (word.parts.empty() || word.parts[0].kind != Part::Kind::literal) return false;
    const std::string_view head = word.parts[0].text;
    const std::size_t bracket = head.find('[');
    return bracket != std::string_view::npos && bracket < head.find('=');
  }

  static bool has_subscript(const Word& word) {
    return word.parts.size() > 1 && word.parts[1].kind == Part::Kind::subscript;
  }

  /// After a redirect no word is reserved or begins an assignment. `coproc a <x { b` runs a: its second word would be.
  static std::uint32_t words_before_redirects(const Node& node, bool of_coproc) {
    if (!node.words.empty() && is_reserved(node.words[0].plain())) return 0;
    std::uint32_t assigned = 0;
    while (assigned < node.words.size() && node.words[assigned].assignment) {
      if (reads_bracket_as_text(node.words[assigned])) return assigned;
      ++assigned;
    }
    // One that was read as the beginning of an assignment stands where it could be one.
    if (assigned > 0 && assigned < node.words.size()) return assigned + (has_subscript(node.words[assigned]) ? 1 : 0);
    if (!of_coproc || node.words.size() < 2) return node.words.size();
    std::uint32_t looked_for = 1;  // subscripts are, up to here
    for (std::uint32_t i = 1; i < node.words.size(); ++i) {
      if (has_subscript(node.words[i])) looked_for = i + 1;
    }
    if (looked_for > 1 || !node.words[1].assignment) return looked_for;
    for (std::uint32_t i = 1; i < node.words.size(); ++i) {
      if (reads_bracket_as_text(node.words[i])) return 1;
    }
    return node.words.size();
  }

  void simple(const Node& node, bool of_coproc = false) {
    const std::uint32_t before = words_before_redirects(node, of_coproc);
    bool first = true;
    auto blank = [&] { out_ += first ? "" : " ", first = false; };
    auto redirects = [&] {
      for (const Redirection& redirect : node.redirects) blank(), redirection(redirect);
    };
    for (std::uint32_t i = 0; i < node.words.size(); ++i) {
      if (i == before) redirects();
      blank(), word(node.words[i]);
    }
    if (before == node.words.size()) redirects();
  }

  void compound(const Node& node) {
    switch (node.kind) {
      case Node::Kind::group:
        out_ += '{', body(node.body), out_ += '}';
        break;
      case Node::Kind::subshell:
        out_ += '(', body(node.body), out_ += ')';
        break;
      case Node::Kind::if_:
        if_node(node);
        break;
      case Node::Kind::while_:
      case Node::Kind::until:
        out_ += node.kind == Node::Kind::while_ ? "while" : "until";
        body(node.condition);
        out_ += "do";
        body(node.body);
        out_ += "done";
        break;
      case Node::Kind::for_:
      case Node::Kind::select:
        for_node(node);
        break;
      case Node::Kind::arithmetic_for:
        out_ += "for ((";
        for (std::uint32_t i = 0; i < node.arithmetic.size(); ++i)
          out_ += i > 0 ? ";" : "", parts(node.arithmetic[i], false);
        out_ += "))";
        newline();
        out_ += "do";
        body(node.body);
        out_ += "done";
        break;
      case Node::Kind::case_:
        case_node(node);
        break;
      case Node::Kind::function:
        out_ += "function ";
        out_ += node.name;
        out_ += " ()";
        newline();
        this->node(*node.inner);
        break;
      case Node::Kind::condition:
        out_ += "[[ ", condition(*node.test), out_ += " ]]";
        break;
      case Node::Kind::arithmetic:
        out_ += "((", parts(node.arithmetic[0], false), out_ += "))";
        break;
      case Node::Kind::coproc:
        out_ += "coproc ";
        if (!node.words.empty()) word(node.words[0]), out_ += ' ';
        if (node.inner->kind == Node::Kind::simple)
          simple(*node.inner, true);
        else
          this->node(*node.inner);
        break;
      case Node::Kind::simple:
        break;
    }
  }

  void if_node(const Node& node) {
    const Node* at = &node;
    out_ += "if";
    for (;;) {
      body(at->condition);
      out_ += "then";
      body(at->body);
      if (at->inner == nullptr) break;
      at = at->inner;
      out_ += "elif";
    }
    if (at->otherwise != nullptr) out_ += "else", body(at->otherwise);
    out_ += "fi";
  }

  void for_node(const Node& node) {
    out_ += node.kind == Node::Kind::for_ ? "for " : "select ";
    std::uint32_t first = 0;
    if (node.name.empty()) {
      word(node.words[0]);
      first = 1;
    } else {
      out_ += node.name;
    }
    if (node.has_in) {
      out_ += " in";
      for (std::uint32_t i = first; i < node.words.size(); ++i) out_ += ' ', word(node.words[i]);
    }
    newline();
    out_ += "do";
    body(node.body);
    out_ += "done";
  }

  void case_node(const Node& node) {
    out_ += "case ";
    word(node.words[0]);
    out_ += " in";
    newline();
    for (const CaseClause& clause : node.clauses) {
      out_ += '(';
      for (std::uint32_t i = 0; i < clause.patterns.size(); ++i) out_ += i > 0 ? " | " : "", word(clause.patterns[i]);
      out_ += ')';
      body(clause.body);
      static constexpr std::string_view ends[] = {";;", ";&", ";;&"};
      out_ += ends[static_cast<int>(clause.end)];
      newline();
    }
    out_ += "esac";
  }

  void condition(const Condition& test) {
    if (test.negated) out_ += "! ";
    switch (test.kind) {
      case Condition::Kind::unary:
        out_ += test.op, out_ += ' ', word(test.left);
        break;
      case Condition::Kind::binary:
        word(test.left);
        out_ += ' ';
        out_ += test.op;
        out_ += ' ';
        word(test.right);
        break;
      case Condition::Kind::grouped:
        out_ += "( ", condition(*test.first), out_ += " )";
        break;
      case Condition::Kind::and_and:
        condition(*test.first), out_ += " && ", condition(*test.second);
        break;
      case Condition::Kind::or_or:
        condition(*test.first), out_ += " || ", condition(*test.second);
        break;
    }
  }

  void redirection(const Redirection& redirect) {
    static constexpr std::string_view operators[] = {"<", ">", ">|", ">>", "<>", "<<", "<<<", "<&", ">&", "&>", "&>>"};
    if (redirect.has_variable) {
      out_ += '{';
      out_ += redirect.variable;
      out_ += '}';
    } else if (redirect.fd >= 0) {
      out_ += std::to_string(redirect.fd);
    }
    out_ += operators[static_cast<int>(redirect.kind)];
    if (redirect.here != nullptr) {
      if (redirect.here->strip_tabs) out_ += '-';
      pending_.push_back(redirect.here);
    }
    out_ += ' ';
    if (redirect.here != nullptr && !redirect.here->quoted) {
      out_ += redirect.here->delimiter;
    } else {
      word(redirect.target);
    }
  }

  void word(const Word& word) { parts(word.parts, false); }

  void parts(const Parts& parts, bool in_quotes) {
    for (const Part& each : parts) part(each, in_quotes);
  }

  void nested(std::string_view open, const List& inside) {
    std::vector<const HereDocument*> outer = std::move(pending_);
    pending_.clear();
    out_ += open;
    newline();
    list(inside);
    out_ += ')';
    pending_ = std::move(outer);
  }

  void backquoted(std::string_view text, bool in_quotes) {
    out_ += '`';
    for (char c : text) {
      if (c == '\\' || c == '`' || c == '$' || (c == '"' && in_quotes)) out_ += '\\';
      out_ += c;
    }
    out_ += '`';
  }

  void part(const Part& part, bool in_quotes) {
    switch (part.kind) {
      case Part::Kind::literal:
        out_ += part.text;
        break;
      case Part::Kind::escaped:
        out_ += '\\', out_ += part.text;
        break;
      case Part::Kind::single:
        out_ += '\'', out_ += part.text, out_ += '\'';
        break;
      case Part::Kind::ansi:
        out_ += "$'", out_ += part.text, out_ += '\'';
        break;
      case Part::Kind::dquote:
        out_ += '"', parts(part.parts, true), out_ += '"';
        break;
      case Part::Kind::locale:
        out_ += "$\"", parts(part.parts, true), out_ += '"';
        break;
      case Part::Kind::variable:
        out_ += '$', out_ += part.text;
        break;
      case Part::Kind::parameter:
        out_ += "${", parts(part.parts, in_quotes), out_ += '}';
        break;
      case Part::Kind::command:
        nested("$(", *part.list);
        break;
      case Part::Kind::process_in:
        nested("<(", *part.list);
        break;
      case Part::Kind::process_out:
        nested(">(", *part.list);
        break;
      case Part::Kind::backquote:
        backquoted(part.text, in_quotes);
        break;
      case Part::Kind::arithmetic:
        if (part.text == "[")
          out_ += "$[", parts(part.parts, false), out_ += ']';
        else
          out_ += "$((", parts(part.parts, false), out_ += "))";
        break;
      case Part::Kind::extglob:
        out_ += part.text, out_ += '(', parts(part.parts, false), out_ += ')';
        break;
      case Part::Kind::group:
        out_ += '(', parts(part.parts, false), out_ += ')';
        break;
      case Part::Kind::subscript:
        out_ += '[', parts(part.parts, false), out_ += ']';
        break;
      case Part::Kind::array:
        out_ += '(';
        for (const Word& each : *part.words) word(each), out_ += ' ';
        out_ += ')';
        break;
    }
  }

  std::string out_;
  std::vector<const HereDocument*> pending_;
};

}  // namespace

std::string print(const List& list) {
  Printer printer;
  printer.list(list);
  return printer.take();
}

}  // namespace cordon::shell
