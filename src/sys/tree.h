// A tree of files that a stranger may have made: every name is resolved below an open directory, never through a
// symbolic link and never onto another mount.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sys/fd.h"

namespace cordon::sys {

/// Opens `path` ("" is the directory itself). Regular files are opened without blocking on what is none.
Result<Fd> open_beneath(const Fd& root, const std::string& path, int flags);
/// Nothing when it is not there.
Result<std::optional<struct stat>> stat_beneath(const Fd& root, const std::string& path);
Result<struct stat> stat_of(const Fd& file, const std::string& name);

/// Names of everything but "." and "..", sorted; more than `limit` is an error.
Result<std::vector<std::string>> names_in(const Fd& directory, const std::string& name, std::size_t limit);
Result<std::string> link_target(const Fd& directory, const std::string& name);
/// Of a file opened with O_PATH or otherwise: by its descriptor, so that no name is resolved again.
Result<void> change_mode(const Fd& file, unsigned mode, const std::string& name);
/// The value, or nothing.
std::optional<std::string> attribute_of(const Fd& file, const char* attribute);

enum class Onto { nothing, exchange };
/// Within one file system. `nothing`: fails with Fault::conflict where something is in the way.
Result<void> rename_at(const Fd& from, const std::string& name, const Fd& to, const std::string& other, Onto onto);

/// Appends, and leaves a hole where there are only zeros: a file that is long and empty stays so. Whoever ends with one
/// sets the length.
Result<void> write_sparse(const Fd& file, const std::string& name, std::string_view bytes);

/// Removes `name` in `directory` with everything below it; what is not there is no error.
Result<void> remove_tree(const Fd& directory, const std::string& name);

/// "a/b/c" → "a/b" and "c"; the parent is empty at the top.
struct PathParts {
  std::string parent;
  std::string name;
};
PathParts split_path(std::string_view path);

}  // namespace cordon::sys
