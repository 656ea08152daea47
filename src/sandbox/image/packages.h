// Which files of the host's own Debian packages make up an image.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace cordon::sandbox::image {

/// What a sandbox has by default, of what is installed here.
const std::vector<std::string>& usual_packages();

/// dpkg's record of what is installed.
class Packages {
 public:
  static Result<Packages> read(const std::string& dpkg_directory);
  /// For tests: `status` as dpkg writes it.
  static Packages parse(const std::string& status);

  bool installed(const std::string& name) const { return provided_.contains(name); }
  /// The packages and all that they need, sorted. One that is asked for and not installed is an error.
  Result<std::vector<std::string>> closure(const std::vector<std::string>& names) const;
  /// Absolute paths, as dpkg knows them.
  Result<std::vector<std::string>> files(const std::string& name) const;

 private:
  struct Package {
    std::string architecture;
    std::vector<std::vector<std::string>> needs;  // each: any one of these
  };
  std::map<std::string, Package> packages_;
  std::map<std::string, std::string> provided_;  // a name → the package that provides it
  std::string directory_;
};

}  // namespace cordon::sandbox::image
