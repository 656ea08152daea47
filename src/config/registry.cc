#include "config/registry.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

#include "base/json.h"
#include "base/text.h"
#include "config/bind.h"
#include "sys/capture.h"
#include "sys/file.h"

namespace cordon::config {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t largest_setting = 1 << 20;

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> made;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    made.emplace_back(trim(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return made;
}

std::vector<std::string> read_lines(const std::string& path) {
  const auto text = sys::read_file_if_exists(path, largest_setting);
  return text && *text ? lines_of(**text) : std::vector<std::string>{};
}

std::vector<std::string> files_in(const std::string& directory) {
  std::vector<std::string> made;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored)) made.push_back(entry.path().string());
  std::ranges::sort(made);
  return made;
}

class Search {
 public:
  explicit Search(const RegistrySearch& search) : search_(search) {}

  Presets run() {
    npm();
    pip();
    apt();
    cargo();
    git();
    Presets made;
    for (const auto& [preset, hosts] : found_) made[preset] = {hosts.begin(), hosts.end()};
    return made;
  }

 private:
  void add(const std::string& preset, std::string_view address) {
    if (const std::string host = host_of(address); !host.empty()) found_[preset].insert(host);
  }

  /// Every word of a line that is an address.
  void add_words(const std::string& preset, std::string_view line) {
    std::size_t at = 0;
    while ((at = line.find_first_not_of(" \t\"'=,", at)) != std::string_view::npos) {
      const std::size_t end = std::min(line.find_first_of(" \t\"'=,", at), line.size());
      add(preset, line.substr(at, end - at));
      at = end;
    }
  }

