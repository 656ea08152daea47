#include "sandbox/preview/store.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/text.h"
#include "sys/liveness.h"
#include "sys/tree.h"

namespace cordon::sandbox::preview {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t largest_description = 256UL << 20;
constexpr std::string_view prefix = "prv_";
constexpr std::size_t id_bytes = 8;
constexpr const char* unfinished = ".new-";

tl::unexpected<Error> damaged() { return fail(Fault::corrupt, "a stored preview cannot be read"); }

Json exact(const std::string& bytes) {
  if (is_utf8(bytes)) return bytes;
  return {{"base64", to_base64(bytes)}};
}

Result<std::string> bytes_of(const Json& json, const char* key) {
  if (!json.contains(key)) return damaged();
  const Json& value = json[key];
  if (value.is_string()) return value.get<std::string>();
  if (value.is_object() && value.size() == 1 && value.contains("base64") && value["base64"].is_string()) {
    if (auto bytes = from_base64(value["base64"].get<std::string>())) return *std::move(bytes);
  }
  return damaged();
}

Result<Time> time_of(const Json& json, const char* key) {
  const auto time = from_rfc3339(TRY(bytes_of(json, key)));
  if (!time) return damaged();
  return *time;
}

/// What is asked often, beside what may be large.
struct Note {
  std::optional<Time> expires;
  std::string approval;
};

Note read_note(const std::string& directory) {
  constexpr std::size_t largest_note = 4096;
  const auto text = sys::read_file(directory + "/note.json", largest_note);
  const Json json = text ? parse_json(*text) : Json();
  if (!json.is_object()) return {};
  const auto expires = bytes_of(json, "expires");
  const auto approval = bytes_of(json, "approval");
  return {expires ? from_rfc3339(*expires) : std::nullopt, approval.value_or("")};
}

}  // namespace

