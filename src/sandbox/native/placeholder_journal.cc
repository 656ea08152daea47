#include "sandbox/native/placeholder_journal.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>

#include "base/json.h"
#include "sandbox/native/reach.h"
#include "sys/liveness.h"

namespace cordon::sandbox::native {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view prefix = "by-";
constexpr std::size_t largest = 1 << 20;

std::string new_name() {
  static std::atomic<unsigned> counter{0};
  return fmt::format("{}{}-{}", prefix, sys::own_liveness(), counter.fetch_add(1));
}

bool is_running(const std::string& name) {
  return sys::is_alive(name.substr(prefix.size(), name.rfind('-') - prefix.size()));
}

std::vector<Placeholder> read_run(const std::string& file) {
  std::vector<Placeholder> held;
  const auto text = sys::read_file(file, largest);
  const Json list = text ? parse_json(*text) : Json();
  if (!list.is_array()) return held;
  for (const Json& item : list) {
    if (item.is_object()) held.push_back({item.value("path", ""), item.value("directory", false)});
  }
  return held;
}

std::string text_of(const std::vector<Placeholder>& placeholders) {
  Json list = Json::array();
  for (const Placeholder& item : placeholders) list.push_back({{"path", item.path}, {"directory", item.directory}});
  return list.dump();
}

/// If it still is empty, as we made it: what someone put there stays.
void remove_if_empty(const Placeholder& placeholder) {
  Reach reach;
  const fs::path path = placeholder.path;
  const sys::Fd parent = reach.directory(path.parent_path());
  struct stat status {};
  if (parent.get() < 0 || !reach.stat(parent.get(), path.filename(), status)) return;
  if (placeholder.directory && S_ISDIR(status.st_mode)) reach.unlink(parent.get(), path.filename(), AT_REMOVEDIR);
  if (!placeholder.directory && S_ISREG(status.st_mode) && status.st_size == 0)
    reach.unlink(parent.get(), path.filename(), 0);
}

}  // namespace

PlaceholderJournal::PlaceholderJournal(std::string directory, sys::FileLock lock)
    : directory_(std::move(directory)), lock_(std::move(lock)) {
  std::error_code error;
  for (const auto& item : fs::directory_iterator(directory_, error)) {
    const std::string name = item.path().filename();
    if (name.starts_with(prefix)) runs_[name] = read_run(item.path());
  }
}

Result<PlaceholderJournal> PlaceholderJournal::open(const std::string& state_directory) {
  const std::string directory = state_directory + "/placeholders";
  CHECK_OK(sys::ensure_private_directory(directory));
  return PlaceholderJournal(directory, TRY(sys::FileLock::take(directory + "/lock")));
}

bool PlaceholderJournal::holds(const std::string& path) const {
  return std::ranges::any_of(runs_, [&](const auto& run) {
    return std::ranges::any_of(run.second, [&](const Placeholder& held) { return held.path == path; });
  });
}

Result<std::string> PlaceholderJournal::enter(const std::vector<Placeholder>& placeholders) {
  const std::string name = new_name();
  CHECK_OK(sys::create_file(directory_ + "/" + name, text_of(placeholders), 0600));
  runs_[name] = placeholders;
  return name;
}

Result<void> PlaceholderJournal::share(const std::string& name, const std::string& mark) {
  const std::string other = fmt::format("{}{}-kept", prefix, mark);
  const auto held = runs_.find(name);
  if (held == runs_.end() || runs_.contains(other)) return {};
  CHECK_OK(sys::create_file(directory_ + "/" + other, text_of(held->second), 0600));
  runs_[other] = held->second;
  return {};
}

void PlaceholderJournal::leave(const std::string& name) { remove(name); }

void PlaceholderJournal::sweep() {
  std::vector<std::string> gone;
  for (const auto& [name, held] : runs_) {
    if (!is_running(name)) gone.push_back(name);
  }
  for (const std::string& name : gone) remove(name);
}

/// The placeholders first: killed in between, the journal still knows them.
void PlaceholderJournal::remove(const std::string& name) {
  const std::vector<Placeholder> held = std::move(runs_[name]);
  runs_.erase(name);
  for (const Placeholder& placeholder : held) {
    if (!holds(placeholder.path)) remove_if_empty(placeholder);
  }
  ::unlink((directory_ + "/" + name).c_str());
}

}  // namespace cordon::sandbox::native
