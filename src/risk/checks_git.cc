#include <algorithm>

#include "risk/checks.h"

namespace cordon::risk {

namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

}  // namespace

void Judge::git_setting(Run& run, std::string_view key, std::string_view value, const Arg& arg) {
  const std::string name = lower(key);
  if (name.starts_with("alias.")) {
    if (value.starts_with('!')) {
      raise(run, "git.setting_runs", arg.where);
      shell_text(run, synthetic(std::string(value.substr(1)), arg), {});
    }
    return;
  }
  if (name == "http.sslverify" || name == "http.sslverify" ||
      (name.starts_with("http.") && name.ends_with(".sslverify"))) {
    if (value == "false" || value == "0" || value == "no" || value == "off") raise(run, "protection.tls", arg.where);
    return;
  }
  if (name == "safe.directory" && value == "*") raise(run, "protection.off", arg.where);
  bool runs = false;
  // A key may hold an address (url.https://….insteadOf), so '/' has no meaning here.
  for (std::uint32_t i = 0; i < rows::place_rows_size && !runs; ++i) {
    runs = rows::place_rows[i].kind.view() == "git_setting" && matches(rows::place_rows[i].entry.view(), name);
  }
  if (!runs) return;
  // core.pager=cat, core.editor=true and core.pager= switch something off rather than on.
  for (std::string_view harmless : {"", "cat", "less", "true", "vim", "vi", "nano", "emacs", "code --wait", "false",
                                    "less -R", "delta", "nvim", "more", ":", "code -w"}) {
    if (value == harmless && name != "core.hookspath") return;
  }
  if (name == "core.hookspath") hooks_of(run, value, arg);
  if (name == "core.hookspath" &&
      (value == "/dev/null" || value == ".husky" || value == ".githooks" || value == ".git/hooks")) {
    if (value == ".husky" || value == ".githooks" || value == ".git/hooks") return;
  }
  if ((name == "credential.helper") && (value == "cache" || value == "osxkeychain" || value == "manager" ||
                                        value == "libsecret" || value.starts_with("cache ")))
    return;
  raise(run, "git.setting_runs", arg.where);
}

/// git config core.hooksPath .githooks: what this script wrote there is as grave as what it will run.
void Judge::hooks_of(Run& run, std::string_view directory, const Arg& arg) {
  const std::string below = locate(run, directory).path + "/";
  std::vector<std::string> texts;
  for (auto each = written_.lower_bound(below); each != written_.end() && each->first.starts_with(below); ++each) {
    if (picks_up(each->first)) texts.push_back(each->second);
  }
  for (const std::string& text : texts) run_written(run, "hook", text, 0, arg);
}

