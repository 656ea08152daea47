#include "config/field.h"

#include <fmt/format.h>
#include <algorithm>

#include <array>
#include <chrono>
#include <type_traits>

#include "base/clock.h"
#include "base/text.h"

namespace cordon::config {
namespace {

constexpr std::array<std::string_view, 4> levels = {"deny", "allowlist", "ask", "full"};
constexpr std::array<std::string_view, 3> modes = {"all", "non-main", "off"};
constexpr std::array<std::string_view, 3> scopes = {"session", "agent", "shared"};
constexpr std::array<std::string_view, 3> accesses = {"none", "ro", "rw"};
constexpr std::array<std::string_view, 5> backends = {"auto", "native", "docker", "gvisor", "runc"};
constexpr std::array<std::string_view, 4> profiles = {"minimal", "messaging", "coding", "full"};
constexpr std::array<std::string_view, 2> audit_choices = {"stop", "continue"};
constexpr std::array<std::string_view, 2> preview_choices = {"off", "auto"};

constexpr std::array<std::string_view, 6> alert_names = {"approval_wanted",        "blocked",    "disallowed",
                                                         "exfiltration_suspected", "queue_full", "audit_trouble"};

constexpr std::array<std::string_view, 8> headings = {
    "Security Level",    "Allowed Commands", "Dangerous Patterns", "Disallowed Commands",
    "Approval Settings", "Network",          "Filesystem",         "Limits"};

constexpr double second = 1'000, day = 86'400 * second;
constexpr double kibi = 1024, mebi = 1024 * kibi, tebi = mebi * mebi;

/// A place in the settings, as a type: `at` finds it in a Target.
template <auto at>
using Stored = std::remove_cvref_t<decltype(at(std::declval<const Target&>()).value)>;

template <auto at>
Setting<Scalar> get(const Target& target) {
  const auto& setting = at(target);
  if constexpr (std::is_same_v<Stored<at>, std::string>) {
    return {setting.value, setting.origin};
  } else {
    return {static_cast<std::int64_t>(setting.value), setting.origin};
  }
}

template <auto at>
void set(const Target& target, const Scalar& value, const Origin& origin) {
  auto& setting = at(target);
  if constexpr (std::is_same_v<Stored<at>, std::string>) {
    setting.value = std::get<std::string>(value);
  } else {
    setting.value = static_cast<Stored<at>>(std::get<std::int64_t>(value));
  }
  setting.origin = origin;
}

template <auto at>
std::vector<Item> items(const Target& target) {
  std::vector<Item> made;
  for (const auto& element : at(target)) made.push_back({element});
  return made;
}

template <auto at>
void assign(const Target& target, const std::vector<Item>& from, const Origin&) {
  auto& list = at(target);
  list.clear();
  using Element = typename std::remove_cvref_t<decltype(list)>::value_type;
  for (const Item& item : from) list.push_back(std::get<Element>(item.value));
}

void assign_network(const Target& target, const std::vector<Item>& from, const Origin& origin) {
  assign<[](const Target& in) -> auto& { return in.agent.sandbox.network; }>(target, from, origin);
  target.agent.sandbox.network_origin = origin;
}

struct Scalars {
  std::string_view section = "", label = "";
  std::span<const std::string_view> choices = {};
  double least = 0, most = 0;
  Looser looser = Looser::larger;
  bool only_from_user = false;
};

enum class For { all, agent };

template <auto at>
Field scalar(std::string_view key, For whom, Form form, const Scalars& more) {
  return {.key = key,
          .section = more.section,
          .label = more.label,
          .per_agent = whom == For::agent,
          .form = form,
          .choices = more.choices,
          .least = more.least,
          .most = more.most,
          .looser = more.looser,
          .adding = Adding::tightens,
          .joined = false,
          .only_from_user = more.only_from_user,
          .get = get<at>,
          .set = set<at>,
          .items = nullptr,
          .assign = nullptr};
}

enum class Later { joins, replaces };

/// Each bind and path is a mount; each host a rule of the proxy.
constexpr double most_entries(Form form) {
  if (form == Form::binds || form == Form::paths) return 256;
  if (form == Form::commands) return 20'000;
  return 1'000;
}

template <auto at>
Field list(std::string_view key, std::string_view section, For whom, Form form, Adding adding, Later later) {
  return {.key = key,
          .section = section,
          .label = "",
          .per_agent = whom == For::agent,
          .form = form,
          .choices = {},
          .least = 0,
          .most = most_entries(form),
          .looser = Looser::any_change,
          .adding = adding,
          .joined = later == Later::joins,
          .only_from_user = false,
          .get = nullptr,
          .set = nullptr,
          .items = items<at>,
          .assign = assign<at>};
}

#define AT(path) [](const Target& in) -> auto& { return in.path; }

std::vector<Field> policy_fields() {
  return {
      scalar<AT(settings.level)>("policy.level", For::all, Form::choice,
                                 {.section = "Security Level", .label = "Level", .choices = levels}),
      list<AT(settings.allowed)>("policy.allowed", "Allowed Commands", For::all, Form::commands, Adding::loosens,
                                 Later::joins),
      list<AT(settings.dangerous)>("policy.dangerous", "Dangerous Patterns", For::all, Form::commands, Adding::tightens,
                                   Later::joins),
      list<AT(settings.disallowed)>("policy.disallowed", "Disallowed Commands", For::all, Form::commands,
                                    Adding::tightens, Later::joins),
      scalar<AT(settings.approval.auto_approve_safe)>("policy.autoApproveSafe", For::all, Form::boolean,
                                                      {.section = "Approval Settings", .label = "Auto-approve safe"}),
      scalar<AT(settings.approval.dry_run)>(
          "policy.dryRun", For::all, Form::boolean,
          {.section = "Approval Settings", .label = "Dry-run by default", .looser = Looser::smaller}),
      scalar<AT(settings.approval.audit_retention_ms)>("policy.auditRetention", For::all, Form::duration,
                                                       {.section = "Approval Settings",
                                                        .label = "Audit retention",
                                                        .least = day,
                                                        .most = 36'500 * day,
                                                        .looser = Looser::smaller}),
      scalar<AT(settings.approval.expiry_ms)>(
          "policy.approvalExpiry", For::all, Form::duration,
          {.section = "Approval Settings", .label = "Approval expiry", .least = second, .most = 30 * day}),
      scalar<AT(settings.approval.queue_limit)>(
          "policy.queueLimit", For::all, Form::count,
          {.section = "Approval Settings", .label = "Queue limit", .least = 1, .most = 100'000}),
      // Off is the tight side: a preview runs what nobody approved yet. Whoever approves can still ask for one.
      scalar<AT(settings.approval.preview)>(
          "policy.preview", For::all, Form::choice,
          {.section = "Approval Settings", .label = "Preview", .choices = preview_choices}),
      scalar<AT(settings.on_audit_failure)>(
          "policy.onAuditFailure", For::all, Form::choice,
          {.section = "Approval Settings", .label = "On audit failure", .choices = audit_choices}),
      list<AT(settings.filesystem)>("policy.filesystem", "Filesystem", For::all, Form::paths, Adding::depends_on_path,
                                    Later::joins),
  };
}

/// Who may answer for a person, and where: nothing that a workspace has a say in.
std::vector<Field> answer_fields() {
  Field surfaces = list<AT(settings.approval.surfaces)>("policy.approverSurfaces", "", For::all, Form::names,
                                                        Adding::loosens, Later::replaces);
  surfaces.only_from_user = true;
  return {surfaces, scalar<AT(settings.approval.page)>("policy.approvalPage", For::all, Form::address,
                                                       {.looser = Looser::any_change, .only_from_user = true})};
}

std::vector<Field> notification_fields() {
  Field command = list<AT(settings.notifications.command)>("notifications.command", "", For::all, Form::words,
                                                           Adding::loosens, Later::replaces);
  Field events = list<AT(settings.notifications.events)>("notifications.events", "", For::all, Form::events,
                                                         Adding::loosens, Later::replaces);
  command.only_from_user = events.only_from_user = true;
  events.choices = alert_names;
  const Scalars own{.looser = Looser::any_change, .only_from_user = true};
  return {
      scalar<AT(settings.notifications.desktop)>("notifications.desktop", For::all, Form::boolean, own),
      scalar<AT(settings.notifications.webhook_url)>("notifications.webhook.url", For::all, Form::address, own),
      scalar<AT(settings.notifications.webhook_secret_file)>("notifications.webhook.secretFile", For::all, Form::file,
                                                             own),
      command,
      events,
  };
}

std::vector<Field> limit_fields() {
  const auto limit = [](std::string_view label, double least, double most) {
    return Scalars{.section = "Limits", .label = label, .least = least, .most = most};
  };
  return {
      scalar<AT(agent.sandbox.limits.time_ms)>("sandbox.limits.timeMs", For::agent, Form::duration,
                                               limit("Time", 1, 30 * day)),
      scalar<AT(agent.sandbox.limits.memory_bytes)>("sandbox.limits.memory", For::agent, Form::size,
                                                    limit("Memory", mebi, 64 * tebi)),
      scalar<AT(agent.sandbox.limits.millicpus)>("sandbox.limits.cpus", For::agent, Form::processors,
                                                 limit("CPU", 0.01, 4096)),
      scalar<AT(agent.sandbox.limits.processes)>("sandbox.limits.pids", For::agent, Form::count,
                                                 limit("Processes", 1, 4'194'304)),
      scalar<AT(agent.sandbox.limits.disk_bytes)>("sandbox.limits.disk", For::agent, Form::size,
                                                  limit("Disk", 64 * kibi, 64 * tebi)),
      scalar<AT(agent.sandbox.limits.output_bytes)>("sandbox.limits.output", For::agent, Form::size,
                                                    limit("Output", 0, tebi)),
      scalar<AT(agent.sandbox.network_limits.connections)>("sandbox.network.limits.connections", For::agent,
                                                           Form::count, limit("Connections", 1, 65'536)),
      scalar<AT(agent.sandbox.network_limits.bytes)>("sandbox.network.limits.bytes", For::agent, Form::size,
                                                     limit("Network bytes", 1, 64 * tebi)),
      scalar<AT(agent.sandbox.network_limits.time_ms)>("sandbox.network.limits.timeMs", For::agent, Form::duration,
                                                       limit("Connection time", 1, 30 * day)),
  };
}

std::vector<Field> sandbox_fields() {
  Field network = list<AT(agent.sandbox.network)>("sandbox.network.allow", "Network", For::agent, Form::network,
                                                  Adding::loosens, Later::replaces);
  network.assign = assign_network;
  return {
      scalar<AT(agent.sandbox.mode)>("sandbox.mode", For::agent, Form::choice, {.choices = modes}),
      scalar<AT(agent.sandbox.scope)>("sandbox.scope", For::agent, Form::choice, {.choices = scopes}),
      scalar<AT(agent.sandbox.workspace)>("sandbox.workspace", For::agent, Form::choice, {.choices = accesses}),
      list<AT(agent.sandbox.binds)>("sandbox.binds", "", For::agent, Form::binds, Adding::loosens, Later::joins),
      scalar<AT(agent.sandbox.backend)>("sandbox.backend", For::agent, Form::choice,
                                        {.choices = backends, .looser = Looser::any_change}),
      network,
      scalar<AT(agent.sandbox.docker.image)>("sandbox.docker.image", For::agent, Form::text,
                                             {.looser = Looser::any_change}),
      scalar<AT(agent.sandbox.docker.user)>("sandbox.docker.user", For::agent, Form::text,
                                            {.looser = Looser::any_change}),
      list<AT(agent.sandbox.docker.environment)>("sandbox.docker.env", "", For::agent, Form::environment,
                                                 Adding::loosens, Later::joins),
      // Long enough for a command to reach the container that was made for it, also on a busy machine.
      scalar<AT(agent.sandbox.docker.idle_ms)>("sandbox.docker.idle", For::agent, Form::duration,
                                               {.least = 5 * second, .most = 30 * day}),
      scalar<AT(agent.sandbox.docker.age_ms)>("sandbox.docker.age", For::agent, Form::duration,
                                              {.least = 60 * second, .most = 30 * day}),
  };
}

std::vector<Field> tool_fields() {
  return {
      scalar<AT(agent.tools.profile)>("tools.profile", For::agent, Form::choice,
                                      {.choices = profiles, .looser = Looser::fewer_tools}),
      list<AT(agent.tools.allow)>("tools.allow", "", For::agent, Form::allowed_tools, Adding::loosens, Later::replaces),
      list<AT(agent.tools.deny)>("tools.deny", "", For::agent, Form::denied_tools, Adding::tightens, Later::joins),
      scalar<AT(agent.elevated.enabled)>("tools.elevated.enabled", For::agent, Form::boolean, {}),
      list<AT(agent.elevated.patterns)>("tools.elevated.patterns", "", For::agent, Form::commands, Adding::loosens,
                                        Later::replaces),
      scalar<AT(agent.elevated.require_approval)>("tools.elevated.requireApproval", For::agent, Form::boolean,
                                                  {.looser = Looser::smaller, .only_from_user = true}),
  };
}

#undef AT

std::vector<Field> all_fields() {
  std::vector<Field> made;
  for (const auto& part :
       {policy_fields(), answer_fields(), sandbox_fields(), limit_fields(), tool_fields(), notification_fields()}) {
    made.insert(made.end(), part.begin(), part.end());
  }
  return made;
}

/// Labels are compared as people write them: case, and blank or dash, make no difference.
std::string folded(std::string_view label) {
  std::string made = to_lower(trim(label));
  std::ranges::replace(made, '-', ' ');
  std::ranges::replace(made, '_', ' ');
  return made;
}

std::string shown_size(std::int64_t bytes) {
  constexpr std::array<std::string_view, 5> units = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (unit + 1 < units.size() && bytes >= 1024 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", bytes, units[unit]);
}

}  // namespace

bool is_list(Form form) { return form >= Form::commands; }

std::string Item::text() const {
  struct Shown {
    std::string operator()(const Entry& entry) const { return entry.value; }
    std::string operator()(const NetworkRule& rule) const { return rule.text(); }
    std::string operator()(const PathRule& rule) const {
      return fmt::format("{}: {}", rule.path, name_of(rule.access));
    }
    std::string operator()(const BindSetting& bind) const { return bind.text(); }
  };
  return std::visit(Shown{}, value);
}

const Origin& Item::origin() const {
  return std::visit([](const auto& element) -> const Origin& { return element.origin; }, value);
}

std::span<const Field> fields() {
  static const std::vector<Field> made = all_fields();
  return made;
}

const Field* field_named(std::string_view key) {
  for (const Field& field : fields()) {
    if (field.key == key) return &field;
  }
  return nullptr;
}

const Field* field_labelled(std::string_view section, std::string_view label) {
  for (const Field& field : fields()) {
    if (field.section == section && !field.label.empty() && folded(field.label) == folded(label)) return &field;
  }
  return nullptr;
}

std::span<const std::string_view> sections() { return headings; }

std::string shown(const Field& field, const Scalar& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  const std::int64_t number = std::get<std::int64_t>(value);
  switch (field.form) {
    case Form::choice:
      return std::string(field.choices[static_cast<std::size_t>(number)]);
    case Form::boolean:
      return number != 0 ? "true" : "false";
    case Form::duration:
      return to_text(std::chrono::milliseconds(number));
    case Form::size:
      return shown_size(number);
    case Form::processors:
      return fmt::format("{}", static_cast<double>(number) / 1000);
    default:
      return std::to_string(number);
  }
}

}  // namespace cordon::config
