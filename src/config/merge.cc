#include "config/merge.h"

#include <algorithm>
#include <unordered_map>

#include "config/bind.h"
#include "model/tools.h"

namespace cordon::config {
namespace {

/// Two entries that cannot both stand have the same identity: what is written, but of a bind its target and of a rule
/// its path.
std::string identity_of(const Item& item) {
  if (const auto* bind = std::get_if<BindSetting>(&item.value)) return bind->target;
  if (const auto* rule = std::get_if<PathRule>(&item.value)) return rule->path;
  return item.text();
}

/// A list in which the later of two with the same identity takes the earlier one's place.
class ItemList {
 public:
  explicit ItemList(std::vector<Item> items) : items_(std::move(items)) {
    for (std::size_t index = 0; index < items_.size(); ++index) places_.emplace(identity_of(items_[index]), index);
  }

  bool holds(const Item& item) const {
    const auto found = places_.find(identity_of(item));
    return found != places_.end() && items_[found->second].text() == item.text();
  }

  void put(const Item& item) {
    const auto [place, fresh] = places_.emplace(identity_of(item), items_.size());
    if (fresh) {
      items_.push_back(item);
    } else if (items_[place->second].text() != item.text()) {
      items_[place->second] = item;
    }
  }

  const std::vector<Item>& items() const { return items_; }

 private:
  std::vector<Item> items_;
  std::unordered_map<std::string, std::size_t> places_;
};

bool loosens(const Field& field, const Scalar& wanted, const Scalar& current) {
  if (wanted == current) return false;
  if (field.looser == Looser::any_change) return true;
  const std::int64_t more = std::get<std::int64_t>(wanted), less = std::get<std::int64_t>(current);
  // Only `full` has tools that nobody knows; of the others the part that was there before is taken (see
  // tighten_profile).
  if (field.looser == Looser::fewer_tools) return static_cast<ToolProfile>(more) == ToolProfile::full;
  return field.looser == Looser::larger ? more > less : more < less;
}

class Merger {
 public:
  explicit Merger(std::string_view workspace) : workspace_(workspace) {}

  Merged run(const std::vector<Layer>& layers) {
    for (const bool tightening : {false, true}) {
      for (const Layer& layer : layers) {
        if ((layer.standing == Standing::tighten) != tightening) continue;
        apply_all(layer);
      }
      // Agents start from the finished defaults of the files that count in full.
      if (!tightening) apply_agents(layers);
    }
    return std::move(merged_);
  }

 private:
  Settings& settings() { return merged_.settings; }

  void apply_agents(const std::vector<Layer>& layers) {
    for (const Layer& layer : layers) {
      for (const Change& change : layer.changes) {
        if (!change.agent.empty()) settings().agents.emplace(change.agent, settings().defaults);
      }
    }
    for (const Layer& layer : layers) {
      if (layer.standing == Standing::tighten) continue;
      for (const Change& change : layer.changes) {
        if (!change.agent.empty()) apply(layer, change, {settings(), settings().agents.at(change.agent)}, change.agent);
      }
    }
  }

  void apply_all(const Layer& layer) {
    const bool tightening = layer.standing == Standing::tighten;
    for (const Change& change : layer.changes) {
      if (change.agent.empty()) apply(layer, change, {settings(), settings().defaults}, "");
      if (!tightening) continue;
      for (auto& [id, agent] : settings().agents) {
        // What an untrusted file says for all must not be undone by what a trusted one says for one agent.
        const bool for_all = change.agent.empty() && change.field->per_agent;
        if (for_all) quietly([&] { apply(layer, change, {settings(), agent}, id); });
        if (change.agent == id) apply(layer, change, {settings(), agent}, id);
      }
    }
  }

  template <class Action>
  void quietly(Action action) {
    const std::size_t before = merged_.ignored.size();
    action();
    merged_.ignored.resize(before);
  }

  void apply(const Layer& layer, const Change& change, const Target& target, std::string_view agent) {
    if (is_list(change.field->form)) {
      if (change.field->only_from_user && layer.standing != Standing::own) return ignore_list(layer, change, agent);
      layer.standing == Standing::tighten ? tighten_list(layer, change, target, agent) : extend_list(change, target);
      return;
    }
    const Setting<Scalar> current = change.field->get(target);
    const bool looser = loosens(*change.field, change.scalar, current.value);
    const bool foreign = change.field->only_from_user && layer.standing != Standing::own;
    if (looser && layer.standing == Standing::tighten && !(foreign && !layer.silent)) {
      return ignore(layer, change, agent);
    }
    if (looser && foreign) {
      merged_.ignored.push_back(
          {full_key(*change.field, agent), shown(*change.field, change.scalar), change.origin, only_users});
      return;
    }
    // Saying again what another file said takes nothing over from it.
    if (layer.standing == Standing::tighten && change.scalar == current.value && !current.is_default()) return;
    if (layer.standing == Standing::tighten && change.field->looser == Looser::fewer_tools) {
      deny_new_tools(change, target);
    }
    change.field->set(target, change.scalar, change.origin);
  }

