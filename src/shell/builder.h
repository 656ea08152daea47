// Puts the words of a command together from expanded pieces: splitting, patterns, what an empty expansion leaves.
#pragma once

#include <string>
#include <vector>

#include "shell/evaluator.h"

namespace cordon::shell {

class Evaluator::Builder {
 public:
  Builder(Context context, bool noglob) : context_(context), noglob_(noglob) {}

  bool splits() const { return context_ == Context::word && !quoted; }
  bool patterns() const { return (context_ == Context::word || context_ == Context::pattern) && !quoted; }
  Context context() const { return context_; }
  void separators(bool known, std::string_view text) { ifs_known_ = known, ifs_ = text; }

  /// Text that is neither split nor a pattern.
  void literal(std::string_view text);
  /// Unquoted text of the script: not split, but a pattern.
  void pattern(std::string_view text);
  /// The result of an expansion, under the quoting in force.
  void value(const Value& value);
  void unknown(Piece piece);
  /// Any number of words, quoted or not: "$@".
  void unknown_list(Piece piece);
  /// An extended pattern as written.
  void glob(std::string_view text);
  /// Quotes were here: the word exists even if empty.
  void exist() { exists_ = true, soft_end_ = false; }
  void end_field();
  bool at_start() const { return current_.empty() && !exists_; }
  bool is_new() const { return done_.empty() && at_start(); }
  std::vector<Field> finish(Span where);
  Field finish_one(Span where);

  bool quoted = false;
  bool extended = false;  // extglob may be on

 private:
  void split(std::string_view text);
  void settle_brackets();

  Context context_;
  bool noglob_;
  bool ifs_known_ = true;
  std::string_view ifs_ = " \t\n";
  std::vector<Piece> current_;
  bool exists_ = false;
  bool soft_end_ = false;  // only blanks since the last word ended
  bool bracket_ = false;
  std::vector<Field> done_;
};

}  // namespace cordon::shell
