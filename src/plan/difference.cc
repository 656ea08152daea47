#include <fmt/format.h>

#include <map>

#include "base/text.h"
#include "plan/plan.h"

namespace cordon::plan {

namespace {

std::string word(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

/// Rows of an array of objects, by one of their keys.
std::map<std::string, Json> by_key(const Json& rows, const char* key) {
  std::map<std::string, Json> found;
  if (!rows.is_array()) return found;
  for (const Json& row : rows) {
    if (row.is_object() && row.contains(key)) found[word(row[key])] = row;
  }
  return found;
}

class Differences {
 public:
  Differences(const Json& before, const Json& now) : before_(before), now_(now) {}

  std::vector<std::string> find() {
    programs();
    directory();
    files();
    environment();
    plain("runs", "what is executed is another argument list");
    plain("where", "it would run somewhere else");
    plain("backend", "it would be isolated by another backend");
    plain("image", "the container image is another one");
    plain("workspace", "the workspace or its access is another one");
    plain("grants", "it needs other grants");
    plain("binds", "other directories are shown to it");
    plain("unpinned", "what cannot be pinned is another list");
    plain("network", "the network it has is another one");
    plain("limits", "the limits are others");
    plain("policy", "the settings changed");
    if (found_.empty() && value(before_, "digest") != value(now_, "digest")) {
      found_.emplace_back("the request itself is another one");
    }
    return std::move(found_);
  }

 private:
  static Json value(const Json& object, const char* key) {
    return object.is_object() && object.contains(key) ? object[key] : Json();
  }
  void say(std::string sentence) { found_.push_back(visible(sentence, Lines::escape)); }

  void plain(const char* key, const char* sentence) {
    if (value(before_, key) != value(now_, key)) say(sentence);
  }

  void programs() {
    const Json before = value(before_, "program");
    const Json now = value(now_, "program");
    if (before == now) return;
    if (before.is_null() || now.is_null()) {
      say(now.is_null() ? fmt::format("the program {} is gone", word(value(before, "path")))
                        : fmt::format("the program is now there: {}", word(value(now, "path"))));
      return;
    }
    if (value(before, "path") != value(now, "path")) {
      say(fmt::format("the program is {}, not {}", word(value(now, "path")), word(value(before, "path"))));
    } else {
      say(fmt::format("the program {} is another file", word(value(now, "path"))));
    }
  }

  void directory() {
    const Json before = value(before_, "cwd");
    const Json now = value(now_, "cwd");
    if (before != now) say(fmt::format("the working directory {} is another one", word(value(before, "path"))));
  }

  void files() {
    const auto before = by_key(value(before_, "files"), "path");
    const auto now = by_key(value(now_, "files"), "path");
    for (const auto& [path, row] : before) {
      const auto found = now.find(path);
      if (found == now.end()) {
        say(fmt::format("{} is gone", path));
      } else if (value(found->second, "sha256") != value(row, "sha256")) {
        say(fmt::format("{} has another content", path));
      } else if (found->second != row) {
        say(fmt::format("{} is another file with the same content", path));
      }
    }
    for (const auto& [path, row] : now) {
      if (!before.contains(path)) say(fmt::format("{} is new", path));
    }
  }

  void environment() {
    const Json before = value(before_, "environment");
    const Json now = value(now_, "environment");
    if (!before.is_object() || !now.is_object()) return;
    for (const auto& [name, old] : before.items()) {
      if (!now.contains(name)) say(fmt::format("the variable {} is gone", name));
      if (now.contains(name) && now[name] != old) say(fmt::format("the variable {} has another value", name));
    }
    for (const auto& [name, fresh] : now.items()) {
      if (!before.contains(name)) say(fmt::format("the variable {} is new", name));
    }
  }

  const Json& before_;
  const Json& now_;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> differences(const Json& before, const Json& now) { return Differences(before, now).find(); }

}  // namespace cordon::plan
