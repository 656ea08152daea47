// Looking at one file: what it is, which one it is, what it holds.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>

#include "base/result.h"
#include "sandbox/preview/change.h"
#include "sys/fd.h"

namespace cordon::sandbox::preview {

Kind kind_of(const struct stat& status);
/// Without the hash of its content.
Node node_of(const struct stat& status);
FileIdentity identity_of(const struct stat& status);

struct Hashed {
  Digest content;
  std::uint64_t size = 0;
  std::optional<std::string> text;  // the bytes, where they are no more than asked for
};
Result<Hashed> hash_file(const sys::Fd& file, const std::string& name, std::size_t keep_up_to);

}  // namespace cordon::sandbox::preview
