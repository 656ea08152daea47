#include "config/settings_file.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/text.h"

namespace cordon::config {
namespace {

using json5::Member;
using json5::Value;
using ValueKind = json5::Value::Kind;

constexpr std::size_t largest_file = 1 << 20;

/// OpenClaw's spellings. Within an agent's part, like the keys of the fields.
struct Alias {
  std::string_view written;
  std::string_view means;
};
constexpr std::array<Alias, 7> aliases = {{
    {"sandbox.workspaceAccess", "sandbox.workspace"},
    {"sandbox.docker.binds", "sandbox.binds"},
    {"sandbox.docker.memory", "sandbox.limits.memory"},
    {"sandbox.docker.cpus", "sandbox.limits.cpus"},
    {"sandbox.docker.pidsLimit", "sandbox.limits.pids"},
    {"tools.alsoAllow", "tools.allow"},
    {"tools.sandbox.tools.deny", "tools.deny"},
}};

/// OpenClaw's keys beside those we take. They choose what Cordon always does (a read-only root, no capabilities), or
/// things that it has not; none of them may weaken anything here, so they are listed and passed over.
constexpr std::array<std::string_view, 31> passed_over = {"$schema",
                                                          "sandbox.workspaceRoot",
                                                          "sandbox.perSession",
                                                          "sandbox.browser",
                                                          "sandbox.prune",
                                                          "sandbox.ssh",
                                                          "sandbox.sessionToolsVisibility",
                                                          "sandbox.docker.containerPrefix",
                                                          "sandbox.docker.workdir",
                                                          "sandbox.docker.readOnlyRoot",
                                                          "sandbox.docker.tmpfs",
                                                          "sandbox.docker.capDrop",
                                                          "sandbox.docker.setupCommand",
                                                          "sandbox.docker.memorySwap",
                                                          "sandbox.docker.gpus",
                                                          "sandbox.docker.ulimits",
                                                          "sandbox.docker.seccompProfile",
                                                          "sandbox.docker.apparmorProfile",
                                                          "sandbox.docker.dns",
                                                          "sandbox.docker.extraHosts",
                                                          "sandbox.docker.dangerouslyAllowReservedContainerTargets",
                                                          "sandbox.docker.dangerouslyAllowExternalBindSources",
                                                          "sandbox.docker.dangerouslyAllowContainerNamespaceJoin",
                                                          "tools.byProvider",
                                                          "tools.exec",
                                                          "tools.web",
                                                          "tools.media",
                                                          "tools.subagents",
                                                          "tools.agentToAgent",
                                                          "tools.elevated.allowFrom",
                                                          "tools.sandbox.tools.allow"};

/// Top-level keys that only OpenClaw's file has.
constexpr std::array<std::string_view, 22> openclaw_marks = {
    "gateway", "channels", "models",   "session", "messages", "plugins", "wizard",  "meta",
    "auth",    "bindings", "hooks",    "cron",    "ui",       "logging", "browser", "skills",
    "talk",    "web",      "commands", "memory",  "nodeHost", "env"};

/// Where in the file a value stands.
struct At {
  std::string path;   // as written, from the top: for errors
  std::string key;    // within an agent's part, or from the top outside of agents
  std::string agent;  // empty: for all
};

class SettingsReader {
 public:
  SettingsReader(std::string_view name, Dialect dialect, const Surroundings& around, std::vector<Remark>& remarks)
      : name_(name), dialect_(dialect), around_(around), remarks_(remarks) {}

  Result<std::vector<Change>> read(std::string_view text) {
    const json5::Document document = TRY(json5::read(text, name_, {.bytes = largest_file}));
    if (!document.repeated.empty()) {
      const json5::Repeated& key = document.repeated.front();
      return fail(Fault::invalid_input, "{}: key '{}' stands a second time (first in line {})",
                  origin(key.again).text(), shown_key(key.key), key.first.line);
    }
    CHECK_OK(expect(document.root, ValueKind::object, "the file"));
    openclaw_ = dialect_ == Dialect::any && is_openclaw(document.root);
    CHECK_OK(read_top(document.root));
    note_unused();
    return std::move(changes_);
  }

