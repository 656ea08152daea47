#include "sandbox/preview/describe.h"

#include <algorithm>

#include "base/text.h"

namespace cordon::sandbox::preview {

namespace {

constexpr std::size_t most_output_shown = 16UL * 1024;

std::string as_text(const std::string& bytes) { return is_utf8(bytes) ? bytes : visible(bytes, Lines::keep); }

/// A name that could pass for what we say about it stands in quotation marks.
std::string named(std::string_view path) {
  const bool plain = !path.empty() && std::ranges::all_of(path, [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c >= 0x80 ||
           std::string_view("/._-+,@%=:#~").find(static_cast<char>(c)) != std::string_view::npos;
  });
  const std::string shown = visible(path, Lines::escape);
  if (plain) return shown;
  std::string text = "\"";
  for (const char c : shown) text += c == '"' ? std::string("\\\"") : std::string(1, c);
  return text + "\"";
}

/// Deletions, then what was changed, then what is new; each in the order of the paths.
std::vector<const Change*> gravest_first(const ChangeList& list) {
  std::vector<const Change*> changes;
  for (const Change& change : list.changes) changes.push_back(&change);
  const auto rank = [](const Change* change) { return !change->after ? 0 : change->before ? 1 : 2; };
  std::ranges::stable_sort(changes, std::less<>(), rank);
  return changes;
}

Json mode_json(const std::optional<Node>& node) {
  return node && node->kind != Kind::link ? Json(fmt::format("{:04o}", node->mode)) : Json();
}

Json change_json(const Change& change) {
  const Node& node = change.after ? *change.after : *change.before;
  Json json = {{"path", as_text(change.path)},
               {"change", change.word()},
               {"bytes", node.size},
               {"diff", change.diff ? Json(as_text(change.diff->text)) : Json()},
               {"kind", name_of(node.kind)},
               {"mode_before", mode_json(change.before)},
               {"mode_after", mode_json(change.after)}};
  if (change.diff && change.diff->cut) json["diff_cut"] = true;
  if (change.after && node.kind == Kind::file && !change.diff && node.content) json["sha256"] = node.content->hex();
  if (node.kind == Kind::link && change.after) json["leads_to"] = as_text(change.leads_to);
  if (!change.same_as.empty()) json["same_as"] = as_text(change.same_as);
  if (change.before && change.after && change.before->kind != change.after->kind) {
    json["was"] = name_of(change.before->kind);
  }
  if (!change.left_out.empty()) json["left_out"] = change.left_out;
  return json;
}

std::string what_changed(const Change& change) {
  std::string text;
  const Node& node = change.after ? *change.after : *change.before;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (change.before && change.after && change.before->kind != change.after->kind) {
    add(fmt::format("was a {}, is a {}", name_of(change.before->kind), name_of(change.after->kind)));
  } else if (node.kind == Kind::directory) {
    add("directory");
  }
  if (node.kind == Kind::link && change.after) add("link to " + named(change.leads_to));
  if (!change.same_as.empty()) add("another name of " + named(change.same_as));
  if (node.kind == Kind::file) add(fmt::format("{} bytes", node.size));
  if (change.before && change.after && change.before->mode != change.after->mode && node.kind != Kind::link) {
    add(fmt::format("mode {:04o} → {:04o}", change.before->mode, change.after->mode));
  }
  if (change.after && node.kind == Kind::file && !change.diff && node.content && change.is_content_changed()) {
    add("sha256 " + node.content->hex().substr(0, 16) + "…");
  }
  if (!change.left_out.empty()) add("NOT COMMITTED: " + change.left_out);
  return text;
}

void append_indented(std::string& text, std::string_view block, std::string_view margin) {
  while (!block.empty()) {
    const std::size_t end = std::min(block.find('\n'), block.size());
    text += fmt::format("{}{}\n", margin, block.substr(0, end));
    block.remove_prefix(std::min(block.size(), end + 1));
  }
}

void append_output(std::string& text, const char* name, const std::string& output) {
  if (output.empty()) return;
  const std::string_view shown = std::string_view(output).substr(0, most_output_shown);
  text += fmt::format("{} ({} bytes{}):\n", name, output.size(), shown.size() < output.size() ? ", the start" : "");
  append_indented(text, visible(shown, Lines::keep), "  | ");
}

}  // namespace

Json changes_json(const ChangeList& list) {
  Json array = Json::array();
  for (const Change* change : gravest_first(list)) {
    if (array.size() >= most_listed) break;
    array.push_back(change_json(*change));
  }
  return array;
}

Counts count(const ChangeList& list) {
  Counts counts;
  for (const Change& change : list.changes) {
    ++(!change.after ? counts.deleted : change.before ? counts.modified : counts.added);
    if (!change.left_out.empty()) ++counts.left_out;
  }
  return counts;
}

std::string summary(const ChangeList& list) {
  const Counts counts = count(list);
  std::string text;
  const auto add = [&](std::size_t number, const char* word) {
    if (number > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", number, word);
  };
  add(counts.deleted, "deleted");
  add(counts.modified, "modified");
  add(counts.added, "added");
  add(counts.left_out, "of them never committed");
  return text.empty() ? "no changes" : text;
}

namespace {

/// After all the names: a long one must not push any of them out of sight.
std::string diffs_of(const ChangeList& list) {
  std::string text;
  std::size_t listed = 0;
  for (const Change* change : gravest_first(list)) {
    if (listed++ >= most_listed) break;
    if (!change->diff) continue;
    text += fmt::format("{}:\n", named(change->path));
    append_indented(text, visible(change->diff->text, Lines::keep), "    ");
    if (change->diff->cut) text += "    … the rest of this diff is not shown\n";
  }
  return text;
}

}  // namespace

std::string text_of(const ChangeList& list, Detail detail) {
  std::string text;
  std::size_t listed = 0;
  for (const Change* change : gravest_first(list)) {
    if (listed++ >= most_listed) {
      text += fmt::format("… and {} more\n", list.changes.size() - most_listed);
      break;
    }
    const std::string what = what_changed(*change);
    text += fmt::format("{:<8}  {}{}\n", change->word(), named(change->path), what.empty() ? "" : "  (" + what + ")");
  }
  for (const std::string& note : list.notes) text += "note: " + visible(note, Lines::escape) + "\n";
  return detail == Detail::names ? text : text + diffs_of(list);
}

std::string text_of(const Preview& preview, Detail detail) {
  std::string text = fmt::format("{}  {}\n", preview.id, summary(preview.list));
  text += fmt::format("Command: {}\n", visible(preview.command, Lines::escape));
  text += fmt::format("In:      {}\n", visible(preview.workspace, Lines::escape));
  text += fmt::format("Made:    {}, kept until {}\n", to_rfc3339(preview.created), to_rfc3339(preview.expires));
  if (!preview.approval.empty()) text += fmt::format("For:     {}\n", visible(preview.approval, Lines::escape));
  if (preview.result.contains("exit_code")) text += fmt::format("Exit:    {}\n", preview.result["exit_code"].dump());
  text += text_of(preview.list, detail);
  if (detail == Detail::diffs) {
    append_output(text, "stdout", preview.out);
    append_output(text, "stderr", preview.err);
  }
  return text;
}

Json summary_json(const Preview& preview, Detail detail) {
  Json json = {{"id", preview.id},
               {"command", as_text(preview.command)},
               {"workspace", as_text(preview.workspace)},
               {"created_at", to_rfc3339(preview.created)},
               {"expires_at", to_rfc3339(preview.expires)},
               {"queue_id", preview.approval.empty() ? Json() : Json(preview.approval)}};
  // What is for an approver is not told by numbers either.
  if (detail == Detail::names && !preview.approval.empty()) return json;
  const Counts counts = count(preview.list);
  json["digest"] = preview.list.digest().hex();
  json["result"] = preview.result;
  json["counts"] = {{"deleted", counts.deleted}, {"modified", counts.modified}, {"added", counts.added}};
  if (detail == Detail::names) return json;
  json["stdout"] = as_text(preview.out);
  json["stderr"] = as_text(preview.err);
  json["changes"] = changes_json(preview.list);
  json["changes_omitted"] = preview.list.changes.size() - std::min(preview.list.changes.size(), most_listed);
  json["notes"] = preview.list.notes;
  return json;
}

}  // namespace cordon::sandbox::preview
