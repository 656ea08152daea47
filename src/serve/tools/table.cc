// Every tool as a row. What a model reads here is all it knows: say what happens, when to use it, what comes back.
#include <array>

#include "serve/tools/commands.h"
#include "serve/tools/schemas.h"

namespace cordon::serve {

namespace {

using Kind = Argument::Kind;

constexpr std::int64_t hour_ms = 3'600'000;

constexpr std::array<std::string_view, 8> statuses = {"pending", "approved", "rejected", "expired",
                                                      "drifted", "executed", "failed",   "all"};
constexpr std::array<std::string_view, 5> risks = {"safe", "normal", "dangerous", "critical", "disallowed"};
constexpr std::array<std::string_view, 4> periods = {"1d", "7d", "30d", "all"};

constexpr std::array<Argument, 2> context_members = {{
    {.name = "working_dir", .description = "As if started in this directory"},
    {.name = "user", .description = "As if started by this user"},
}};
constexpr std::array<Argument, 2> check_arguments = {{
    {.name = "command", .required = true, .description = "The shell command (bash) to judge"},
    {.name = "context", .kind = Kind::object, .description = "What to suppose", .members = context_members},
}};
constexpr std::array<Argument, 9> exec_arguments = {{
    {.name = "command", .required = true, .description = "The shell command (bash) to run"},
    {.name = "require_approval", .kind = Kind::boolean, .description = "Ask a person even if the rules allow it"},
    {.name = "dry_run", .kind = Kind::boolean, .description = "Say what would happen; run and change nothing"},
    {.name = "keep",
     .kind = Kind::boolean,
     .description = "With dry_run: keep what it did, to apply it later by sandbox_preview_commit"},
    {.name = "timeout",
     .kind = Kind::whole,
     .description = "End it after so many milliseconds",
     .least = 1,
     .most = 24 * hour_ms},
    {.name = "env", .kind = Kind::texts, .description = "Variables for the command, by name"},
    {.name = "working_dir", .description = "Directory of the workspace to run it in, absolute or relative"},
    {.name = "wait",
     .kind = Kind::whole,
     .description = "If it needs approval, stay so many milliseconds for a person's answer and then run it",
     .least = 1,
     .most = hour_ms},
    {.name = "approval", .description = "Run by this approval (cmd_…), given earlier for the same command"},
}};
constexpr std::array<Argument, 1> list_arguments = {{
    {.name = "status", .kind = Kind::choice, .description = "Which; pending if not said", .choices = statuses},
}};
constexpr std::array<Argument, 3> approve_arguments = {{
    {.name = "id", .required = true, .description = "The whole id, cmd_…"},
    {.name = "approved_by", .required = true, .description = "Who approves, for the record"},
    {.name = "notes", .description = "Why, for the record"},
}};
constexpr std::array<Argument, 3> reject_arguments = {{
    {.name = "id", .required = true, .description = "The whole id, cmd_…"},
    {.name = "rejected_by", .required = true, .description = "Who rejects, for the record"},
    {.name = "reason", .required = true, .description = "Why; the asker is told"},
}};
constexpr std::array<Argument, 4> log_arguments = {{
    {.name = "limit", .kind = Kind::whole, .description = "At most so many, the newest; 50 if not said", .most = 1000},
    {.name = "risk_level", .kind = Kind::choice, .description = "Only of this risk", .choices = risks},
    {.name = "since", .description = "Only since then: a time (2026-02-01) or how long ago (2h)"},
    {.name = "command_pattern", .description = "Only commands that match, with * and ?"},
}};
constexpr std::array<Argument, 1> stats_arguments = {{
    {.name = "period", .kind = Kind::choice, .description = "Over which time; all if not said", .choices = periods},
}};
constexpr std::array<Argument, 3> add_arguments = {{
    {.name = "pattern", .required = true, .description = "Words from the start of a command, e.g. 'cargo build'"},
    {.name = "description", .description = "Why, for whoever reads the list"},
    {.name = "auto_approve", .kind = Kind::boolean, .description = "false: listed and shown, still asks"},
}};
constexpr std::array<Argument, 1> remove_arguments = {{
    {.name = "pattern", .required = true, .description = "Exactly as listed"},
}};
constexpr std::array<Argument, 1> test_arguments = {{
    {.name = "command", .required = true, .description = "The shell command to look up"},
}};
constexpr std::array<Argument, 5> run_arguments = {{
    {.name = "language", .required = true, .description = "javascript, python, bash, or another that is installed"},
    {.name = "code", .required = true, .description = "The code"},
    {.name = "timeout",
     .kind = Kind::whole,
     .description = "End it after so many milliseconds; 30000 if not said",
     .least = 1,
     .most = 24 * hour_ms},
    {.name = "maxOutputSize",
     .kind = Kind::whole,
     .description = "Keep so many bytes of its output; 1 MiB if not said",
     .least = 1,
     .most = 64 << 20},
    {.name = "session", .description = "Keeps variables from one call to the next under this name"},
}};
constexpr std::array<Argument, 2> explain_arguments = {{
    {.name = "session", .description = "A session key to explain"},
    {.name = "command", .description = "A command whose verdict and rules to explain"},
}};

constexpr std::array<Argument, 1> preview_arguments = {{
    {.name = "id", .required = true, .description = "The whole id, prv_…"},
}};
constexpr std::array<Argument, 2> commit_arguments = {{
    {.name = "id", .required = true, .description = "The whole id, prv_…"},
    {.name = "approval", .description = "Commit by this approval (cmd_…), given earlier"},
}};

const std::vector<Role> everyone = {Role::agent, Role::approver, Role::auditor};
const std::vector<Role> runners = {Role::agent, Role::approver};
const std::vector<Role> approvers = {Role::approver};

constexpr Hints reads = {.read_only = true, .idempotent = true};

const std::array<Tool, 16> table = {{
    {.name = "sandbox_check",
     .title = "Judge a command",
     .description =
         "Says how risky a shell command is, why, and what would happen to it: run, wait for a person's approval, or "
         "be "
         "refused. Nothing runs. Use it before sandbox_exec when you are unsure; `safer` suggests other ways.",
     .arguments = check_arguments,
     .output_schema = check_schema,
     .hints = reads,
     .roles = everyone,
     .policy_name = "",
     .call = check_command},
    {.name = "sandbox_exec",
     .title = "Run a command in the sandbox",
     .description =
         "Judges a shell command, runs it isolated in the workspace (no network unless granted, a private home and "
         "/tmp) "
         "and records it. Safe and normal commands run at once. A dangerous one is queued: nothing has run, `queue_id` "
         "names the request; tell the user what you want to run and why, and ask them to run `sandbox-queue approve "
         "<id>`; then call this again with the same arguments. A refused command stays refused: choose another way. "
         "Set `dry_run` to see the effects first.",
     .arguments = exec_arguments,
     .output_schema = exec_schema,
     .hints = {.destructive = true},
     .roles = runners,
     .policy_name = "exec",
     .call = execute_command},
    {.name = "sandbox_queue_list",
     .title = "List requests that wait for approval",
     .description = "Lists your own requests for approval and what became of them. Only a person can approve them.",
     .arguments = list_arguments,
     .output_schema = list_schema,
     .hints = reads,
     .roles = everyone,
     .policy_name = "",
     .call = list_queue},
    {.name = "sandbox_queue_approve",
     .title = "Approve a request",
     .description = "Lets a queued command run once. It runs here, or by the asker that waits for it.",
     .arguments = approve_arguments,
     .output_schema = answer_schema,
     .hints = {.destructive = true},
     .roles = approvers,
     .policy_name = "",
     .call = approve_entry},
    {.name = "sandbox_queue_reject",
     .title = "Reject a request",
     .description = "Says no to a queued command; the asker is told the reason.",
     .arguments = reject_arguments,
     .output_schema = answer_schema,
     .hints = {},
     .roles = approvers,
     .policy_name = "",
     .call = reject_entry},
    {.name = "sandbox_audit_log",
     .title = "Read the audit log",
     .description = "The newest records of what was asked for, decided and run; an agent sees its own.",
     .arguments = log_arguments,
     .output_schema = list_schema,
     .hints = reads,
     .roles = everyone,
     .policy_name = "",
     .call = read_log},
    {.name = "sandbox_audit_stats",
     .title = "Statistics of the audit log",
     .description = "How many commands were asked for, of which risk, and what became of them.",
     .arguments = stats_arguments,
     .output_schema = stats_schema,
     .hints = reads,
     .roles = everyone,
     .policy_name = "",
     .call = read_stats},
    {.name = "sandbox_allowlist_add",
     .title = "Add to the allowlist",
     .description = "From now on commands that begin with these words run without being asked about.",
     .arguments = add_arguments,
     .output_schema = change_schema,
     .hints = {.destructive = true, .idempotent = true},
     .roles = approvers,
     .policy_name = "",
     .call = add_to_allowlist},
    {.name = "sandbox_allowlist_remove",
     .title = "Remove from the allowlist",
     .description = "Commands that only this pattern covered are asked about again.",
     .arguments = remove_arguments,
     .output_schema = change_schema,
     .hints = {},
     .roles = approvers,
     .policy_name = "",
     .call = remove_from_allowlist},
    {.name = "sandbox_allowlist_test",
     .title = "Test the allowlist",
     .description = "Says which allowlist entry, if any, covers a command and each of its parts.",
     .arguments = test_arguments,
     .output_schema = coverage_schema,
     .hints = reads,
     .roles = everyone,
     .policy_name = "",
     .call = test_allowlist},
    {.name = "sandbox_run",
     .title = "Run code in a clean room",
     .description =
         "Runs a snippet of Python, JavaScript, Bash or another language in a room of its own: no network, no files "
         "but "
         "those it makes, nothing stays. Use it for computations and data processing. `output` is what it printed (and "
         "in JavaScript the value of the last expression), `error` why it failed, `artifacts` the files it made.",
     .arguments = run_arguments,
     .output_schema = run_schema,
     .hints = {},
     .roles = runners,
     .policy_name = "exec",
     .call = run_snippet,
     .denied_with = "code_execution"},
    {.name = "sandbox_explain",
     .title = "Explain the sandbox",
     .description =
         "Says where commands of a session run, what is opened to them, which tools there are, and by which rule. With "
         "`command`: how it would be decided and the file and line of each rule that counted.",
     .arguments = explain_arguments,
     .output_schema = explain_schema,
     .hints = reads,
     .roles = everyone,
     .policy_name = "",
     .call = explain_settings},
    {.name = "sandbox_preview_list",
     .title = "List kept previews",
     .description = "Lists what sandbox_exec with `dry_run` and `keep` has kept for you.",
     .arguments = {},
     .output_schema = list_schema,
     .hints = reads,
     .roles = everyone,
     .policy_name = "",
     .call = list_previews},
    {.name = "sandbox_preview_show",
     .title = "Show a kept preview",
     .description = "What the command did in its dry run: changed files with diffs, output, and what changed in the "
                    "workspace since "
                    "(`conflicts`). Of a command that waits for approval only its approver sees it.",
     .arguments = preview_arguments,
     .output_schema = preview_schema,
     .hints = reads,
     .roles = everyone,
     .policy_name = "",
     .call = show_preview},
    {.name = "sandbox_preview_commit",
     .title = "Apply a kept preview",
     .description =
         "Applies exactly the changes of a kept preview to the workspace, without running the command again. It needs "
         "the approval that the command would need; with `queued`, ask the user to run `sandbox-queue approve "
         "<queue_id> "
         "--commit`. With `conflicts` nothing was applied: make a new preview.",
     .arguments = commit_arguments,
     .output_schema = commit_schema,
     .hints = {.destructive = true},
     .roles = runners,
     .policy_name = "exec",
     .call = commit_preview},
    {.name = "sandbox_preview_discard",
     .title = "Drop a kept preview",
     .description = "Drops a preview that is not wanted any more; a commit of it that was cut off is undone.",
     .arguments = preview_arguments,
     .output_schema = answer_schema,
     .hints = {.idempotent = true},
     .roles = runners,
     .policy_name = "exec",
     .call = discard_preview},
}};

}  // namespace

std::span<const Tool> all_tools() { return table; }

}  // namespace cordon::serve
