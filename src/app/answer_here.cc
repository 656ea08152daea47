#include "app/answer_here.h"

#include <unistd.h>

#include <iostream>

#include "app/asker.h"
#include "app/decision.h"
#include "app/terminal.h"
#include "base/text.h"

namespace cordon::app {

namespace {

void show_entry(const approve::Entry& entry, bool details) {
  std::cerr << styled(name_of(entry.request.risk), Style::yellow, STDERR_FILENO) << ": "
            << visible(entry.request.command, Lines::keep) << '\n';
  for (const std::string& reason : entry.request.reasons) std::cerr << "  - " << visible(reason, Lines::escape) << '\n';
  const Json& plan = entry.request.plan;
  for (const Json& grant : plan["grants"]) {
    std::cerr << "  would be opened: " << visible(grant["target"].get<std::string>(), Lines::escape) << " ("
              << grant["kind"].get<std::string>() << ")\n";
  }
  for (const Json& missing : plan["unpinned"]) {
    std::cerr << "  content not pinned: " << visible(missing.get<std::string>(), Lines::escape) << '\n';
  }
  if (!details) return;
  Json shown = plan;
  shown.erase("request");
  std::cerr << visible(shown.dump(2, ' ', false, Json::error_handler_t::replace), Lines::keep) << '\n';
}

/// A person who is there answers at once.
Result<std::optional<approve::Vote>> ask_here(const approve::Entry& entry, const std::string& user,
                                              const GlobalOptions& global, const PresenceOptions& presence) {
  const bool has_approver = TRY(approve::ApproverStore(TRY(state_directory(global))).read()).has_value();
  // Code is not kept with its entry, so there is nothing to try out.
  const bool can_try = !entry.request.plan.contains("code");
  const char* question = can_try ? "Run it? [y/N, d for details, p for a preview] " : "Run it? [y/N, d for details] ";
  show_entry(entry, false);
  for (;;) {
    const std::string answer = to_lower(trim(TRY(ask_line(question))));
    if (answer == "d") {
      show_entry(entry, true);
      continue;
    }
    if (answer == "p" && can_try) {
      if (const auto shown = preview_entry(global, entry, SystemClock()); !shown) complain(shown.error());
      continue;
    }
    if (answer != "y" && answer != "yes") return std::optional<approve::Vote>();
    approve::Vote vote{.by = user, .presence = approve::Presence::confirmed, .inside_sandbox = inside_sandbox()};
    // An agent can open a terminal of its own and type y; what it cannot type is the passphrase.
    if (has_approver) vote.presence = TRY(prove_presence(global, presence, "Approve " + entry.id + "?"));
    return std::optional(std::move(vote));
  }
}

}  // namespace

std::function<Result<std::optional<approve::Vote>>(const approve::Entry&)> answer_here(const GlobalOptions& global,
                                                                                       const PresenceOptions& presence,
                                                                                       const Request& request) {
  if (!someone_is_here(global, request)) return {};
  return [user = request.asker.user, global, presence](const approve::Entry& entry) {
    return ask_here(entry, user, global, presence);
  };
}

}  // namespace cordon::app
