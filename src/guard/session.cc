#include "guard/session.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "base/digest.h"
#include "base/json.h"
#include "base/text.h"
#include "sys/file.h"

namespace cordon::guard {

namespace {

constexpr std::size_t largest_note = 64 * 1024;
constexpr std::size_t largest_gitconfig = 256 * 1024;
// Noting every use would cost a write per run; a minute is fine for "last used".
constexpr auto note_again_after = std::chrono::minutes(1);

std::string text_of(const Json& json, const char* key) {
  return json.is_object() && json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : "";
}

std::optional<Session> read_note(const std::string& directory) {
  const auto text = sys::read_file(directory + "/session.json", largest_note);
  if (!text) return std::nullopt;
  const Json json = Json::parse(*text, nullptr, false);
  const auto created = from_rfc3339(text_of(json, "created"));
  const auto used = from_rfc3339(text_of(json, "used"));
  if (!created || !used || text_of(json, "key").empty()) return std::nullopt;
  return Session{text_of(json, "key"), text_of(json, "agent"), text_of(json, "workspace"), directory, *created, *used};
}

Result<void> write_note(const Session& session) {
  const Json json = {{"key", session.key},
                     {"agent", session.agent},
                     {"workspace", session.workspace},
                     {"created", to_rfc3339(session.created)},
                     {"used", to_rfc3339(session.used)}};
  return sys::replace_file_unsynced(session.directory + "/session.json",
                                    json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n", 0600);
}

}  // namespace

std::string Sessions::key_of(const Request& request, SandboxScope scope) {
  const Principal& asker = request.asker;
  switch (scope) {
    case SandboxScope::shared:
      return "shared";
    case SandboxScope::agent:
      return fmt::format("agent:{}", asker.agent);
    case SandboxScope::session:
      break;
  }
  if (!asker.session.empty()) return asker.session;
  return fmt::format("agent:{}:workspace:{}", asker.agent, sha256(request.workspace).hex().substr(0, 16));
}

std::string Sessions::directory_of(std::string_view key) const { return root_ + "/" + sha256(key).hex().substr(0, 32); }

Session Sessions::look(const std::string& key, const Request& request) const {
  return {key, request.asker.agent, request.workspace, directory_of(key), {}, {}};
}

Result<Session> Sessions::enter(const std::string& key, const Request& request, Time now) const {
  const std::string directory = directory_of(key);
  CHECK_OK(sys::ensure_private_directory(directory));
  auto session = read_note(directory);
  if (session && session->key == key && now - session->used < note_again_after) return *std::move(session);
  if (!session || session->key != key) {
    session = Session{key, request.asker.agent, request.workspace, directory, now, now};
  }
  session->used = now;
  CHECK_OK(write_note(*session));
  return *std::move(session);
}

Result<std::vector<Session>> Sessions::list() const {
  std::vector<Session> sessions;
  std::error_code error;
  for (const auto& item : std::filesystem::directory_iterator(root_, error)) {
    if (auto session = read_note(item.path().string())) sessions.push_back(*std::move(session));
  }
  std::sort(sessions.begin(), sessions.end(), [](const Session& a, const Session& b) { return a.used > b.used; });
  return sessions;
}

Result<void> Sessions::remove(const std::string& key) const {
  std::error_code error;
  const std::string directory = directory_of(key);
  if (!std::filesystem::exists(directory, error)) return fail(Fault::invalid_input, "there is no session '{}'", key);
  // Renamed first: half a session is never found under its name.
  const std::string doomed = directory + ".removed";
  std::filesystem::rename(directory, doomed, error);
  if (!error) std::filesystem::remove_all(doomed, error);
  if (error) return fail(Fault::unavailable, "cannot remove the files of session '{}': {}", key, error.message());
  return {};
}

// Only [user] name and email are taken; what else stands there (aliases, helpers, includes) is none of a sandbox's.
void add_git_identity(const std::string& home, SessionDirectory& session) {
  const auto text = sys::read_file_if_exists(home + "/.gitconfig", largest_gitconfig);
  if (!text || !*text) return;
  std::istringstream lines(**text);
  std::string line;
  bool in_user = false;
  while (std::getline(lines, line)) {
    std::string_view rest = trim(line);
    if (rest.starts_with("[")) {
      in_user = to_lower(rest.substr(0, rest.find(']') + 1)) == "[user]";
      continue;
    }
    const std::size_t equals = rest.find('=');
    if (!in_user || equals == std::string_view::npos) continue;
    const std::string name = to_lower(trim(rest.substr(0, equals)));
    std::string_view value = trim(rest.substr(equals + 1));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
    if (value.find_first_of("\"\\\n[]") != std::string_view::npos) continue;
    if (name == "name") session.git_name = value;
    if (name == "email") session.git_email = value;
  }
}

}  // namespace cordon::guard
