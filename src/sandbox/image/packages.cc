#include "sandbox/image/packages.h"

#include <algorithm>
#include <set>
#include <sstream>

#include "base/text.h"
#include "sys/file.h"

namespace cordon::sandbox::image {

namespace {

constexpr std::size_t largest_status = 256U << 20;
constexpr std::size_t largest_list = 64U << 20;

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(at);
    parts.emplace_back(trim(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// "libc6:any (>= 2.36) [amd64]" → "libc6"
std::string name_in(std::string_view dependency) {
  return std::string(trim(dependency.substr(0, dependency.find_first_of(" (:["))));
}

}  // namespace

const std::vector<std::string>& usual_packages() {
  static const std::vector<std::string> names = {"bash",
                                                 "dash",
                                                 "coreutils",
                                                 "findutils",
                                                 "grep",
                                                 "sed",
                                                 "mawk",
                                                 "gawk",
                                                 "diffutils",
                                                 "patch",
                                                 "tar",
                                                 "gzip",
                                                 "bzip2",
                                                 "xz-utils",
                                                 "unzip",
                                                 "zip",
                                                 "file",
                                                 "less",
                                                 "procps",
                                                 "python3",
                                                 "perl",
                                                 "git",
                                                 "make",
                                                 "nodejs",
                                                 "jq",
                                                 "bc",
                                                 "tzdata",
                                                 "libc-bin",
                                                 "debianutils",
                                                 "util-linux",
                                                 "ca-certificates",
                                                 "openssl",
                                                 "sqlite3"};
  return names;
}

Packages Packages::parse(const std::string& status) {
  Packages result;
  std::istringstream lines(status);
  std::string name;
  std::string provides;
  bool installed = false;
  Package package;
  const auto finish = [&] {
    if (!name.empty() && installed) {
      result.provided_[name] = name;
      for (const std::string& other : split(provides, ',')) {
        if (!other.empty()) result.provided_.emplace(name_in(other), name);
      }
      result.packages_[name] = std::move(package);
    }
    name.clear();
    provides.clear();
    installed = false;
    package = {};
  };
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) {
      finish();
      continue;
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || line.front() == ' ') continue;
    const std::string key = line.substr(0, colon);
    const std::string value(trim(std::string_view(line).substr(colon + 1)));
    if (key == "Package") name = value;
    if (key == "Status") installed = value.ends_with(" installed");
    if (key == "Architecture") package.architecture = value;
    if (key == "Provides") provides = value;
    if (key != "Depends" && key != "Pre-Depends") continue;
    for (const std::string& need : split(value, ',')) {
      std::vector<std::string> any;
      for (const std::string& one : split(need, '|')) any.push_back(name_in(one));
      package.needs.push_back(std::move(any));
    }
  }
  finish();
  return result;
}

Result<Packages> Packages::read(const std::string& dpkg_directory) {
  auto status = sys::read_file(dpkg_directory + "/status", largest_status);
  if (!status) {
    return fail(
        Fault::unavailable,
        "this machine has no Debian packages to make an image of ({}); use the Dockerfile: cordon image dockerfile",
        status.error().sentence);
  }
  Packages packages = parse(*status);
  packages.directory_ = dpkg_directory;
  return packages;
}

Result<std::vector<std::string>> Packages::closure(const std::vector<std::string>& names) const {
  std::set<std::string> found;
  std::vector<std::string> open;
  for (const std::string& name : names) {
    const auto known = provided_.find(name);
    if (known == provided_.end()) {
      return fail(Fault::invalid_input, "the package {} is not installed here; install it first: apt install {}", name,
                  name);
    }
    open.push_back(known->second);
  }
  while (!open.empty()) {
    const std::string name = std::move(open.back());
    open.pop_back();
    if (!found.insert(name).second) continue;
    for (const auto& any : packages_.at(name).needs) {
      for (const std::string& one : any) {
        if (const auto known = provided_.find(one); known != provided_.end()) {
          open.push_back(known->second);
          break;
        }
      }
    }
  }
  return std::vector<std::string>(found.begin(), found.end());
}

Result<std::vector<std::string>> Packages::files(const std::string& name) const {
  const Package& package = packages_.at(name);
  auto text = sys::read_file_if_exists(fmt::format("{}/info/{}.list", directory_, name), largest_list);
  if (text && !*text) {
    text = sys::read_file_if_exists(fmt::format("{}/info/{}:{}.list", directory_, name, package.architecture),
                                    largest_list);
  }
  if (!text || !*text) return fail(Fault::unavailable, "dpkg has no list of the files of {}", name);
  std::vector<std::string> paths;
  for (std::string& path : split(**text, '\n')) {
    if (path.starts_with("/") && path != "/.") paths.push_back(std::move(path));
  }
  return paths;
}

}  // namespace cordon::sandbox::image
