#include "serve/hook/judge.h"

#include <algorithm>
#include <filesystem>

#include "approve/ticket.h"
#include "base/text.h"
#include "config/bind.h"
#include "config/workspace.h"
#include "guard/refusal.h"
#include "model/tools.h"
#include "plan/profile.h"
#include "serve/hook/meaning.h"

namespace cordon::serve::hook {

namespace {

namespace fs = std::filesystem;

// Tests and builds take longer than a command typed by hand; the agent's own limit ends it earlier.
constexpr std::uint64_t usual_timeout_ms = 600'000;

constexpr const char* weaker =
    "judged only, NOT isolated (--judge-only is weaker than Cordon's default: what it starts may do anything)";

/// What else in a command's input is the model's, and in which units.
constexpr std::string_view shells[] = {"bash", "sh", "/bin/bash", "/bin/sh", "/usr/bin/bash", "/usr/bin/sh"};
constexpr const char* directory_keys[] = {"workdir", "dir_path", "directory"};
constexpr const char* environment_keys[] = {"env", "environment"};
constexpr std::pair<const char*, std::uint64_t> timeout_keys[] = {
    {"timeout", 1}, {"timeout_ms", 1}, {"timeoutSeconds", 1000}};
constexpr std::uint64_t longest_timeout_ms = 24ULL * 3'600'000;

Said deny(std::string rule, std::string reason) {
  return {.kind = Said::Kind::deny, .reason = std::move(reason), .rule = std::move(rule)};
}

std::string because(const guard::Judgement& judgement) {
  std::string text;
  for (const std::string& reason : guard::reasons_of(judgement)) {
    text += (text.empty() ? "" : "; ") + visible(reason, Lines::escape);
  }
  if (text.empty()) text = visible(judgement.verdict.reason, Lines::escape);
  return text.empty() ? "the rule " + judgement.verdict.rule : text;
}

std::string safer_ways(const guard::Judgement& judgement) {
  std::string text;
  for (const Finding& finding : judgement.analysis.findings) {
    if (!finding.safer.empty()) text += " Safer: " + visible(finding.safer, Lines::escape);
  }
  return text;
}

/// A command as one text: agents send it so, or as an argv whose last word is what a shell is to run.
Result<std::string> command_in(const Json& input) {
  for (const char* key : {"command", "cmd"}) {
    const auto found = input.find(key);
    if (found == input.end()) continue;
    if (found->is_string()) return found->get<std::string>();
    if (!found->is_array() || found->empty()) break;
    std::vector<std::string> words;
    for (const Json& word : *found) {
      if (!word.is_string()) return fail(Fault::invalid_input, "\"{}\" holds something that is no word", key);
      words.push_back(word.get<std::string>());
    }
    const bool by_shell = words.size() == 3 && (words[1] == "-c" || words[1] == "-lc") &&
                          std::ranges::find(shells, words.front()) != std::end(shells);
    if (by_shell) return words[2];
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : " ") + shell_word(word);
    return text;
  }
  return fail(Fault::invalid_input, "the agent sent no command");
}

Json with_command(Json input, const std::string& command) {
  for (const char* key : {"command", "cmd"}) {
    const auto found = input.find(key);
    if (found == input.end()) continue;
    if (found->is_array())
      *found = {"bash", "-c", command};
    else
      *found = command;
    break;
  }
  return input;
}

std::optional<std::uint64_t> timeout_in(const Json& input) {
  for (const auto& [key, unit] : timeout_keys) {
    const auto found = input.find(key);
    if (found != input.end() && found->is_number_unsigned() && found->get<std::uint64_t>() > 0) {
      return std::min<std::uint64_t>(found->get<std::uint64_t>(), longest_timeout_ms / unit) * unit;
    }
  }
  return std::nullopt;
}

std::string directory_in(const Asked& asked) {
  for (const char* key : directory_keys) {
    if (asked.input.contains(key) && asked.input[key].is_string()) return asked.input[key].get<std::string>();
  }
  return asked.directory;
}

/// Taken out of the input: left in it, the agent would give them to Cordon itself, which they could lead astray.
Result<Variables> take_environment(Json& input) {
  Variables variables;
  for (const char* key : environment_keys) {
    const auto found = input.find(key);
    if (found == input.end() || found->is_null()) continue;
    if (!found->is_object()) return fail(Fault::invalid_input, "\"{}\" is no object", key);
    for (const auto& [name, value] : found->items()) {
      if (!value.is_string()) return fail(Fault::invalid_input, "\"{}\" holds something that is no text", key);
      variables.emplace_back(name, value.get<std::string>());
    }
    input.erase(key);
  }
  CHECK_OK(guard::check_environment(variables));
  return variables;
}

/// A model that could choose the workspace would choose the settings.
std::string in_other_workspace(const Request& request) {
  if (!config::is_marked_workspace(request.workspace)) return "";
  const std::string nearest = config::nearest_workspace(request.cwd);
  return nearest == request.workspace ? "" : nearest;
}

/// The command that stands in one that was written by `inside`, if it was.
std::optional<std::string> unwrapped(const std::string& text, const HookOptions& options) {
  const std::string head = shell_word(options.program) + " exec ";
  const std::size_t dashes = text.find(" -- ");
  if (!text.starts_with(head) || dashes == std::string::npos) return std::nullopt;
  const std::string quoted = text.substr(dashes + 4);
  if (!quoted.starts_with('\'')) return shell_word(quoted) == quoted ? std::optional(quoted) : std::nullopt;
  std::string plain;
  for (std::size_t at = 1; at < quoted.size();) {
    if (quoted.compare(at, 4, "'\\''") == 0) {
      plain += '\'';
      at += 4;
    } else if (quoted[at] == '\'') {
      return at + 1 == quoted.size() ? std::optional(plain) : std::nullopt;
    } else {
      plain += quoted[at++];
    }
  }
  return std::nullopt;
}

Result<Said> judge_command(const Dialect& dialect, const Asked& asked, const Premises& premises, const Caller& caller,
                           const HookOptions& options) {
  const auto timeout = timeout_in(asked.input);
  const std::string written = TRY(command_in(asked.input));
  Json input = asked.input;
  auto environment = take_environment(input);
  if (!environment) return deny("hook.environment", environment.error().sentence);
  auto placed = premises.request(caller, written, directory_in(asked));
  if (!placed) return deny("hook.directory", placed.error().sentence);
  Request request = *std::move(placed);
  if (const std::string other = in_other_workspace(request); !other.empty()) {
    return deny("hook.directory", visible(other, Lines::escape) +
                                      " is a workspace of its own, with rules of its own. Leave the directory out and "
                                      "begin the command with cd, or have the user start you there.");
  }
  request.environment = *std::move(environment);
  if (const auto text = unwrapped(written, options)) {
    request.text = *text;
    // Byte for byte what we would have written: then it is ours, whoever typed it.
    if (inside(options, request, timeout) == written) {
      return Said{.kind = Said::Kind::allow,
                  .reason = "runs in Cordon",
                  .input = input == asked.input ? Json() : std::move(input)};
    }
    request.text = written;
  }
  const guard::Guard guard = TRY(premises.guard(caller, request));
  const guard::Judgement judgement = guard.judge(request);
  if (judgement.verdict.action == Action::deny) {
    return deny(judgement.verdict.rule, "Cordon refuses this command: " + because(judgement) +
                                            ". Asking again will not help; choose another way." +
                                            safer_ways(judgement));
  }
  const std::string ours = inside(options, request, timeout);
  if (options.judge_only) {
    if (judgement.verdict.action == Action::allow) return Said{.kind = Said::Kind::allow, .reason = weaker};
    return deny(judgement.verdict.rule,
                "Cordon wants a person's approval for this command: " + because(judgement) + ". Run it as: " + ours +
                    "  It is then queued; tell the user what it is for. (This hook has " + weaker + ".)");
  }
  if (!dialect.rewrites) {
    // Not a refusal: what it is told to run instead is judged and recorded then.
    return deny(
        "",
        "Commands run inside Cordon, and this agent's hook cannot put them there. Run exactly this instead: " + ours);
  }
  if (judgement.verdict.action == Action::ask && dialect.asks && is_surface(guard.settings(), caller)) {
    const Time until = premises.clock().now() + std::chrono::milliseconds(guard.settings().approval.expiry_ms.value);
    const Digest subject = approve::ticket_subject(request.text, request.cwd, request.asker.agent);
    const std::string ticket = TRY(approve::Tickets(premises.sources().state_dir).issue(subject, until));
    return Said{.kind = Said::Kind::ask,
                .reason = "Cordon asks: " + because(judgement) + ". It runs isolated, once.",
                .input = with_command(std::move(input), inside(options, request, timeout, ticket))};
  }
  return Said{.kind = Said::Kind::allow,
              .reason = judgement.verdict.action == Action::allow
                            ? "runs isolated, inside Cordon"
                            : "needs a person's approval, for which it is queued: " + because(judgement),
              .input = with_command(std::move(input), ours)};
}

/// A command that does to a path what the tool does.
const char* command_like(Touch touch) {
  if (touch == Touch::writes) return "tee -- ";
  return touch == Touch::searches ? "grep -r x -- " : "cat -- ";
}

/// What tools do to files, they do outside of any sandbox. The one decision function knows what `cat` and `tee` may.
Result<Said> judge_file(const Meaning& meaning, const Asked& asked, const std::string& path, const Premises& premises,
                        const Caller& caller) {
  const bool writes = meaning.touch == Touch::writes;
  auto placed = premises.request(caller, "", asked.directory);
  if (!placed) return deny("hook.directory", placed.error().sentence);
  Request request = *std::move(placed);
  const std::string whole = config::normal_path(path.starts_with('/') ? path : request.cwd + "/" + path);
  std::error_code error;
  const std::string real = fs::weakly_canonical(whole, error).string();
  if (error)
    return deny("hook.path", "Cordon cannot tell what " + visible(path, Lines::escape) + " is: " + error.message());
  for (const std::string& protected_path : plan::protected_paths(request.workspace, request.home)) {
    const std::string bare =
        protected_path.ends_with('/') ? protected_path.substr(0, protected_path.size() - 1) : protected_path;
    for (const std::string& one : {whole, real}) {
      if (writes && config::is_within(one, request.workspace + "/" + bare)) {
        return deny("hook.protected",
                    visible(path, Lines::escape) +
                        " is protected: what is written there changes what runs later. Ask the user to change it.");
      }
    }
  }
  const guard::Guard guard = TRY(premises.guard(caller, request));
  for (const std::string& one : {whole, real}) {
    request.text = command_like(meaning.touch) + shell_word(one);
    const guard::Judgement judgement = guard.judge(request);
    const bool grave = judgement.verdict.action == Action::deny || judgement.analysis.risk >= Risk::dangerous;
    const bool outside = writes && judgement.verdict.action != Action::allow;
    if (grave || outside) {
      return deny(
          judgement.verdict.action == Action::deny ? judgement.verdict.rule
          : writes                                 ? "hook.write"
                                                   : "hook.read",
          fmt::format("Cordon does not let {} be {}: {}. If it must be, ask the user, or run it as a command, which "
                      "a person can approve.",
                      visible(path, Lines::escape), writes ? "written" : "read", because(judgement)));
    }
  }
  return Said{.kind = Said::Kind::pass};
}

}  // namespace