bool is_preview_id(std::string_view id) {
  return id.starts_with(prefix) && id.size() == prefix.size() + 2 * id_bytes &&
         std::ranges::all_of(id.substr(prefix.size()),
                             [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

Json to_json(const Preview& preview) {
  return {{"version", 1},
          {"id", preview.id},
          {"workspace", exact(preview.workspace)},
          {"command", exact(preview.command)},
          {"approval", preview.approval},
          {"created", to_rfc3339(preview.created)},
          {"expires", to_rfc3339(preview.expires)},
          {"plan", preview.plan},
          {"result", preview.result},
          {"stdout", exact(preview.out)},
          {"stderr", exact(preview.err)},
          {"list", to_json(preview.list)},
          {"digest", preview.list.digest().hex()}};
}

Result<Preview> preview_from(std::string_view text) {
  const Json json = parse_json(text);
  if (!json.is_object() || !json.contains("version") || json["version"] != 1) return damaged();
  for (const char* key : {"plan", "result", "list"}) {
    if (!json.contains(key) || !json[key].is_object()) return damaged();
  }
  Preview preview;
  preview.id = TRY(bytes_of(json, "id"));
  preview.workspace = TRY(bytes_of(json, "workspace"));
  preview.command = TRY(bytes_of(json, "command"));
  preview.approval = TRY(bytes_of(json, "approval"));
  preview.created = TRY(time_of(json, "created"));
  preview.expires = TRY(time_of(json, "expires"));
  preview.plan = json["plan"];
  preview.result = json["result"];
  preview.out = TRY(bytes_of(json, "stdout"));
  preview.err = TRY(bytes_of(json, "stderr"));
  preview.list = TRY(change_list_from(json["list"]));
  if (!is_preview_id(preview.id) || !preview.workspace.starts_with("/")) return damaged();
  if (TRY(bytes_of(json, "digest")) != preview.list.digest().hex()) return damaged();
  return preview;
}

Store::Store(const std::string& state_dir, const Clock& clock, StoreLimits limits)
    : root_(state_dir + "/previews"), clock_(&clock), limits_(limits) {}

Sink Store::Draft::sink() {
  return [this](std::string_view bytes) { return sys::write_sparse(content_, path_ + "/content", bytes); };
}

Store::Draft::~Draft() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

Result<Store::Draft> Store::begin() const {
  CHECK_OK(sys::ensure_private_directory(root_));
  sweep();
  if (ids().size() >= limits_.previews || bytes_kept() >= limits_.bytes) {
    return fail(Fault::conflict, "no room for another preview ({} kept); see: cordon preview list, discard",
                ids().size());
  }
  const std::string id = std::string(prefix) + to_hex(TRY(random_bytes(id_bytes)));
  const std::string path = fmt::format("{}/{}{}-{}", root_, unfinished, sys::own_liveness(), id);
  CHECK_OK(sys::ensure_private_directory(path));
  const std::string name = path + "/content";
  sys::Fd content(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (content.get() < 0) return fail(Fault::unavailable, "create {}: {}", name, sys::errno_text(errno));
  return Draft(id, path, std::move(content));
}

Result<void> Store::keep(Draft draft, Preview& preview, Asked asked) const {
  preview.id = draft.id();
  preview.created = clock_->now();
  preview.expires = preview.created + limits_.lasts;
  // Its end may be a hole.
  const off_t end = ::lseek(draft.content_.get(), 0, SEEK_CUR);
  if (end < 0 || ::ftruncate(draft.content_.get(), end) != 0 || ::fsync(draft.content_.get()) != 0) {
    return fail(Fault::unavailable, "sync {}/content: {}", draft.path_, sys::errno_text(errno));
  }
  CHECK_OK(sys::replace_file(draft.path_ + "/preview.json",
                             to_json(preview).dump(-1, ' ', false, Json::error_handler_t::replace), 0600));
  const Json note = {{"expires", to_rfc3339(preview.expires)}, {"approval", preview.approval}};
  CHECK_OK(sys::create_file(draft.path_ + "/note.json", note.dump(), 0600));
  if (asked == Asked::in_earnest) CHECK_OK(sys::create_file(draft.path_ + "/earnest", "", 0600));
  std::error_code error;
  fs::rename(draft.path_, directory_of(preview.id), error);
  if (error) return fail(Fault::unavailable, "keep {}: {}", preview.id, error.message());
  draft.path_.clear();
  return {};
}

Result<Preview> Store::find(std::string_view id) const {
  const std::string path = directory_of(id) + "/preview.json";
  const auto text = is_preview_id(id) ? TRY(sys::read_file_if_exists(path, largest_description)) : std::nullopt;
  if (!text) {
    return fail(Fault::invalid_input, "there is no preview '{}'; see: cordon preview list", visible(id, Lines::escape));
  }
  Preview preview = TRY(preview_from(*text));
  if (preview.id != id) return damaged();
  return preview;
}

std::vector<std::string> Store::ids() const {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& item : fs::directory_iterator(root_, error)) {
    if (std::string name = item.path().filename(); is_preview_id(name)) found.push_back(std::move(name));
  }
  return found;
}

Result<std::vector<Preview>> Store::list() const {
  sweep();
  std::vector<Preview> previews;
  for (const std::string& id : ids()) {
    if (auto preview = find(id)) previews.push_back(*std::move(preview));
  }
  std::ranges::sort(previews, std::greater<>(), &Preview::created);
  return previews;
}

Result<std::optional<Preview>> Store::find_for_approval(std::string_view approval) const {
  for (const std::string& id : ids()) {
    if (read_note(directory_of(id)).approval == approval) return std::optional(TRY(find(id)));
  }
  return std::optional<Preview>();
}

Result<void> Store::attach(std::string_view id, std::string_view approval) const {
  const Note note = read_note(directory_of(id));
  if (!note.expires) return damaged();
  const Json json = {{"expires", to_rfc3339(*note.expires)}, {"approval", approval}};
  return sys::replace_file(directory_of(id) + "/note.json", json.dump(), 0600);
}

std::string Store::approval_of(std::string_view id) const { return read_note(directory_of(id)).approval; }

void Store::let_go(std::string_view approval) const {
  if (approval.empty()) return;
  forget_making(making_directory(), approval);
  for (const std::string& id : ids()) {
    std::error_code error;
    if (approval_of(id) != approval || fs::exists(directory_of(id) + "/journal.json", error)) continue;
    const auto preview = find(id);
    const bool made_for_it = !preview || preview->approval == approval;
    static_cast<void>(made_for_it ? remove(id) : attach(id, ""));
  }
}

Result<std::optional<Making>> Store::begin_making(std::string_view approval) const {
  CHECK_OK(sys::ensure_private_directory(root_));
  return Making::begin(making_directory(), approval);
}

Result<Making> Store::adopt_making(std::string_view approval, sys::Fd file) const {
  return Making::adopt(making_directory(), approval, std::move(file));
}

Progress Store::progress(std::string_view approval) const { return progress_of(making_directory(), approval); }

Result<sys::FileLock> Store::wait_for_turn(std::string_view approval) const {
  constexpr std::size_t at_once = 2;
  const std::size_t turn = std::hash<std::string_view>()(approval) % at_once;
  return sys::FileLock::take(fmt::format("{}/turn-{}", root_, turn));
}

bool Store::is_only_dry(std::string_view id) const {
  std::error_code error;
  return !fs::exists(directory_of(id) + "/earnest", error);
}

void Store::set_earnest(std::string_view id) const {
  static_cast<void>(sys::create_file(directory_of(id) + "/earnest", "", 0600));
}

Result<void> Store::remove(std::string_view id) const {
  if (!is_preview_id(id)) return fail(Fault::invalid_input, "there is no preview '{}'", visible(id, Lines::escape));
  // Renamed first: half a preview is never found under its id.
  const std::string doomed = fmt::format("{}/{}{}-{}", root_, unfinished, sys::own_liveness(), id);
  std::error_code error;
  fs::rename(directory_of(id), doomed, error);
  if (!error) fs::remove_all(doomed, error);
  if (error) return fail(Fault::unavailable, "remove preview {}: {}", id, error.message());
  return {};
}

void Store::sweep() const {
  std::error_code error;
  forget_makings(making_directory(), clock_->now() - limits_.lasts);
  for (const auto& item : fs::directory_iterator(root_, error)) {
    const std::string name = item.path().filename();
    if (name.starts_with(unfinished)) {
      const std::string rest = name.substr(std::string_view(unfinished).size());
      if (!sys::is_alive(rest.substr(0, rest.rfind('-')))) fs::remove_all(item.path(), error);
    } else if (is_preview_id(name) && !fs::exists(item.path() / "journal.json", error)) {
      const auto expires = read_note(item.path()).expires;
      if (!expires || *expires <= clock_->now()) static_cast<void>(remove(name));
    }
  }
}

std::uint64_t Store::bytes_kept() const {
  std::uint64_t total = 0;
  std::error_code error;
  for (const auto& item : fs::recursive_directory_iterator(root_, error)) {
    if (item.is_regular_file(error)) total += item.file_size(error);
  }
  return total;
}

Result<sys::Fd> Store::open_content(std::string_view id) const {
  return sys::open_regular(directory_of(id) + "/content");
}

Result<sys::FileLock> Store::lock() const {
  CHECK_OK(sys::ensure_private_directory(root_));
  return sys::FileLock::take(root_ + "/lock");
}

}  // namespace cordon::sandbox::preview
