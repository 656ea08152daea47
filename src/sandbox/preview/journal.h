// What a commit is about to do, written down before it does, so that another process can go on with it or undo it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cordon::sandbox::preview {

struct Operation {
  enum class Do {
    place,     // what is staged goes where nothing is
    exchange,  // what is staged and what is there change places
    remove,    // what is there goes to the stage
    mode,      // what is there gets another mode
  };
  Do what = Do::place;
  std::string path;
  std::string staged;       // its name on the stage
  std::uint64_t inode = 0;  // of what was staged: tells on which side of the rename things are
  bool operator==(const Operation&) const = default;
};

struct Journal {
  enum class State {
    staging,   // the workspace is as it was, but for the stage
    applying,  // anything between the old and the new tree
    applied,   // the new tree; only the stage is still to be removed
  };
  State state = State::staging;
  std::uint64_t device = 0;  // of the stage
  std::uint64_t inode = 0;
  std::vector<Operation> operations;
  bool operator==(const Journal&) const = default;
};

std::string to_text(const Journal& journal);
Result<Journal> journal_from(std::string_view text);

/// Durable when it returns.
Result<void> write_journal(const std::string& directory, const Journal& journal);
/// Nothing: no commit is under way.
Result<std::optional<Journal>> read_journal(const std::string& directory);

}  // namespace cordon::sandbox::preview