 private:
  static std::string shown_key(std::string_view key) { return visible(key.substr(0, 80), Lines::escape); }

  Origin origin(json5::Place where) const { return {std::string(name_), where.line, where.column}; }

  Result<void> expect(const Value& value, ValueKind kind, std::string_view what) const {
    if (value.kind == kind) return {};
    return fail(Fault::invalid_input, "{}: {} is {}; expected {}", origin(value.where).text(), what,
                name_of(value.kind), name_of(kind));
  }

  bool is_openclaw(const Value& root) const {
    const std::string_view base = name_.substr(name_.rfind('/') + 1);
    if (base.starts_with("openclaw.json")) return true;
    return std::ranges::any_of(root.members, [](const Member& member) {
      return std::ranges::find(openclaw_marks, member.key) != openclaw_marks.end();
    });
  }

  Result<void> read_top(const Value& root) {
    for (const Member& member : root.members) {
      const At at{member.key, member.key, ""};
      if (member.key == "agents") {
        CHECK_OK(read_agents(member.value));
      } else if (member.key == "tools" || member.key == "policy" || member.key == "notifications") {
        CHECK_OK(read_value(member.value, at));
      } else {
        CHECK_OK(unknown(member, at, "", {{"agents", "tools", "policy", "notifications"}}));
      }
    }
    return {};
  }

  Result<void> read_agents(const Value& agents) {
    CHECK_OK(expect(agents, ValueKind::object, "agents"));
    for (const Member& member : agents.members) {
      const At at{"agents." + member.key, "", ""};
      if (member.key == "defaults") {
        CHECK_OK(read_agent(member.value, at));
      } else if (member.key == "entries") {
        CHECK_OK(expect(member.value, ValueKind::object, at.path));
        for (const Member& entry : member.value.members) {
          CHECK_OK(read_named_agent(entry.value, entry.key, entry.where,
                                    fmt::format("{}.{}", at.path, shown_key(entry.key))));
        }
      } else if (member.key == "list") {
        CHECK_OK(read_agent_list(member.value));
      } else {
        CHECK_OK(unknown(member, at, "agents", {{"defaults", "entries", "list"}}));
      }
    }
    return {};
  }

  /// OpenClaw's older form: [{id: "main", sandbox: {…}}].
  Result<void> read_agent_list(const Value& list) {
    CHECK_OK(expect(list, ValueKind::array, "agents.list"));
    for (const Value& entry : list.items) {
      CHECK_OK(expect(entry, ValueKind::object, "an entry of agents.list"));
      const Value* id = entry.find("id");
      if (id == nullptr) {
        return fail(Fault::invalid_input, "{}: an entry of agents.list has no 'id'", origin(entry.where).text());
      }
      CHECK_OK(expect(*id, ValueKind::string, "agents.list id"));
      CHECK_OK(read_named_agent(entry, id->string, id->where, fmt::format("agents.list.{}", shown_key(id->string))));
    }
    return {};
  }

  Result<void> read_named_agent(const Value& value, const std::string& id, json5::Place where, std::string path) {
    const bool plain =
        !id.empty() && id.size() <= 64 && id.find_first_of(":/ ") == std::string::npos && hidden_characters(id).empty();
    if (!plain) {
      return fail(Fault::invalid_input, "{}: '{}' is no agent id (1 to 64 characters, no blank, ':' or '/')",
                  origin(where).text(), shown_key(id));
    }
    return read_agent(value, {std::move(path), "", id});
  }

  Result<void> read_agent(const Value& value, const At& at) {
    CHECK_OK(expect(value, ValueKind::object, at.path));
    for (const Member& member : value.members) {
      const At inner{fmt::format("{}.{}", at.path, shown_key(member.key)), member.key, at.agent};
      const bool known = member.key == "sandbox" || (member.key == "tools" && !at.agent.empty());
      if (known) {
        CHECK_OK(read_value(member.value, inner));
      } else if (member.key != "id" || !at.path.starts_with("agents.list.")) {
        CHECK_OK(unknown(member, inner, at.path, children("", !at.agent.empty())));
      }
    }
    return {};
  }

