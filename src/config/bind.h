// Which parts of the host may be shown inside a sandbox. See docs: "Binds" in the settings page.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/settings.h"

namespace cordon::config {

/// `path` with every symlink followed, also the dangling ones; what does not exist is kept as written. Absolute paths
/// only.
Result<std::string> resolve_links(const std::string& path);

/// Without `.`, `..`, double and trailing slashes.
std::string normal_path(std::string_view path);

/// Is `path` the directory `parent` or below it? Both normal.
bool is_within(std::string_view path, std::string_view parent);

/// What must never be bound, for the homes of this machine.
class BindRules {
 public:
  /// `home` is the user's; `own` are Cordon's own places (state, settings); `sockets` those of container engines beyond
  /// the usual.
  static BindRules create(std::string_view home, const std::vector<std::string>& own,
                          const std::vector<std::string>& sockets);
  /// For a daemon: to look up every home for each request takes longer than to judge it. What is looked up is where
  /// blocked places lead; what is asked about is resolved every time.
  static void remember_for(std::chrono::milliseconds lasting);

  /// Reads "host:sandbox[:ro|rw]"; without a mode it is read-only.
  Result<BindSetting> read(std::string_view text, const Origin& origin) const;

  /// Refuses a source that is, lies inside, or covers a blocked path, as written or resolved. Returns what it resolves
  /// to. `subject` begins the sentence: `bind "…"`.
  Result<std::string> check_source(std::string_view source, std::string_view subject, const Origin& origin) const;

  /// A workspace may lie inside a blocked place, but not be or cover one.
  Result<void> check_workspace(std::string_view workspace) const;

 private:
  struct Clash {
    const char* how;
    std::string path;
  };
  struct Blocked {
    std::string path;
    bool as_prefix = false;  // also everything whose name goes on after it
  };
  struct Table {
    std::vector<Blocked> blocked;
    std::vector<std::string> homes;

    void block(const std::string& path);
    void block(const std::string& path, bool as_prefix, const Result<std::string>& resolved);
    bool find_clash(std::string_view path, Clash& found) const;
    bool find_same_directory(const std::string& path, Clash& found) const;
  };
  struct Inputs {
    std::string home;
    std::vector<std::string> own;
    std::vector<std::string> sockets;
    std::chrono::steady_clock::time_point made_at;
    std::once_flag once;
    Table table;
  };
  struct Remembered {
    std::mutex lock;
    std::chrono::milliseconds lasting{0};
    std::vector<std::shared_ptr<Inputs>> rules;
  };
  static Remembered& remembered();

  /// Made at the first question: most settings have no bind, and looking up every home costs more than reading the
  /// files.
  const Table& table() const;

  std::shared_ptr<Inputs> inputs_;
};

}  // namespace cordon::config
