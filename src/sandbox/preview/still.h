// Whether a workspace still is what it was when a preview was made.
#pragma once

#include <string>
#include <vector>

#include "sandbox/preview/change.h"
#include "sys/fd.h"

namespace cordon::sandbox::preview {

enum class Strictness {
  untouched,  // every time stamp as it was, or the content proven the same
  moved,      // after a rename of ours, which moves ctime: the content is hashed where its hash is known
};

class Still {
 public:
  Still(const sys::Fd& root, const ChangeList& list) : root_(root), list_(list) {}

  /// One sentence for each path that is in the way.
  Result<std::vector<std::string>> conflicts() const;
  /// The directories above `path`, by what they were.
  Result<std::string> wrong_parents(const std::string& path) const;
  /// Why what `change` describes as before is not at `name` in `directory`, with everything below it; empty: it is.
  Result<std::string> wrong(const Change& change, const sys::Fd& directory, const std::string& name,
                            Strictness strictness) const;

 private:
  Result<std::string> wrong_node(const Change& change, const sys::Fd& directory, const std::string& name,
                                 Strictness strictness) const;
  Result<std::string> wrong_below(const Change& change, const sys::Fd& directory, const std::string& name,
                                  Strictness strictness) const;
  const sys::Fd& root_;
  const ChangeList& list_;
};

/// Whether something above `path` in the list decides what becomes of it: deleted, replaced or added as a whole.
const Change* decided_by(const ChangeList& list, std::string_view path);

}  // namespace cordon::sandbox::preview
