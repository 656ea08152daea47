// The upper layer of an overlay, read after everybody who wrote to it is dead, into a list of changes. Nothing in it is
// trusted: names, links, modes and sizes are those of whoever ran.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/preview/change.h"
#include "sandbox/preview/diff.h"
#include "sys/fd.h"

namespace cordon::sandbox::preview {

struct CollectLimits {
  std::size_t changes = 100'000;
  std::uint64_t content_bytes = 1ULL << 30;  // of all files, as long as they say they are
  std::size_t diff_bytes = 1U << 20;         // of all diffs together
  DiffLimits diff;
};

struct Layers {
  const sys::Fd& upper;
  const sys::Fd& lower;                      // the workspace
  std::vector<std::string> protected_paths;  // relative; a directory may end with a slash
  std::int64_t begun_ns = 0;                 // what has a younger ctime below was changed while the command ran
};

/// Takes a file's bytes in order, from its beginning to its end.
using Sink = std::function<Result<void>(std::string_view bytes)>;

/// `keep` may be empty: then files are only hashed. Fault::unavailable: it cannot be previewed, and why.
Result<ChangeList> collect(const Layers& layers, const CollectLimits& limits, const Sink& keep);

/// How many files and directories a throwaway layer holds, for saying that they are not kept.
Result<std::size_t> count_entries(const sys::Fd& directory, std::size_t limit);

/// The wall clock of files, as it is now.
std::int64_t file_clock_ns();

}  // namespace cordon::sandbox::preview
