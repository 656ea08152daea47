// The child between clone and exec: it shares memory with the launcher, so it uses raw calls only, allocates nothing,
// and says what went wrong in ChildNotes.
#pragma once

#include "sandbox/native/blueprint.h"
#include "sys/raw_files.h"

namespace cordon::sandbox::native {

class Child {
 public:
  Child(const Blueprint& blueprint, ChildNotes& notes) : plan(blueprint), notes_(notes) {}

  const Blueprint& plan;
  int host = -1;  // the host's root, while it can still be seen
  int empty_file = -1;

  /// False, and noted, when the kernel said no.
  bool ok(long result, const char* step, const char* object = "");
  /// Marks a step as done, for the table of costs.
  bool done(const char* step);

 private:
  ChildNotes& notes_;
};

}  // namespace cordon::sandbox::native
