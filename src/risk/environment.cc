// Variables that make a program load or run something.
#include "risk/checks.h"

namespace cordon::risk {

namespace {

bool harmless_command(std::string_view value) {
  for (std::string_view known : {"",
                                 "cat",
                                 "less",
                                 "more",
                                 "less -R",
                                 "less -FRX",
                                 "less -F",
                                 "true",
                                 ":",
                                 "vim",
                                 "vi",
                                 "nvim",
                                 "nano",
                                 "emacs",
                                 "emacs -nw",
                                 "code",
                                 "code --wait",
                                 "code -w",
                                 "ed",
                                 "false",
                                 "/bin/true",
                                 "/usr/bin/true",
                                 "/bin/false",
                                 "echo",
                                 "/bin/cat",
                                 "/usr/bin/less",
                                 "/usr/bin/vim",
                                 "most",
                                 "bat",
                                 "delta",
                                 "subl -w",
                                 "micro",
                                 "hx",
                                 "batcat",
                                 "bat -p",
                                 "/bin/bash",
                                 "/bin/sh",
                                 "bash",
                                 "zsh",
                                 "/bin/zsh",
                                 "/usr/bin/bash",
                                 "/usr/bin/zsh"}) {
    if (value == known) return true;
  }
  return false;
}

}  // namespace

void Judge::environment(Run& run, std::string_view name, const Arg& value) {
  std::string_view what = find_environment(name);
  // MYSQL_HOME, GST_PLUGIN_PATH, KRB5_CONFIG: by their names, for tools that no row knows.
  if (what.empty() && value.known && value.text.starts_with('/') && listed("variable_loads", name)) what = "file";
  if (what.empty() || what == "harmless") return;
  if (value.known && (value.text == "/dev/null" || value.text.empty()) && what != "path" && what != "history") return;
  auto outside = [&](std::string_view path) {
    if (path.empty()) return false;
    const Place place = locate(run, path);
    return place.area == Area::temporary || place.area == Area::outside ||
           (place.area == Area::unknown && path[0] == '$' && path != "$PATH" && path != "${PATH}" &&
            path != "$LD_LIBRARY_PATH" && path != "$PYTHONPATH");
  };
  if (what == "code") {
    raise(run, "env.code", value.where);
  } else if (what == "command") {
    if (!value.known || !harmless_command(value.text)) {
      raise(run, "env.command", value.where);
      if (value.known && !too_deep(run)) shell_text(run, value, {});
    }
  } else if (what == "protection") {
    raise(run, "protection.tls", value.where);
  } else if (what == "protection_zero") {
    if (value.text == "0" || value.text == "false" || value.text == "no") raise(run, "protection.tls", value.where);
  } else if (what == "protection_set") {
    if (!value.text.empty() && value.text != "0" && value.text != "false") raise(run, "protection.tls", value.where);
  } else if (what == "guard") {
    raise(run, "guard.touched", value.where);
  } else if (what == "history") {
    raise(run, "protection.no_history", value.where);
  } else if (what == "options") {
    for (std::string_view part : {"--require", "-r ", "--import", "--loader", "--experimental-loader", "-M", "-I",
                                  "-javaagent", "-agentlib", "-agentpath", "-r", "--eval", "-e "}) {
      if (value.text.find(part) != std::string_view::npos && !(part == "-r" && value.text.find("-r") != 0)) {
        if ((part == "-M" || part == "-I" || part == "-r") && !value.text.starts_with(part)) continue;
        raise(run, "env.code", value.where);
        return;
      }
    }
    if (!value.known && value.word && value.word->prefix().empty() && value.text != "$NODE_OPTIONS")
      raise(run, "env.code", value.where);
  } else if (what == "tool_options") {
    for (std::string_view part : {"exec", "eval", "preview", "-P", "+!", "-TT", "command", "--require", "-r ", "|",
                                  "$(", "`", "-p /tmp", "linker=/", "--pre", "SHELL="}) {
      if (value.text.find(part) == std::string_view::npos) continue;
      raise(run, "env.code", value.where);
      return;
    }
  } else if (what == "engine") {
    checks::engine_variable(*this, run, value);
  } else if (what == "source") {
    raise(run, "supply.index", value.where);
  } else if (what == "path" || what == "library_path") {
    path_changed_ |= what == "path";
    std::string_view rest = value.text;
    while (true) {
      const std::size_t colon = rest.find(':');
      const std::string_view part = rest.substr(0, colon);
      const bool dot = what == "path" && (part == "." || part == "./");
      if (outside(part) || dot) {
        if (!(part.starts_with('$') &&
              (part.find('/') != std::string_view::npos || part.find('(') != std::string_view::npos ||
               what != "path") &&
              !value.flow.network)) {
          raise(run, what == "path" ? "env.path" : "env.code", value.where);
          return;
        }
      }
      if (colon == std::string_view::npos) break;
      rest.remove_prefix(colon + 1);
    }
    if (value.flow.network) raise(run, "env.path", value.where);
  } else if (what == "file") {
    if (value.known && outside(value.text)) raise(run, "env.code", value.where);
  }
}

}  // namespace cordon::risk
