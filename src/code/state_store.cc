#include "code/state_store.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "base/digest.h"

namespace cordon::code {

namespace {

constexpr std::size_t largest_state = 512u << 20;
constexpr std::size_t steps_kept = 16;
constexpr char magic[8] = {'C', 'O', 'R', 'D', 'O', 'N', 'J', '1'};

/// Before the engine's own bytes.
struct Header {
  char magic[8];
  std::uint64_t length;
  std::uint8_t digest[32];
};

std::string file_name(std::uint64_t step) { return fmt::format("{}.state", step); }

std::string encode(std::string_view bytes) {
  Header header{};
  std::memcpy(header.magic, magic, sizeof magic);
  header.length = bytes.size();
  const Digest digest = sha256(bytes);
  std::memcpy(header.digest, digest.bytes().data(), sizeof header.digest);
  std::string text(reinterpret_cast<const char*>(&header), sizeof header);
  return text.append(bytes);
}

Result<std::string> decode(const std::string& text, const std::string& name) {
  if (text.size() < sizeof(Header)) return fail(Fault::corrupt, "{} is cut off", name);
  const auto* header = reinterpret_cast<const Header*>(text.data());
  const std::string_view bytes = std::string_view(text).substr(sizeof(Header));
  if (std::memcmp(header->magic, magic, sizeof magic) != 0)
    return fail(Fault::corrupt, "{} is no state of a session", name);
  if (header->length != bytes.size() || std::memcmp(sha256(bytes).bytes().data(), header->digest, 32) != 0) {
    return fail(Fault::corrupt, "{} is damaged: roll the session back to an earlier step", name);
  }
  return std::string(bytes);
}

}  // namespace

Result<void> check_session_name(const std::string& session) {
  auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.' || c == ':';
  };
  if (session.empty() || session.size() > 128 || session.front() == '.' || !std::ranges::all_of(session, fits)) {
    return fail(Fault::invalid_input, "a session's name is 1 to 128 letters, digits, '-', '_', '.' or ':'");
  }
  return {};
}

Result<StateStore> StateStore::open(std::string directory) {
  CHECK_OK(sys::ensure_private_directory(directory));
  return StateStore(std::move(directory));
}

Result<std::string> StateStore::folder(const std::string& session) const {
  CHECK_OK(check_session_name(session));
  return directory_ + "/" + session;
}

Result<SessionHold> StateStore::hold(const std::string& session) const {
  CHECK_OK(check_session_name(session));
  // Beside the folder, so that it outlives the session's removal.
  return sys::FileLock::take(directory_ + "/" + session + ".lock");
}

Result<std::vector<std::uint64_t>> StateStore::steps(const std::string& session) const {
  std::vector<std::uint64_t> found;
  std::error_code error;
  const std::string path = TRY(folder(session));
  for (const auto& item : std::filesystem::directory_iterator(path, error)) {
    const std::string name = item.path().filename();
    std::uint64_t step = 0;
    const auto [end, trouble] = std::from_chars(name.data(), name.data() + name.size(), step);
    if (trouble == std::errc() && std::string_view(end) == ".state") found.push_back(step);
  }
  std::ranges::sort(found);
  return found;
}

Result<std::optional<StoredState>> StateStore::load(const std::string& session) const {
  const auto all = TRY(steps(session));
  if (all.empty()) return std::optional<StoredState>();
  const std::string path = TRY(folder(session)) + "/" + file_name(all.back());
  const std::string text = TRY(sys::read_file(path, largest_state + sizeof(Header)));
  std::string bytes = TRY(decode(text, path));
  return std::optional<StoredState>(StoredState{all.back(), std::move(bytes)});
}

Result<void> StateStore::save(const std::string& session, std::uint64_t step, std::string_view bytes) const {
  if (bytes.size() > largest_state) return fail(Fault::invalid_input, "the state of session {} is too large", session);
  const std::string path = TRY(folder(session));
  CHECK_OK(sys::ensure_private_directory(path));
  CHECK_OK(roll_back(session, step));
  CHECK_OK(sys::replace_file(path + "/" + file_name(step), encode(bytes), 0600));
  auto all = TRY(steps(session));
  std::error_code error;
  for (std::size_t i = 0; i + steps_kept < all.size(); ++i)
    std::filesystem::remove(path + "/" + file_name(all[i]), error);
  return {};
}

Result<std::uint64_t> StateStore::fork(const std::string& from, const std::string& to) const {
  auto state = TRY(load(from));
  if (!state) return fail(Fault::invalid_input, "there is no session {}", from);
  const auto taken = TRY(steps(to));
  if (!taken.empty()) return fail(Fault::conflict, "there is a session {} already", to);
  CHECK_OK(save(to, state->step, state->bytes));
  return state->step;
}

Result<void> StateStore::roll_back(const std::string& session, std::uint64_t step) const {
  const std::string path = TRY(folder(session));
  std::error_code error;
  const auto all = TRY(steps(session));
  for (std::uint64_t later : all) {
    if (later > step) std::filesystem::remove(path + "/" + file_name(later), error);
    if (error) return fail(Fault::unavailable, "remove step {} of session {}: {}", later, session, error.message());
  }
  return {};
}

Result<void> StateStore::remove(const std::string& session) const {
  std::error_code error;
  const std::string path = TRY(folder(session));
  std::filesystem::remove_all(path, error);
  if (error) return fail(Fault::unavailable, "remove session {}: {}", session, error.message());
  return {};
}

}  // namespace cordon::code
