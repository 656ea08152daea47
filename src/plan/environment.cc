#include "plan/environment.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace cordon::plan {

namespace {

constexpr std::string_view passes[] = {"LANG", "LANGUAGE", "TZ", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CI"};
constexpr std::size_t longest_value = 256;

/// A locale or zone may be the path of a file; only names pass.
bool is_plain(std::string_view value) {
  return value.size() <= longest_value &&
         std::all_of(value.begin(), value.end(),
                     [](char c) {
                       return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                              std::string_view("._-@:+/,").find(c) != std::string_view::npos;
                     }) &&
         !value.starts_with("/") && value.find("..") == std::string_view::npos;
}

bool is_name(std::string_view name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
}

// Ours: what the sandbox itself says about where the program is.
constexpr std::string_view fixed[] = {"HOME", "PATH", "TMPDIR", "USER", "LOGNAME", "SHELL"};

}  // namespace

Variables inherited_variables(const char* const* environment) {
  Variables inherited;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view line(*environment);
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = line.substr(0, equals);
    const bool wanted =
        name.starts_with("LC_") || std::find(std::begin(passes), std::end(passes), name) != std::end(passes);
    if (wanted && is_name(name) && is_plain(line.substr(equals + 1)))
      inherited.emplace_back(name, line.substr(equals + 1));
  }
  std::sort(inherited.begin(), inherited.end());
  return inherited;
}

namespace {

constexpr std::string_view passes_to_host[] = {"HOME",
                                               "USER",
                                               "LOGNAME",
                                               "SHELL",
                                               "TERM",
                                               "SSH_AUTH_SOCK",
                                               "GPG_TTY",
                                               "XDG_RUNTIME_DIR",
                                               "DISPLAY",
                                               "WAYLAND_DISPLAY",
                                               "DBUS_SESSION_BUS_ADDRESS",
                                               "XAUTHORITY"};

bool is_below(std::string_view path, std::string_view directory) {
  return path == directory || (path.starts_with(directory) && path[directory.size()] == '/');
}

std::string trusted_path(std::string_view path, const std::vector<std::string>& unsafe) {
  std::string kept;
  while (!path.empty()) {
    const std::string_view directory = path.substr(0, path.find(':'));
    path.remove_prefix(std::min(path.size(), directory.size() + 1));
    const bool bad =
        !directory.starts_with("/") || directory.find("..") != std::string_view::npos ||
        std::any_of(unsafe.begin(), unsafe.end(), [&](const std::string& place) { return is_below(directory, place); });
    if (!bad) kept += (kept.empty() ? "" : ":") + std::string(directory);
  }
  return kept.empty() ? "/usr/local/bin:/usr/bin:/bin" : kept;
}

}  // namespace

Variables host_variables(const char* const* environment, const std::vector<std::string>& unsafe) {
  Variables variables;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view line(*environment);
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = line.substr(0, equals);
    const std::string_view value = line.substr(equals + 1);
    if (name == "PATH") variables.emplace_back(name, trusted_path(value, unsafe));
    if (std::find(std::begin(passes_to_host), std::end(passes_to_host), name) != std::end(passes_to_host)) {
      variables.emplace_back(name, value);
    }
  }
  std::sort(variables.begin(), variables.end());
  return variables;
}

Result<void> check_variables(const Variables& asked, const LoadsCode& loads_code) {
  for (const auto& [name, value] : asked) {
    if (!is_name(name)) {
      return fail(Fault::invalid_input, "'{}' is no name of a variable; write NAME=value",
                  visible(name, Lines::escape));
    }
    if (value.find('\0') != std::string::npos) {
      return fail(Fault::invalid_input, "the value of {} holds a NUL byte", name);
    }
    if (std::find(std::begin(fixed), std::end(fixed), name) != std::end(fixed) || name.starts_with("CORDON_")) {
      return fail(Fault::denied, "{} is set by the sandbox and cannot be given", name);
    }
    if (const std::string why = loads_code(name); !why.empty()) {
      return fail(Fault::denied,
                  "the variable {} {}, so it cannot be given; set it inside the command to have it judged", name, why);
    }
  }
  return {};
}

}  // namespace cordon::plan