  std::string program(const std::string& name) const {
    for (std::string_view rest = search_.path; !rest.empty();) {
      const std::size_t end = std::min(rest.find(':'), rest.size());
      const std::string directory(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (!directory.starts_with('/')) continue;
      const std::string file = directory + "/" + name;
      const auto resolved = resolve_links(file);
      // What lies in the workspace may be the agent's own work.
      if (!resolved || is_within(*resolved, search_.workspace) || is_within(file, search_.workspace)) continue;
      std::error_code ignored;
      if (fs::is_regular_file(*resolved, ignored)) return file;
    }
    return "";
  }

  std::vector<std::string> ask(const std::string& name, std::vector<std::string> arguments) const {
    sys::Question question;
    question.argv = {program(name)};
    if (question.argv[0].empty()) return {};
    question.argv.insert(question.argv.end(), arguments.begin(), arguments.end());
    question.environment = {"HOME=" + search_.home, "PATH=" + path_outside(), "LC_ALL=C"};
    const auto answer = sys::capture(question);
    return answer ? lines_of(*answer) : std::vector<std::string>{};
  }

  std::string path_outside() const {
    std::string made;
    for (std::string_view rest = search_.path; !rest.empty();) {
      const std::size_t end = std::min(rest.find(':'), rest.size());
      const std::string_view directory = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (!directory.starts_with('/') || is_within(normal_path(directory), search_.workspace)) continue;
      made += (made.empty() ? "" : ":") + std::string(directory);
    }
    return made;
  }

  void npm() {
    for (const std::string& line : ask("npm", {"config", "get", "registry"})) add("npm", line);
    // Scopes have registries of their own: @scope:registry=…
    for (const std::string& line : read_lines(search_.home + "/.npmrc")) {
      if (line.starts_with('@') && line.find(":registry") != std::string::npos) add_words("npm", line);
    }
  }

  void pip() {
    bool set = false;
    for (const std::string& file :
         {search_.root + "/etc/pip.conf", search_.home + "/.pip/pip.conf", search_.home + "/.config/pip/pip.conf"}) {
      for (const std::string& line : read_lines(file)) {
        if (line.starts_with('#') || line.starts_with(';')) continue;
        set = set || line.starts_with("index-url");
        add_words("pip", line);
      }
    }
    if (set) return;
    // Not set: then it is what pip itself was built with, and where that index keeps its files.
    const auto answer = ask("python3", {"-I", "-c",
                                        "from pip._internal.models.index import PyPI as p\n"
                                        "print(p.simple_url)\nprint('https://' + p.file_storage_domain)"});
    for (const std::string& line : answer) add("pip", line);
  }

  void apt() {
    std::vector<std::string> files = files_in(search_.root + "/etc/apt/sources.list.d");
    files.push_back(search_.root + "/etc/apt/sources.list");
    for (const std::string& file : files) {
      for (const std::string& line : read_lines(file)) {
        const bool source = line.starts_with("deb ") || line.starts_with("deb-src ") || line.starts_with("URIs:");
        if (source) add_words("apt", line);
      }
    }
  }

  void cargo() {
    for (const char* file : {"/.cargo/config.toml", "/.cargo/config"}) {
      for (std::string line : read_lines(search_.home + file)) {
        if (line.starts_with('#')) continue;
        // "sparse+https://…"
        if (const std::size_t sparse = line.find("sparse+"); sparse != std::string::npos) line.erase(sparse, 7);
        add_words("cargo", line);
      }
    }
    // Cargo names each index it has used "HOST-HASH", and the index says where crates are downloaded from.
    for (const std::string& index : files_in(search_.home + "/.cargo/registry/index")) {
      const std::string name = fs::path(index).filename().string();
      add("cargo", "https://" + name.substr(0, name.rfind('-')));
      const auto text = sys::read_file_if_exists(index + "/config.json", largest_setting);
      if (!text || !*text) continue;
      const Json json = parse_json(**text);
      if (!json.is_object()) continue;
      for (const char* key : {"dl", "api"}) {
        if (json.contains(key) && json[key].is_string()) add("cargo", json[key].get<std::string>());
      }
    }
  }

  void git() {
    for (const char* scope : {"--global", "--system"}) {
      for (const std::string& line : ask("git", {"config", scope, "--list"})) {
        const bool names_address =
            line.starts_with("url.") || line.starts_with("credential.") || line.starts_with("http.");
        if (!names_address) continue;
        const std::size_t dot = line.find('.');
        const std::size_t end = std::min(line.rfind('.', line.find('=')), line.size());
        if (end > dot) add("git", line.substr(dot + 1, end - dot - 1));
      }
    }
  }

  const RegistrySearch& search_;
  std::map<std::string, std::set<std::string>> found_;
};

}  // namespace

std::string host_of(std::string_view address) {
  struct Scheme {
    std::string_view name;
    int port;
  };
  static constexpr Scheme schemes[] = {{"https://", 443}, {"http://", 80}, {"ssh://", 22}, {"git://", 9418}};
  int port = 0;
  for (const Scheme& scheme : schemes) {
    if (!address.starts_with(scheme.name)) continue;
    address.remove_prefix(scheme.name.size());
    port = scheme.port;
    break;
  }
  const bool short_form = port == 0;
  address = address.substr(0, address.find('/'));
  const std::size_t at = address.rfind('@');
  if (short_form && (at == std::string_view::npos || address.find(':', at) == std::string_view::npos)) return "";
  if (at != std::string_view::npos) address.remove_prefix(at + 1);
  if (const std::size_t colon = address.find(':'); colon != std::string_view::npos) {
    const std::string_view digits = address.substr(colon + 1);
    if (!short_form && std::from_chars(digits.data(), digits.data() + digits.size(), port).ec != std::errc()) return "";
    address = address.substr(0, colon);
  }
  if (short_form) port = 22;
  const std::string host = to_lower(address);
  const bool plain = !host.empty() && host.find('.') != std::string::npos && port > 0 && port < 65536 &&
                     host.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-_") == std::string::npos;
  return plain ? fmt::format("{}:{}", host, port) : "";
}

Presets find_registries(const RegistrySearch& search) { return Search(search).run(); }

}  // namespace cordon::config