namespace checks {

void git_config(Judge& judge, Run& run) {
  if (run.sorted.operands.size() >= 2) {
    judge.git_setting(run, run.sorted.operands[0].arg.text, run.sorted.operands[1].arg.text,
                      run.sorted.operands[1].arg);
    if (!run.sorted.operands[1].arg.known && lower(run.sorted.operands[0].arg.text).starts_with("core."))
      judge.raise(run, "git.setting_runs", run.where);
  }
}

void git_push(Judge& judge, Run& run) {
  const auto& operands = run.sorted.operands;
  if (!operands.empty()) {
    const std::string_view remote = operands[0].arg.text;
    const bool address = remote.find("://") != std::string_view::npos ||
                         (remote.find('@') != std::string_view::npos && remote.find(':') != std::string_view::npos) ||
                         remote.starts_with("ext::");
    if (remote.starts_with("ext::")) judge.raise(run, "exec.transport", operands[0].arg.where);
    if (address) judge.raise(run, "git.push_elsewhere", operands[0].arg.where);
  }
  if (!operands.empty() && judge.variable_flow("git remote " + std::string(operands[0].arg.text)).fetched)
    judge.raise(run, "git.push_elsewhere", operands[0].arg.where);
  for (std::size_t i = 1; i < operands.size(); ++i) {
    const std::string_view ref = operands[i].arg.text;
    if (ref.starts_with('+')) judge.raise(run, "git.force_push", operands[i].arg.where);
    if (ref.starts_with(':') && ref.size() > 1) judge.raise(run, "git.delete_remote", operands[i].arg.where);
  }
}

void git_checkout(Judge& judge, Run& run) {
  if (run.sorted.has("-b") || run.sorted.has("-B") || run.sorted.has("--orphan") || run.sorted.has("--detach")) return;
  const auto& operands = run.sorted.operands;
  bool paths = run.sorted.dashes && !operands.empty();
  for (const Operand& operand : operands) {
    const std::string_view text = operand.arg.text;
    paths |= text == "." || text == "./" || text == ":/" || text == "*" || operand.arg.wildcard ||
             text.ends_with('/') || text.starts_with("./") || text.starts_with("../");
    // src/app.ts is a file; feature/login, v1.2 and release-1.0 are names of branches.
    const std::string_view last = text.substr(text.rfind('/') + 1);
    const std::size_t dot = last.rfind('.');
    const bool extension = dot != std::string_view::npos && dot + 1 < last.size() &&
                           std::all_of(last.begin() + static_cast<std::ptrdiff_t>(dot) + 1, last.end(),
                                       [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
    paths |= extension && text.find("..") == std::string_view::npos;
  }
  paths |= operands.size() > 1;
  if (paths) judge.raise(run, "git.discard", run.where);
}

void git_clone(Judge& judge, Run& run) {
  if (run.sorted.operands.empty()) return;
  const Arg& source = run.sorted.operands[0].arg;
  if (source.text.starts_with("ext::") || source.text.find("ext::") != std::string_view::npos)
    judge.raise(run, "exec.transport", source.where);
  if (source.text.find("://") != std::string_view::npos) judge.reaches(run, source, host_of(source.text));
  if (source.text.starts_with("http://") && !is_local_host(host_of(source.text)))
    judge.raise(run, "supply.plain_http", source.where);
  if (source.flow.secret) judge.raise(run, "net.exfiltrates", source.where);
  std::string_view name;
  if (run.sorted.operands.size() > 1) {
    name = run.sorted.operands[1].arg.text;
    judge.writes(run, run.sorted.operands[1].arg);
  } else {
    name = source.text.substr(source.text.find_last_of("/:") + 1);
    if (name.ends_with(".git")) name.remove_suffix(4);
  }
  if (!name.empty() && run.frame.directory)
    judge.mark_file(absolute(name, *run.frame.directory) + "/", Flow{.fetched = true});
  run.judged = true;
}

}  // namespace checks

}  // namespace cordon::risk

namespace cordon::risk::checks {

void git_remote(Judge& judge, Run& run) {
  const auto& operands = run.sorted.operands;
  for (const Operand& operand : operands) {
    if (operand.arg.text.find("ext::") != std::string_view::npos) judge.raise(run, "exec.transport", operand.arg.where);
  }
  if (run.sorted.node->name.view() == "add" && operands.size() >= 2)
    judge.mark_variable("git remote " + std::string(operands[0].arg.text), Flow{.fetched = true});
}

void git_add(Judge& judge, Run& run) {
  for (const Operand& operand : run.sorted.operands) {
    if (judge.locate(run, operand.arg.text).credential) judge.raise(run, "secret.commit", operand.arg.where);
  }
}

/// Which files will go is not known.
void git_rm(Judge& judge, Run& run) {
  if (run.sorted.has("--cached")) return;
  for (const Operand& operand : run.sorted.operands) {
    if (!operand.arg.known) judge.raise(run, "git.remove_files", operand.arg.where);
  }
}

/// Outside a repository, or with --no-index, git diff compares any two files.
void git_diff(Judge& judge, Run& run) {
  const std::string_view verb = run.sorted.chain_texts.empty() ? std::string_view{} : run.sorted.chain_texts.back();
  // git log -- .env tells who changed it and when; only with the patch what it held.
  bool shows = (verb != "log" && verb != "whatchanged") || run.sorted.has("-p") || run.sorted.has("-L");
  for (std::string_view names :
       {"--stat", "--name-only", "--name-status", "--numstat", "--shortstat", "-s", "-e", "-t"})
    shows &= !run.sorted.has(names);
  for (const Operand& operand : run.sorted.operands) {
    std::string_view path = operand.arg.text;
    if (const std::size_t colon = path.find(':'); colon != std::string_view::npos) path.remove_prefix(colon + 1);
    const bool pathlike = path.find_first_of("./") != std::string_view::npos;
    if (shows && pathlike && path.find("..") == std::string_view::npos && judge.locate(run, path).credential)
      judge.reads(run, judge.synthetic(std::string(path), operand.arg), false);
  }
  for (const Operand& operand : run.sorted.operands) {
    const std::string_view path = operand.arg.text;
    if (run.sorted.has("--no-index") || path.starts_with('/') || path.starts_with('~'))
      judge.reads(run, operand.arg, false);
  }
}

void git_fetch(Judge& judge, Run& run) {
  for (const Operand& operand : run.sorted.operands) {
    if (operand.arg.text.starts_with('+') && operand.arg.text.find(':') != std::string_view::npos &&
        run.sorted.has("-f"))
      judge.raise(run, "git.rewrite", operand.arg.where);
  }
  for (const Operand& operand : run.sorted.operands) {
    const std::string_view text = operand.arg.text;
    if (text.find("ext::") != std::string_view::npos) judge.raise(run, "exec.transport", operand.arg.where);
    if (text.find("://") != std::string_view::npos) judge.reaches(run, operand.arg, host_of(text));
  }
}

}  // namespace cordon::risk::checks