  Result<void> read_value(const Value& value, const At& at) {
    if (const Field* field = field_at(at.key)) return read_field(*field, value, at);
    if (at.key == "sandbox" && value.kind == ValueKind::string) {
      return read_field(*field_named("sandbox.mode"), value, at);
    }
    if (at.key == "sandbox.network" && value.kind == ValueKind::string) return read_network_word(value, at);
    CHECK_OK(expect(value, ValueKind::object, at.path));
    for (const Member& member : value.members) {
      const At inner{fmt::format("{}.{}", at.path, shown_key(member.key)), fmt::format("{}.{}", at.key, member.key),
                     at.agent};
      if (inner.key == "sandbox.docker.network") {
        CHECK_OK(read_network_word(member.value, inner));
      } else if (field_at(inner.key) != nullptr || !children(inner.key, true).empty()) {
        CHECK_OK(read_value(member.value, inner));
      } else {
        CHECK_OK(unknown(member, inner, at.path, children(at.key, true)));
      }
    }
    return {};
  }

  static const Field* field_at(std::string_view key) {
    for (const Alias& alias : aliases) {
      if (alias.written == key) return field_named(alias.means);
    }
    return field_named(key);
  }

  /// The keys that may stand right below `key`; with "" those of an agent's part.
  static std::vector<std::string_view> children(std::string_view key, bool with_tools) {
    std::set<std::string_view> made;
    const auto add = [&](std::string_view path) {
      if (!key.empty()) {
        if (!path.starts_with(key) || path.size() <= key.size() || path[key.size()] != '.') return;
        path.remove_prefix(key.size() + 1);
      }
      made.insert(path.substr(0, std::min(path.find('.'), path.size())));
    };
    for (const Field& field : fields()) add(field.key);
    for (const Alias& alias : aliases) add(alias.written);
    if (key.empty()) {
      made.erase("policy");
      made.erase("notifications");
      if (!with_tools) made.erase("tools");
    }
    return {made.begin(), made.end()};
  }

  Result<void> unknown(const Member& member, const At& at, std::string_view parent,
                       const std::vector<std::string_view>& known) {
    const bool listed = std::ranges::find(passed_over, at.key) != passed_over.end();
    // In OpenClaw's file a key that is almost one of ours is more likely a slip than a novelty; passing over it could
    // lose a protection.
    const auto close = nearest(member.key, known);
    const bool slip = close && close->size() > 3 && member.key.size() > 3 && at.key.starts_with("sandbox") &&
                      distance_is_small(member.key, *close);
    if (listed || (openclaw_ && !slip)) {
      unused_.push_back(fmt::format("{} (line {})", at.path, member.where.line));
      return {};
    }
    const std::string under = parent.empty() ? "" : fmt::format(" under {}", parent);
    return fail(Fault::invalid_input, "{}: unknown key '{}'{}{}", origin(member.where).text(), shown_key(member.key),
                under, did_you_mean(member.key, known));
  }

  /// One letter too many, too few, or two swapped.
  static bool distance_is_small(std::string_view left, std::string_view right) {
    std::string one = to_lower(left), other = to_lower(right);
    if (one.size() + 1 < other.size() || other.size() + 1 < one.size()) return false;
    std::ranges::sort(one);
    std::ranges::sort(other);
    std::string difference;
    std::ranges::set_symmetric_difference(one, other, std::back_inserter(difference));
    return difference.size() <= 1;
  }

  Result<void> read_field(const Field& field, const Value& value, const At& at) {
    if (is_list(field.form)) return read_list(field, value, at);
    const Origin where = origin(value.where);
    if (const auto [earlier, fresh] = set_.emplace(std::pair(&field, at.agent), value.where.line); !fresh) {
      return fail(Fault::invalid_input, "{}: {} is already set in line {}", where.text(), at.path, earlier->second);
    }
    Scalar scalar = TRY(read_scalar(field, at.path, value, where));
    changes_.push_back({.field = &field,
                        .agent = at.agent,
                        .scalar = std::move(scalar),
                        .items = {},
                        .replaces = false,
                        .origin = where});
    return {};
  }

