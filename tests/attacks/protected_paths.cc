// A14, A15. Files in a writable workspace that decide what runs next on the host: they can't be changed, not when they
// do not exist yet, and not by moving what holds them.
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "probe.h"

namespace cordon::attacks {
namespace {

/// Appending, since the attempt must leave the file as it was where it succeeds.
Answer append(const char* path) { return try_open(path, O_WRONLY | O_APPEND); }

Answer create(const char* path) {
  const Answer result = try_open(path, O_WRONLY | O_CREAT);
  struct stat status {};
  if (result.open && stat(path, &status) == 0 && status.st_size == 0) unlink(path);
  return result;
}

Answer move_away_and_back(const char* from, const char* to) {
  const Answer result = answer(rename(from, to));
  if (result.open) rename(to, from);
  return result;
}

Answer exchange(const char* first, const char* second) {
  const Answer result = answer(syscall(SYS_renameat2, AT_FDCWD, first, AT_FDCWD, second, RENAME_EXCHANGE));
  if (result.open) syscall(SYS_renameat2, AT_FDCWD, first, AT_FDCWD, second, RENAME_EXCHANGE);
  return result;
}

Answer replace_by_rename(const char* target) {
  const std::string saved = std::string(target) + ".saved";
  if (link(target, saved.c_str()) != 0) return answer(-1);
  const Answer made = try_open("replacement", O_CREAT | O_WRONLY);
  const Answer result = made.open ? answer(rename("replacement", target)) : made;
  rename(saved.c_str(), target);
  unlink("replacement");
  return result;
}

Answer write_through_hardlink(const char* target) {
  if (link(target, "second-name") != 0) return answer(-1);
  const Answer result = append("second-name");
  unlink("second-name");
  return result;
}

Answer remove_directory_and_back(const char* path) {
  const Answer result = answer(rmdir(path));
  if (result.open) mkdir(path, 0755);
  return result;
}

Answer swap_for_symlink(const char* path) {
  const std::string aside = std::string(path) + "-aside";
  const Answer result = answer(rename(path, aside.c_str()));
  if (!result.open) return result;
  const bool swapped = symlink("/tmp", path) == 0 && unlink(path) == 0;
  rename(aside.c_str(), path);
  return open_if(swapped);
}

constexpr Probe probes[] = {
    {"git_hook", "cannot write an existing git hook", [](const Decoys&) { return append(".git/hooks/pre-commit"); }},
    {"git_new_hook", "cannot add a git hook", [](const Decoys&) { return create(".git/hooks/post-checkout"); }},
    {"git_config", "cannot write .git/config", [](const Decoys&) { return append(".git/config"); }},
    {"git_config_by_hardlink", "cannot write .git/config through a second name",
     [](const Decoys&) { return write_through_hardlink(".git/config"); }},
    {"git_config_by_rename", "cannot rename another file over .git/config",
     [](const Decoys&) { return replace_by_rename(".git/config"); }},
    {"git_moved_away", "cannot move .git away", [](const Decoys&) { return move_away_and_back(".git", ".git2"); }},
    {"git_hooks_moved_away", "cannot move .git/hooks away",
     [](const Decoys&) { return move_away_and_back(".git/hooks", ".git/hooks2"); }},
    {"git_hooks_exchanged", "cannot exchange .git/hooks with a directory of its own",
     [](const Decoys&) { return exchange(".git/hooks", "exchange-with"); }},
    {"git_swapped_for_symlink", "cannot put a symlink in .git's place",
     [](const Decoys&) { return swap_for_symlink(".git"); }},
    {"settings_write", "cannot write SANDBOX.md", [](const Decoys&) { return append("SANDBOX.md"); }},
    {"settings_by_rename", "cannot rename another file over SANDBOX.md",
     [](const Decoys&) { return replace_by_rename("SANDBOX.md"); }},
    {"settings_unlink", "cannot move SANDBOX.md away",
     [](const Decoys&) { return move_away_and_back("SANDBOX.md", "SANDBOX.old"); }},
    {"settings_directory", "cannot create .cordon/config.json5",
     [](const Decoys&) {
       mkdir(".cordon", 0755);
       const Answer result = create(".cordon/config.json5");
       if (result.open) rmdir(".cordon");
       return result;
     }},
    {"shell_start_file", "cannot create .bashrc where there is none", [](const Decoys&) { return create(".bashrc"); }},
    {"shell_profile", "cannot create .profile where there is none", [](const Decoys&) { return create(".profile"); }},
    {"editor_tasks", "cannot create .vscode/tasks.json where there is no .vscode",
     [](const Decoys&) {
       mkdir(".vscode", 0755);
       const Answer result = create(".vscode/tasks.json");
       if (result.open) rmdir(".vscode");
       return result;
     }},
    {"environment_loader", "cannot create .envrc where there is none", [](const Decoys&) { return create(".envrc"); }},
    {"placeholder_removed", "cannot remove a placeholder to put its own file there",
     [](const Decoys&) {
       if (unlink(".bashrc") != 0 && rmdir(".bashrc") != 0 && errno != ENOENT) return answer(-1);
       return create(".bashrc");
     }},
    {"workspace_alias", "cannot write .git/config through the workspace's second mount",
     [](const Decoys&) { return append("/workspace/.git/config"); }},
    {"masked_parent_moved", "cannot move the directory of a masked file away",
     [](const Decoys&) { return move_away_and_back("secrets", "secrets2"); }},
    {"masked_file", "cannot read a masked file in the workspace",
     [](const Decoys&) { return open_if(content_of("secrets/key").find("DECOY") != std::string::npos); }},
    {"hooks_directory_removed", "cannot remove an empty protected directory",
     [](const Decoys&) { return remove_directory_and_back(".git/info"); }},
};

}  // namespace

Probes protected_path_probes() { return probes; }

}  // namespace cordon::attacks
