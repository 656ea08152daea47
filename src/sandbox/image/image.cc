#include "sandbox/image/image.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/text.h"
#include "sandbox/container/layout.h"
#include "sandbox/native/root_tree.h"
#include "sandbox/native/user_namespace.h"
#include "sys/file.h"

namespace cordon::sandbox::image {

namespace fs = std::filesystem;

namespace {

// Read by nobody in there, or about this machine. What programs need of /etc is added by name.
constexpr const char* left_out[] = {"/usr/share/doc/",
                                    "/usr/share/man/",
                                    "/usr/share/info/",
                                    "/usr/share/lintian/",
                                    "/usr/share/bug/",
                                    "/usr/share/doc-base/",
                                    "/usr/share/locale/",
                                    "/usr/share/bash-completion/",
                                    "/etc/",
                                    "/var/",
                                    "/lib/systemd/",
                                    "/usr/lib/systemd/",
                                    "/lib/udev/",
                                    "/usr/lib/udev/",
                                    "/boot/",
                                    "/usr/share/applications/",
                                    "/usr/share/pixmaps/",
                                    "/usr/share/icons/"};
constexpr const char* own_directories[] = {"etc",       "dev",   "proc",   "sys", "run",  "root",
                                           "srv",       "mnt",   "opt",    "var", "home", "home/sandboxuser",
                                           "workspace", "agent", ".cordon"};

class Writer {
 public:
  explicit Writer(const Sink& sink) : tar_(sink) {}

  Result<Contents> write(const Packages& packages, const std::vector<std::string>& names) {
    for (const char* name : own_directories) CHECK_OK(add_directory(name, 0755));
    CHECK_OK(add_directory("tmp", 01777));
    CHECK_OK(add_generated());
    for (const char* link : {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}) CHECK_OK(add(link));
    for (const std::string& name : names) {
      for (const std::string& path : TRY(packages.files(name))) {
        const bool out = std::ranges::any_of(left_out, [&](const char* prefix) { return path.starts_with(prefix); });
        if (!out) CHECK_OK(add(path));
      }
    }
    // /bin/sh is made by a script of its package, so no list names it.
    for (const char* path : {"/usr/bin/sh", "/etc/ld.so.cache", "/etc/os-release", "/etc/localtime", "/etc/mime.types",
                             "/etc/services", "/etc/protocols"}) {
      CHECK_OK(add(path));
    }
    CHECK_OK(add_certificates());
    CHECK_OK(add_alternatives());
    CHECK_OK(tar_.finish());
    return contents_;
  }

 private:
  Result<void> add_directory(const std::string& name, unsigned mode) {
    if (!seen_.insert(name).second) return {};
    return tar_.directory(name, mode);
  }

  Result<void> add_generated() {
    const container::Identity user{native::inner_id, native::inner_id};
    struct Generated {
      const char* name;
      std::string content;
    };
    for (const Generated& file :
         {Generated{"etc/passwd", container::passwd_for(user)}, Generated{"etc/group", container::group_for(user)},
          Generated{"etc/hosts", "127.0.0.1 localhost sandbox\n::1 localhost sandbox\n"},
          Generated{"etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"}}) {
      seen_.insert(file.name);
      CHECK_OK(tar_.file(file.name, file.content, 0644));
    }
    seen_.insert("var/tmp");
    return tar_.link("var/tmp", "/tmp");
  }

  /// Where /bin is a link to /usr/bin, dpkg may know a file by either name: what counts is where it lies.
  static std::string settled(const std::string& path) {
    std::error_code error;
    const fs::path given(path);
    const fs::path parent = fs::canonical(given.parent_path(), error);
    return error ? std::string() : (parent / given.filename()).string();
  }

  Result<void> add(const std::string& path) {
    const std::string place = settled(path);
    if (place.size() < 2) return {};
    const std::string name = place.substr(1);
    if (seen_.contains(name)) return {};
    struct stat status {};
    if (::lstat(place.c_str(), &status) != 0) return {};  // dpkg knows of it, and somebody removed it
    CHECK_OK(add_parents(name));
    if (S_ISDIR(status.st_mode)) return add_directory(name, status.st_mode & 0777);
    seen_.insert(name);
    if (S_ISLNK(status.st_mode)) {
      std::error_code error;
      const std::string target = fs::read_symlink(place, error);
      if (error) return {};
      return tar_.link(name, target);
    }
    if (!S_ISREG(status.st_mode)) return {};
    const auto file = sys::open_regular(place);
    if (!file) return {};  // not everybody's to read, so not an agent's either
    contents_.files += 1;
    contents_.bytes += static_cast<std::uint64_t>(status.st_size);
    return tar_.file(name, *file, static_cast<std::uint64_t>(status.st_size), status.st_mode & 0777);
  }

  Result<void> add_parents(const std::string& name) {
    for (std::size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1)) {
      CHECK_OK(add_directory(name.substr(0, slash), 0755));
    }
    return {};
  }

  Result<void> add_certificates() {
    std::error_code error;
    for (const auto& item : fs::directory_iterator("/etc/ssl/certs", error)) CHECK_OK(add(item.path()));
    return add("/etc/ssl/openssl.cnf");
  }

  /// /usr/bin/awk → /etc/alternatives/awk → /usr/bin/mawk: dpkg's lists name only the last.
  Result<void> add_alternatives() {
    std::error_code error;
    for (const auto& item : fs::directory_iterator("/usr/bin", error)) {
      const std::string way = fs::read_symlink(item.path(), error);
      if (error || !way.starts_with("/etc/alternatives/")) continue;
      const std::string end = fs::canonical(item.path(), error);
      if (error || !seen_.contains(end.substr(1))) continue;
      CHECK_OK(add(way));
      CHECK_OK(add(item.path()));
    }
    return {};
  }

  TarWriter tar_;
  std::set<std::string> seen_;
  Contents contents_;
};

}  // namespace

Result<Contents> write_image(const Packages& packages, const std::vector<std::string>& names, const Sink& sink) {
  return Writer(sink).write(packages, names);
}

std::vector<std::string> image_changes() {
  return {fmt::format("USER {0}:{0}", native::inner_id), "ENV PATH=/usr/local/bin:/usr/bin:/bin", "WORKDIR /",
          "LABEL cordon.image=1"};
}

std::string dockerfile() {
  std::string names;
  for (const std::string& name : usual_packages()) names += " " + name;
  return fmt::format(
      "# Cordon's sandbox image by an engine's own means. Build it: docker build -t cordon-sandbox - < Dockerfile\n"
      "FROM debian:12-slim\n"
      "RUN apt-get update && apt-get install -y --no-install-recommends{0} && rm -rf /var/lib/apt/lists/*\n"
      "RUN groupadd -g {1} {2} && useradd -m -u {1} -g {1} {2} && mkdir -p /workspace /agent /.cordon\n"
      "USER {1}:{1}\n"
      "LABEL cordon.image=1\n",
      names, native::inner_id, native::user_name);
}

}  // namespace cordon::sandbox::image
