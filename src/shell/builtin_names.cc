#include "shell/builtin_names.h"

#include <algorithm>
#include <array>

namespace cordon::shell {
namespace {

// Sorted.
constexpr std::array<std::string_view, 61> builtins{
    ".",       ":",       "[",       "alias",    "bg",      "bind",     "break",     "builtin",  "caller",
    "cd",      "command", "compgen", "complete", "compopt", "continue", "declare",   "dirs",     "disown",
    "echo",    "enable",  "eval",    "exec",     "exit",    "export",   "false",     "fc",       "fg",
    "getopts", "hash",    "help",    "history",  "jobs",    "kill",     "let",       "local",    "logout",
    "mapfile", "popd",    "printf",  "pushd",    "pwd",     "read",     "readarray", "readonly", "return",
    "set",     "shift",   "shopt",   "source",   "suspend", "test",     "times",     "trap",     "true",
    "type",    "typeset", "ulimit",  "umask",    "unalias", "unset",    "wait"};

constexpr std::array<std::string_view, 48> well_known{
    "awk",  "bash",   "cat",  "chmod", "chown",     "cp",      "curl", "dd",    "diff",  "docker", "find", "gcc",
    "git",  "grep",   "gzip", "head",  "kill",      "less",    "ln",   "ls",    "make",  "mkdir",  "mv",   "node",
    "npm",  "passwd", "pip",  "ps",    "python",    "python3", "rm",   "rmdir", "rsync", "scp",    "sed",  "sh",
    "sort", "ssh",    "su",   "sudo",  "systemctl", "tail",    "tar",  "tee",   "touch", "vim",    "wget", "xargs"};

}  // namespace

bool is_builtin(std::string_view name) { return std::binary_search(builtins.begin(), builtins.end(), name); }

bool is_only_of_bash(std::string_view name) {
  return name == "declare" || name == "typeset" || name == "let" || name == "mapfile" || name == "readarray" ||
         name == "printf" || name == "source" || name == "builtin" || name == "shopt" || name == "pushd" ||
         name == "popd" || name == "read" || name == "local";
}

bool reads_stdin(std::string_view builtin) {
  return builtin == "read" || builtin == "mapfile" || builtin == "readarray" || builtin == "." || builtin == "source" ||
         builtin == "eval" || builtin == "command" || builtin == "builtin" || builtin == "exec";
}

bool is_well_known(std::string_view name) { return std::binary_search(well_known.begin(), well_known.end(), name); }

}  // namespace cordon::shell
