// Reads what programs print when something was refused. The text is the sandboxed program's: it can claim anything, and
// so this is only ever a hint to a person.
#include <algorithm>
#include <optional>

#include "sandbox/native/violations.h"

namespace cordon::sandbox::native {

namespace {

constexpr std::size_t most_input = 64 * 1024;
constexpr std::size_t most_hints = 16;
constexpr std::size_t longest_name = 256;

enum class About { written_path, path, host };

struct Phrase {
  std::string_view text;
  About about;
};

constexpr Phrase phrases[] = {
    {"Read-only file system", About::written_path},
    {"read-only file system", About::written_path},
    {"EROFS", About::written_path},
    {"Permission denied", About::path},
    {"permission denied", About::path},
    {"Operation not permitted", About::path},
    {"operation not permitted", About::path},
    {"Could not resolve host", About::host},
    {"Could not resolve hostname", About::host},
    {"getaddrinfo ENOTFOUND", About::host},
    {"getaddrinfo EAI_AGAIN", About::host},
    {"Temporary failure in name resolution", About::host},
    {"Temporary failure resolving", About::host},
    {"Network is unreachable", About::host},
};

/// The first absolute path: to its closing quote if it has one, else to the next blank or colon.
std::string_view path_in(std::string_view line) {
  for (std::size_t at = line.find('/'); at != std::string_view::npos; at = line.find('/', at + 1)) {
    const char before = at == 0 ? ' ' : line[at - 1];
    const bool quoted = before == '\'' || before == '"' || before == '`';
    if (!quoted && before != ' ' && before != ':' && before != '(') continue;
    const char* ends = before == '"' ? "\"" : quoted ? "'" : " :,)'\"";
    const std::size_t end = line.find_first_of(ends, at);
    return line.substr(at, end == std::string_view::npos ? end : end - at);
  }
  return {};
}

bool is_host_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-';
}

/// The first word with a dot in it that looks like a host's name.
std::string_view host_in(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (!is_host_character(text[at])) {
      ++at;
      continue;
    }
    const auto end = std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), is_host_character);
    std::string_view word = text.substr(at, static_cast<std::size_t>(end - text.begin()) - at);
    at += word.size();
    while (!word.empty() && word.back() == '.') word.remove_suffix(1);
    if (word.find('.') != std::string_view::npos && word.front() != '.') return word;
  }
  return {};
}

std::optional<Violation> hint_in_line(std::string_view line) {
  const auto phrase = std::ranges::find_if(
      phrases, [&](const Phrase& candidate) { return line.find(candidate.text) != std::string_view::npos; });
  if (phrase == std::end(phrases)) return std::nullopt;
  Violation hint{
      .kind = Violation::Kind::path, .evidence = Violation::Evidence::hint, .detail = std::string(phrase->text)};
  if (phrase->about == About::host) {
    const std::string_view after = line.substr(line.find(phrase->text) + phrase->text.size());
    hint.kind = Violation::Kind::network;
    hint.claimed_path = printable(host_in(after).substr(0, longest_name));
    hint.allowed_by = hint.claimed_path.empty() ? "an entry under Network" : "Network: " + hint.claimed_path;
    return hint;
  }
  hint.claimed_path = printable(path_in(line).substr(0, longest_name));
  if (hint.claimed_path.empty()) return std::nullopt;
  hint.allowed_by =
      fmt::format("Filesystem: {}: {}", hint.claimed_path, phrase->about == About::written_path ? "rw" : "ro or rw");
  return hint;
}

}  // namespace

std::vector<Violation> hints_in(std::string_view error_output) {
  // What stopped a program is mostly said last.
  if (error_output.size() > most_input) error_output.remove_prefix(error_output.size() - most_input);
  std::vector<Violation> hints;
  while (!error_output.empty() && hints.size() < most_hints) {
    const std::size_t end = std::min(error_output.find('\n'), error_output.size());
    const auto hint = hint_in_line(error_output.substr(0, end));
    error_output.remove_prefix(std::min(end + 1, error_output.size()));
    if (!hint) continue;
    const auto known = std::ranges::find_if(hints, [&](const Violation& before) {
      return before.kind == hint->kind && before.claimed_path == hint->claimed_path;
    });
    if (known != hints.end()) {
      ++known->count;
    } else {
      hints.push_back(*hint);
    }
  }
  return hints;
}

}  // namespace cordon::sandbox::native