std::string inside(const HookOptions& options, const Request& request, std::optional<std::uint64_t> timeout_ms,
                   std::string_view ticket) {
  std::string line = shell_word(options.program) + " exec --from hook --agent " + shell_word(request.asker.agent);
  if (!request.asker.session.empty()) line += " --session " + shell_word(request.asker.session);
  if (!options.state_dir.empty()) line += " --state-dir " + shell_word(options.state_dir);
  // Said, so that nothing that is put into the directory meanwhile makes it another workspace.
  if (config::is_marked_workspace(request.workspace)) line += " --workspace " + shell_word(request.workspace);
  line += " --cwd " + shell_word(request.cwd);
  for (const auto& [name, value] : request.environment) line += " --env " + shell_word(name + "=" + value);
  line += fmt::format(" --timeout {}", timeout_ms.value_or(usual_timeout_ms));
  if (!ticket.empty()) line += " --ticket " + std::string(ticket);
  return line + " -- " + shell_word(request.text);
}

namespace {

Result<Said> judge_unrecorded(const Meaning& meaning, const Dialect& dialect, const Asked& asked,
                              const Premises& premises, const Caller& caller, const HookOptions& options) {
  const auto settings = TRY(premises.settings());
  if (!meaning.tool.empty() && !has_tool(settings->agent(caller.principal.agent).tools, meaning.tool)) {
    return deny("tools." + meaning.tool,
                fmt::format("the tool policy gives agent '{}' no {}", caller.principal.agent, meaning.tool));
  }
  if (meaning.touch == Touch::commands) return judge_command(dialect, asked, premises, caller, options);
  for (const std::string& path : meaning.paths) {
    const Said said = TRY(judge_file(meaning, asked, path, premises, caller));
    if (said.kind == Said::Kind::deny) return said;
  }
  return Said{.kind = Said::Kind::pass};
}

/// As one would type it, for the log.
std::string as_text(const Meaning& meaning, const Asked& asked) {
  if (meaning.touch == Touch::commands) return command_in(asked.input).value_or(asked.tool);
  std::string text = asked.tool;
  for (const std::string& path : meaning.paths) text += " " + shell_word(path);
  return text;
}

Result<void> record(const Meaning& meaning, const Asked& asked, const Said& said, const Premises& premises,
                    const Caller& caller, const HookOptions& options) {
  const Request request = TRY(premises.request(caller, as_text(meaning, asked), ""));
  guard::Guard guard = TRY(premises.guard(caller, request));
  // Only a command's text means something to a shell.
  const auto judgement = meaning.touch == Touch::commands ? guard.judge(request) : guard::Judgement();
  const Refused refused{.rule = said.rule, .reason = said.reason};
  guard::tell_refusal(options.alarm, request, judgement, refused, "");
  AuditRecord line = guard::refusal_record(request, judgement, refused, "");
  line.policy = guard::policy_digest(guard.settings());
  audit::Log* log = TRY(guard.log());
  TRY(log->append(line));
  return {};
}

}  // namespace

Result<Said> judge(const Dialect& dialect, const Asked& asked, const Premises& premises, const Caller& caller,
                   const HookOptions& options) {
  const Meaning meaning = meaning_of(dialect.agent, asked.tool, asked.input);
  Said said = TRY(judge_unrecorded(meaning, dialect, asked, premises, caller, options));
  if (said.kind != Said::Kind::deny || said.rule.empty()) return said;
  // It is refused all the same; that the record is missing is said.
  if (const auto recorded = record(meaning, asked, said, premises, caller, options); !recorded) {
    said.reason += " (This refusal could not be recorded: " + visible(recorded.error().sentence, Lines::escape) + ")";
  }
  return said;
}

}  // namespace cordon::serve::hook
