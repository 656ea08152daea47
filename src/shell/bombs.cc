// Loops that exhaust the machine: jobs without end, files and variables that only grow.
#include <algorithm>

#include "shell/evaluator.h"

namespace cordon::shell {

namespace {

constexpr unsigned long too_many_jobs = 1000;

/// a=$a$a, a=x$a, a+=x: longer after each round.
bool grows(const Assignment& assignment) {
  if (assignment.append) return true;
  const auto& pieces = assignment.value.pieces;
  return pieces.size() > 1 && std::any_of(pieces.begin(), pieces.end(),
                                          [&](const Piece& piece) { return piece.variable == assignment.name; });
}

bool only_writes(std::string_view name) {
  constexpr std::string_view names[] = {"cat", "echo", "printf", "true", ":", "head", "dd", "seq", "date"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

/// The largest number in the head of a loop: seq 5000, {1..5000}, i<5000.
unsigned long rounds(std::string_view head) {
  unsigned long most = 0, number = 0;
  for (char c : head.substr(0, head.find("do"))) {
    const bool digit = c >= '0' && c <= '9';
    number = digit ? std::min(number * 10 + static_cast<unsigned long>(c - '0'), 1'000'000'000UL) : 0;
    most = std::max(most, number);
  }
  return most;
}

}  // namespace

/// Background commands in what was emitted since `first`, with nothing that waits for them.
bool Evaluator::starts_jobs(std::size_t first, const Flow& flow) const {
  bool starts = false;
  for (std::size_t i = first; i < script_.commands.size(); ++i) {
    const Command& command = script_.commands[i];
    if (!command.words.empty() && command.words[0].text() == "wait") return false;
    starts |=
        command.background && command.kind != Command::Kind::compound && command.in_substitution == flow.substitution;
  }
  return starts;
}

// An endless loop that keeps starting background jobs is a bomb without a function; one that does nothing but append to
// a file fills the disk, one that only lengthens a variable the memory.
void Evaluator::note_endless(std::size_t first, Span where, const Flow& flow) {
  bool appends = false, writes = true;
  for (std::size_t i = first; i < script_.commands.size(); ++i) {
    const Command& command = script_.commands[i];
    for (const Redirect& redirect : command.redirects) {
      appends = appends || (redirect.kind == Redirect::Kind::append && !redirect.target.text().starts_with("/dev/"));
    }
    if (command.words.empty()) {
      appends = appends || std::any_of(command.assignments.begin(), command.assignments.end(), grows);
      continue;
    }
    const std::string name = command.words[0].text();
    const bool makes = name == "mkdir" || name == "mktemp" || name == "cp";
    appends = appends || makes;
    if (makes || name == "cd") continue;
    writes = writes && only_writes(name);
  }
  if (appends && writes) odd(Oddity::Kind::filling, "an endless loop that only writes", where);
  if (flow.background) return;
  if (starts_jobs(first, flow)) odd(Oddity::Kind::fork_bomb, "an endless loop that starts background commands", where);
}

// A loop that ends, but not before it has started more jobs than a machine can hold.
void Evaluator::note_many(std::size_t first, Span where, const Flow& flow) {
  if (!starts_jobs(first, flow)) return;
  const std::string_view text = script_.text;
  if (where.begin >= text.size() || rounds(text.substr(where.begin, 200)) < too_many_jobs) return;
  odd(Oddity::Kind::fork_bomb, "a loop that starts thousands of background commands", where);
}

}  // namespace cordon::shell
