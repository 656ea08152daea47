// The files a run left in its output directory.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "runner/request.h"

namespace cordon::code::runner {

/// What a file was when it was given, to see whether it was changed.
struct GivenFile {
  std::uint64_t inode = 0;
  std::int64_t changed_ns = 0;
};
using GivenFiles = std::map<std::string, GivenFile>;

/// Makes the output directory and places the request's files in it. False, with the reason in `trouble`, when one
/// cannot be placed.
bool place_files(const Request& request, GivenFiles& given, std::string& trouble);

/// Adds every regular file that is new or changed, as long as there is room, and counts it as given from then on; names
/// what was left out. Symbolic links are never followed.
void add_artifacts(const Request& request, GivenFiles& given, Reply& reply);

}  // namespace cordon::code::runner