  Result<void> read_list(const Field& field, const Value& value, const At& at) {
    Change change{.field = &field,
                  .agent = at.agent,
                  .scalar = {},
                  .items = {},
                  .replaces = !field.joined,
                  .origin = origin(value.where)};
    if (field.form == Form::environment || field.form == Form::paths) {
      CHECK_OK(expect(value, ValueKind::object, at.path));
      const char* between = field.form == Form::paths ? ": " : "=";
      for (const Member& member : value.members) {
        CHECK_OK(expect(member.value, ValueKind::string, fmt::format("{}.{}", at.path, shown_key(member.key))));
        change.items.push_back(
            TRY(read_item(field, member.key + between + member.value.string, origin(member.where), around_, remarks_)));
      }
    } else {
      CHECK_OK(expect(value, ValueKind::array, at.path));
      for (const Value& item : value.items) {
        CHECK_OK(expect(item, ValueKind::string, fmt::format("an entry of {}", at.path)));
        change.items.push_back(TRY(read_item(field, trim(item.string), origin(item.where), around_, remarks_)));
      }
    }
    if (field.form == Form::words) CHECK_OK(check_program(change, at));
    if (change.items.size() > static_cast<std::size_t>(field.most)) {
      return fail(Fault::invalid_input, "{}: {} has {} entries, more than {}", change.origin.text(), at.path,
                  change.items.size(), field.most);
    }
    changes_.push_back(std::move(change));
    return {};
  }

  /// It runs outside of any sandbox, so no agent may be able to choose or change it.
  Result<void> check_program(const Change& change, const At& at) const {
    if (change.items.empty()) return {};
    const std::string program = change.items.front().text();
    const std::string where = change.items.front().origin().text();
    if (!program.starts_with('/')) {
      return fail(Fault::invalid_input, "{}: {} begins with '{}'; expected a program by its absolute path", where,
                  at.path, shown_key(program));
    }
    const auto resolved = resolve_links(program);
    if (is_within(normal_path(program), around_.workspace) || (resolved && is_within(*resolved, around_.workspace))) {
      return fail(Fault::invalid_input,
                  "{}: {} names '{}', which lies in the workspace, where an agent could change it", where, at.path,
                  shown_key(program));
    }
    return {};
  }

  Result<void> read_network_word(const Value& value, const At& at) {
    CHECK_OK(expect(value, ValueKind::string, at.path));
    const Origin where = origin(value.where);
    const std::string word = to_lower(trim(value.string));
    const bool docker = at.key == "sandbox.docker.network";
    if (word == "host" || word.starts_with("container:") || (!docker && word != "none")) {
      return fail(Fault::invalid_input, "{}: {} is '{}'; expected \"none\" or {{allow: [\"domain:port\", …]}}",
                  where.text(), at.path, shown_key(value.string));
    }
    if (word != "none") {
      remarks_.push_back(
          {Remark::Kind::warning, fmt::format("{}: {} '{}' opens nothing here: list the hosts in network.allow",
                                              where.text(), at.path, shown_key(value.string))});
      return {};
    }
    changes_.push_back({.field = field_named("sandbox.network.allow"),
                        .agent = at.agent,
                        .scalar = {},
                        .items = {},
                        .replaces = true,
                        .origin = where});
    return {};
  }

  void note_unused() {
    if (unused_.empty()) return;
    constexpr std::size_t most = 40;
    std::string list;
    for (std::size_t index = 0; index < std::min(unused_.size(), most); ++index) {
      list += (index > 0 ? ", " : "") + unused_[index];
    }
    if (unused_.size() > most) list += fmt::format(" and {} more", unused_.size() - most);
    remarks_.push_back({Remark::Kind::note, fmt::format("{}: these keys mean nothing here: {}", name_, list)});
  }

  std::string_view name_;
  Dialect dialect_;
  const Surroundings& around_;
  std::vector<Remark>& remarks_;
  bool openclaw_ = false;
  std::vector<Change> changes_;
  std::vector<std::string> unused_;
  std::map<std::pair<const Field*, std::string>, int> set_;
};

}  // namespace

Result<std::vector<Change>> read_settings_file(std::string_view text, std::string_view name, Dialect dialect,
                                               const Surroundings& around, std::vector<Remark>& remarks) {
  return SettingsReader(name, dialect, around, remarks).read(text);
}

}  // namespace cordon::config
