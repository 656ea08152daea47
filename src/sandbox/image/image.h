// An image for container engines, made of the host's own Debian packages: no registry and no network.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/image/packages.h"
#include "sandbox/image/tar.h"

namespace cordon::sandbox::image {

struct Contents {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};

/// Writes the whole root as a tar: files of `packages` (a closure) but documentation, nothing of /etc that says
/// something about this machine, the sandbox's user.
Result<Contents> write_image(const Packages& packages, const std::vector<std::string>& names, const Sink& sink);

/// What an engine is told about the image beside its files.
std::vector<std::string> image_changes();

/// The same image by an engine's own means, for who prefers it.
std::string dockerfile();

}  // namespace cordon::sandbox::image
