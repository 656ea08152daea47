#include "serve/install/install.h"

#include <sys/stat.h>

#include <filesystem>
#include <optional>

#include "sys/file.h"

namespace cordon::serve::install {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t largest_file = 64U << 20;

std::string backup_of(const std::string& path) { return path + ".before-cordon"; }

/// A file as it is, and as it is to be.
struct Change {
  std::string path;
  std::optional<std::string> before;
  Json after;
};

Result<Change> read(const std::string& path) {
  Change change{.path = path, .before = TRY(sys::read_file_if_exists(path, largest_file)), .after = Json::object()};
  if (!change.before) return change;
  change.after = parse_json(*change.before);
  if (!change.after.is_object()) {
    return fail(Fault::invalid_input,
                "{} is not plain JSON (a comment?), so nothing was changed; make it so, or add the hook by hand", path);
  }
  return change;
}

Result<void> make_parents(const std::string& path) {
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  return error
             ? Result<void>(fail(Fault::unavailable, "{}: {}", fs::path(path).parent_path().string(), error.message()))
             : Result<void>();
}

unsigned mode_of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777U : 0644U;
}

Result<void> write(const std::string& path, const std::string& content) {
  CHECK_OK(make_parents(path));
  // Someone may keep their settings elsewhere behind a link: what it points to is replaced, not the link.
  std::error_code error;
  const fs::path real = fs::weakly_canonical(path, error);
  const std::string target = error ? path : real.string();
  return sys::replace_file(target, content, mode_of(target));
}

std::string text_of(const Json& file) { return file.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

Result<void> apply(const Change& change, Report& report) {
  const std::string text = text_of(change.after);
  if (change.before == text) {
    report.push_back(change.path + " is as it should be");
    return {};
  }
  std::error_code ignored;
  if (change.before && !fs::exists(backup_of(change.path), ignored)) {
    CHECK_OK(sys::create_file(backup_of(change.path), *change.before, mode_of(change.path)));
    report.push_back("kept " + backup_of(change.path));
  }
  CHECK_OK(write(change.path, text));
  report.push_back((change.before ? "changed " : "wrote ") + change.path);
  return {};
}

/// Back to the backup where nothing else has changed since; gone where there was nothing before.
Result<void> put_back(const Change& change, Report& report) {
  const std::string backup = backup_of(change.path);
  const auto kept = TRY(sys::read_file_if_exists(backup, largest_file));
  std::error_code ignored;
  const Json kept_json = kept ? parse_json(*kept) : Json();
  if (kept && kept_json == change.after) {
    CHECK_OK(write(change.path, *kept));
    report.push_back("put back " + change.path);
  } else if (!kept && (change.after.empty() || change.after == Json{{"version", 1}})) {
    fs::remove(change.path, ignored);
    report.push_back("removed " + change.path);
    return {};
  } else {
    CHECK_OK(write(change.path, text_of(change.after)));
    report.push_back("took Cordon out of " + change.path);
  }
  fs::remove(backup, ignored);
  return {};
}

}  // namespace

Result<Report> wire(const Agent& agent, const Facts& facts) {
  std::vector<Change> changes;
  for (const Edit& edit : agent.edits(facts)) {
    Change change = TRY(read(edit.path));
    try {
      edit.remove(change.after);
      edit.add(change.after, facts);
    } catch (const Json::exception&) {
      return fail(Fault::invalid_input, "{} holds hooks or servers in a form that is not known; nothing was changed",
                  edit.path);
    }
    changes.push_back(std::move(change));
  }
  Report report;
  for (const Change& change : changes) CHECK_OK(apply(change, report));
  for (const OwnFile& file : agent.files(facts)) {
    CHECK_OK(write(file.path, file.content));
    report.push_back("wrote " + file.path);
  }
  return report;
}

Result<Report> unwire(const Agent& agent, const Facts& facts) {
  std::vector<Change> changes;
  for (const Edit& edit : agent.edits(facts)) {
    Change change = TRY(read(edit.path));
    if (!change.before) continue;
    edit.remove(change.after);
    changes.push_back(std::move(change));
  }
  Report report;
  for (const Change& change : changes) CHECK_OK(put_back(change, report));
  for (const OwnFile& file : agent.files(facts)) {
    std::error_code error;
    if (!fs::remove(file.path, error)) continue;
    report.push_back("removed " + file.path);
    fs::remove(fs::path(file.path).parent_path(), error);  // only if nothing else is in it
  }
  return report;
}

}  // namespace cordon::serve::install
