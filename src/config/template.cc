#include "config/template.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace cordon::config {
namespace {

constexpr std::string_view everyday_commands[] = {
    "ls", "pwd",  "cat",        "head",     "tail",    "wc",       "grep",
    "rg", "echo", "git status", "git diff", "git log", "git show", "git branch --list"};

constexpr std::string_view dangerous_patterns[] = {
    "rm -rf", "chmod 777", "sudo", "dd if=", "mkfs", "git push --force", "git reset --hard", "git clean -f"};

constexpr std::string_view disallowed_commands[] = {"curl http://", "wget http://", "nc -l"};

void add_list(std::string& out, std::span<const std::string_view> entries) {
  for (const std::string_view entry : entries) out += fmt::format("- {}\n", entry);
}

/// Text from file names goes into a comment: it must not end it.
std::string in_comment(std::string_view text) {
  std::string made = visible(text, Lines::escape);
  for (std::size_t at = 0; (at = made.find("--", at)) != std::string::npos;) made.replace(at, 2, "- -");
  return made;
}

std::string below_home(const std::string& path, const std::string& home) {
  if (home.size() > 1 && is_within(path, home)) return "~" + path.substr(home.size());
  return path;
}

void add_commands(std::string& out, const TemplateFacts& facts) {
  out += "\n## Allowed Commands (run without asking)\n\n";
  add_list(out, everyday_commands);
  std::set<std::string> said;
  for (const ProjectKind* kind : facts.kinds) {
    out += fmt::format("\n<!-- {} -->\n\n", kind->name);
    for (std::string_view rest = kind->commands; !rest.empty();) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      if (said.emplace(rest.substr(0, end)).second) out += fmt::format("- {}\n", rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  out += "\n## Dangerous Patterns (ask first)\n\n";
  add_list(out, dangerous_patterns);
  out += "\n## Disallowed Commands (never)\n\n";
  add_list(out, disallowed_commands);
}

void add_network(std::string& out, const TemplateFacts& facts) {
  out += "\n## Network\n\n<!-- Nothing listed here: no network. One domain, domain:port or preset per line. -->\n\n";
  for (const std::string& preset : facts.open_presets) out += fmt::format("- preset:{}\n", preset);
  std::string offered;
  for (const auto& [preset, hosts] : facts.found_presets) {
    if (std::ranges::find(facts.open_presets, preset) != facts.open_presets.end()) continue;
    std::string list;
    for (const std::string& host : hosts) list += (list.empty() ? "" : ", ") + host;
    offered += fmt::format("- preset:{}   ({})\n", preset, in_comment(list));
  }
  if (!offered.empty()) {
    out += fmt::format(
        "\n<!-- Your tools on this machine are set to these; move a line out of the comment to open it:\n{}-->\n",
        offered);
  }
}

void add_filesystem(std::string& out, const TemplateFacts& facts) {
  out +=
      "\n## Filesystem\n\n<!-- path: ro, rw or none. The workspace itself is rw; nothing else of your home is visible. "
      "-->\n\n";
  std::string refused;
  for (const Toolchain& toolchain : facts.toolchains) {
    const std::string path = below_home(toolchain.path, facts.home);
    if (toolchain.refused.empty()) {
      out += fmt::format("- {}: ro\n", path);
    } else {
      refused += fmt::format("{} ({})\n", in_comment(path), in_comment(toolchain.name));
    }
  }
  if (!refused.empty())
    out += fmt::format("\n<!-- Found, but it cannot be shown without showing secrets:\n{}-->\n", refused);
}

}  // namespace

std::string sandbox_md_for(const TemplateFacts& facts) {
  std::string out =
      "# Sandbox\n\nWhat agents may do in this workspace. Changes that loosen anything count after `cordon trust`.\n";
  out += "\n## Security Level\n\n<!-- deny, allowlist, ask or full -->\n\nLevel: ask\n";
  add_commands(out, facts);
  out +=
      "\n## Approval Settings\n\n- Auto-approve safe: true\n- Dry-run by default: false\n- Audit retention: 30 days\n"
      "- Approval expiry: 15 minutes\n- Queue limit: 1000\n";
  add_network(out, facts);
  add_filesystem(out, facts);
  out += "\n## Limits\n\n- Time: 10 min\n- Memory: 4 GiB\n- Processes: 512\n- Output: 1 MiB\n- Disk: 4 GiB\n- CPU: 2\n";
  return out;
}

}  // namespace cordon::config