  /// A profile that an untrusted file asks for may hold a tool that the agent does not have yet.
  static void deny_new_tools(const Change& change, const Target& target) {
    const auto profile = static_cast<ToolProfile>(std::get<std::int64_t>(change.scalar));
    for (const std::string& tool : tools_of(profile)) {
      if (!has_tool(target.agent.tools, tool)) target.agent.tools.deny.push_back({tool, change.origin});
    }
  }

  void ignore(const Layer& layer, const Change& change, std::string_view agent) {
    if (layer.silent) return;
    merged_.ignored.push_back(
        {full_key(*change.field, agent), shown(*change.field, change.scalar), change.origin, layer.why_not});
  }

  void ignore_list(const Layer& layer, const Change& change, std::string_view agent) {
    if (layer.silent) return;
    for (const Item& item : change.items) {
      merged_.ignored.push_back({full_key(*change.field, agent), item.text(), item.origin(), only_users});
    }
  }

  static void extend_list(const Change& change, const Target& target) {
    // The same word twice in one command is two words.
    if (change.field->form == Form::words) return change.field->assign(target, change.items, change.origin);
    ItemList list(change.replaces ? std::vector<Item>{} : change.field->items(target));
    for (const Item& item : change.items) list.put(item);
    change.field->assign(target, list.items(), change.origin);
  }

  void tighten_list(const Layer& layer, const Change& change, const Target& target, std::string_view agent) {
    std::vector<Item> current = change.field->items(target);
    bool changed = false;
    if (change.replaces && change.field->adding == Adding::loosens) {
      // Of a list that replaces, what was listed before and still is stays: the intersection.
      const ItemList wanted(change.items);
      changed = std::erase_if(current, [&](const Item& item) { return !wanted.holds(item); }) > 0;
    }
    ItemList list(std::move(current));
    for (const Item& item : change.items) {
      if (list.holds(item)) continue;
      if (adding_loosens(*change.field, item)) {
        if (!layer.silent) {
          merged_.ignored.push_back({full_key(*change.field, agent), item.text(), item.origin(), layer.why_not});
        }
        continue;
      }
      list.put(item);
      changed = true;
    }
    if (changed) change.field->assign(target, list.items(), change.origin);
  }

  bool adding_loosens(const Field& field, const Item& item) {
    if (field.adding != Adding::depends_on_path) return field.adding == Adding::loosens;
    const PathRule& rule = std::get<PathRule>(item.value);
    PathAccess least = access_for(rule.path, settings().defaults);
    for (const auto& [id, agent] : settings().agents) least = std::min(least, access_for(rule.path, agent));
    // A link in the workspace leads where it leads: opening its name opens that place.
    if (const auto resolved = resolve_links(rule.path); !resolved || *resolved != rule.path) {
      if (!resolved) return rule.access != PathAccess::none;
      least = std::min(least, access_for(*resolved, settings().defaults));
    }
    return rule.access > least;
  }

  /// What a sandbox may do with a path as the settings stand now.
  PathAccess access_for(const std::string& path, const AgentSettings& agent) {
    PathAccess access = is_within(path, workspace_) ? agent.sandbox.workspace.value : PathAccess::none;
    for (const BindSetting& bind : agent.sandbox.binds) {
      if (is_within(path, bind.resolved)) access = std::max(access, bind.access);
    }
    std::size_t longest = 0;
    for (const PathRule& rule : settings().filesystem) {
      if (!is_within(path, rule.path) || rule.path.size() < longest) continue;
      longest = rule.path.size();
      access = rule.access;
    }
    return access;
  }

  std::string_view workspace_;
  Merged merged_;
};

}  // namespace

std::string full_key(const Field& field, std::string_view agent) {
  if (!field.per_agent) return std::string(field.key);
  if (!agent.empty()) return fmt::format("agents.entries.{}.{}", agent, field.key);
  return field.key.starts_with("sandbox.") ? fmt::format("agents.defaults.{}", field.key) : std::string(field.key);
}

Merged merge(const std::vector<Layer>& layers, std::string_view workspace) { return Merger(workspace).run(layers); }

}  // namespace cordon::config
