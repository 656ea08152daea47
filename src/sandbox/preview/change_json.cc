// A list of changes on disk.
#include <algorithm>

#include "base/text.h"
#include "sandbox/preview/change.h"

namespace cordon::sandbox::preview {

namespace {

constexpr std::uint64_t largest_number = 1ULL << 62;

/// JSON holds text only; bytes that are none travel as base64.
Json exact(const std::string& bytes) {
  if (is_utf8(bytes)) return bytes;
  return {{"base64", to_base64(bytes)}};
}

tl::unexpected<Error> damaged(std::string_view what) {
  return fail(Fault::corrupt, "a stored preview cannot be read: {}", what);
}

Json describe(const Node& node) {
  return {{"kind", name_of(node.kind)},
          {"mode", node.mode},
          {"size", node.size},
          {"sha256", node.content ? Json(node.content->hex()) : Json()}};
}

Json describe(const FileIdentity& identity) {
  return {identity.device, identity.inode, identity.size, identity.mtime_ns, identity.ctime_ns};
}

class Reader {
 public:
  explicit Reader(const Json& json) : json_(json) {}

  Result<const Json*> field(const char* key) const {
    if (!json_.is_object()) return damaged("an object is missing");
    const auto found = json_.find(key);
    if (found == json_.end()) return damaged(key);
    return &*found;
  }
  Result<std::string> bytes(const char* key) const {
    const Json& value = *TRY(field(key));
    if (value.is_string()) return value.get<std::string>();
    if (value.is_object() && value.size() == 1 && value.contains("base64") && value["base64"].is_string()) {
      if (auto decoded = from_base64(value["base64"].get<std::string>())) return *std::move(decoded);
    }
    return damaged(key);
  }
  Result<std::uint64_t> number(const char* key, std::uint64_t limit = largest_number) const {
    const Json& value = *TRY(field(key));
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > limit) return damaged(key);
    return value.get<std::uint64_t>();
  }
  Result<const Json*> list(const char* key) const {
    const Json* value = TRY(field(key));
    if (!value->is_array()) return damaged(key);
    return value;
  }

 private:
  const Json& json_;
};

Result<std::optional<Node>> node_from(const Json& json) {
  if (json.is_null()) return std::optional<Node>();
  const Reader reader(json);
  Node node;
  const std::string kind = TRY(reader.bytes("kind"));
  if (kind == "directory") {
    node.kind = Kind::directory;
  } else if (kind == "link") {
    node.kind = Kind::link;
  } else if (kind != "file") {
    return damaged("kind");
  }
  node.mode = static_cast<std::uint32_t>(TRY(reader.number("mode", 07777)));
  node.size = TRY(reader.number("size"));
  const Json& hash = *TRY(reader.field("sha256"));
  if (!hash.is_null()) {
    if (!hash.is_string()) return damaged("sha256");
    node.content = Digest::from_hex(hash.get<std::string>());
    if (!node.content) return damaged("sha256");
  }
  return std::optional(node);
}

Result<FileIdentity> identity_from(const Json& json) {
  if (!json.is_array() || json.size() != 5) return damaged("identity");
  for (const Json& value : json) {
    if (!value.is_number_integer()) return damaged("identity");
  }
  return FileIdentity{.device = json[0].get<std::uint64_t>(),
                      .inode = json[1].get<std::uint64_t>(),
                      .size = json[2].get<std::uint64_t>(),
                      .mtime_ns = json[3].get<std::int64_t>(),
                      .ctime_ns = json[4].get<std::int64_t>(),
                      .content = std::nullopt};
}

Result<Change> change_from(const Json& json) {
  const Reader reader(json);
  Change change;
  change.path = TRY(reader.bytes("path"));
  if (!is_proper_path(change.path)) return damaged("path");
  change.before = TRY(node_from(*TRY(reader.field("before"))));
  change.after = TRY(node_from(*TRY(reader.field("after"))));
  if (!change.before && !change.after) return damaged("a change of nothing");
  change.was = TRY(identity_from(*TRY(reader.field("was"))));
  change.names = TRY(reader.number("names"));
  change.leads_to = TRY(reader.bytes("leads_to"));
  change.same_as = TRY(reader.bytes("same_as"));
  change.offset = TRY(reader.number("offset"));
  change.left_out = TRY(reader.bytes("left_out"));
  if (change.after) {
    // What a commit relies on: nothing special, and every byte has a hash to be held against.
    if ((change.after->mode & ~01777U) != 0 && change.left_out.empty()) return damaged("mode");
    if (change.after->kind != Kind::directory && !change.after->content && change.left_out.empty())
      return damaged("sha256");
    if (change.after->kind == Kind::link && change.left_out.empty() &&
        (change.leads_to.empty() || change.leads_to.find('\0') != std::string::npos)) {
      return damaged("leads_to");
    }
  }
  if (!change.same_as.empty() && !is_proper_path(change.same_as)) return damaged("same_as");
  const Json& diff = *TRY(reader.field("diff"));
  if (!diff.is_null()) {
    const Reader inner(diff);
    const Json& cut = *TRY(inner.field("cut"));
    if (!cut.is_boolean()) return damaged("diff");
    change.diff = Difference{TRY(inner.bytes("text")), cut.get<bool>()};
  }
  return change;
}

Result<Passed> passed_from(const Json& json) {
  const Reader reader(json);
  Passed passed{.path = TRY(reader.bytes("path")),
                .device = TRY(reader.number("device")),
                .inode = TRY(reader.number("inode")),
                .mode = static_cast<std::uint32_t>(TRY(reader.number("mode", 07777)))};
  if (!passed.path.empty() && !is_proper_path(passed.path)) return damaged("path");
  return passed;
}

/// What is below something that is no directory afterwards must be gone, and what is added needs a directory there.
Result<void> check_order(const ChangeList& list) {
  std::vector<const Change*> above;
  const Change* last = nullptr;
  for (const Change& change : list.changes) {
    if (last != nullptr && list.find(change.path) != &change) return damaged("the order of its paths");
    while (!above.empty() && !is_at_or_below(change.path, above.back()->path)) above.pop_back();
    if (!above.empty()) {
      const Change& parent = *above.back();
      const bool stays = parent.after && parent.after->kind == Kind::directory;
      if (!stays && change.after) return damaged("something below what is no directory");
      const bool was_there = parent.before && parent.before->kind == Kind::directory;
      if (!was_there && change.before) return damaged("something that was below what was no directory");
    }
    above.push_back(&change);
    last = &change;
  }
  return {};
}

}  // namespace

Json to_json(const ChangeList& list) {
  Json changes = Json::array();
  for (const Change& change : list.changes) {
    changes.push_back(
        {{"path", exact(change.path)},
         {"before", change.before ? describe(*change.before) : Json()},
         {"after", change.after ? describe(*change.after) : Json()},
         {"was", describe(change.was)},
         {"names", change.names},
         {"leads_to", exact(change.leads_to)},
         {"same_as", exact(change.same_as)},
         {"offset", change.offset},
         {"left_out", change.left_out},
         {"diff", change.diff ? Json{{"text", exact(change.diff->text)}, {"cut", change.diff->cut}} : Json()}});
  }
  Json passed = Json::array();
  for (const Passed& one : list.passed) {
    passed.push_back({{"path", exact(one.path)}, {"device", one.device}, {"inode", one.inode}, {"mode", one.mode}});
  }
  return {{"changes", std::move(changes)}, {"passed", std::move(passed)}, {"notes", list.notes}};
}

Result<ChangeList> change_list_from(const Json& json) {
  const Reader reader(json);
  ChangeList list;
  for (const Json& change : *TRY(reader.list("changes"))) list.changes.push_back(TRY(change_from(change)));
  for (const Json& passed : *TRY(reader.list("passed"))) list.passed.push_back(TRY(passed_from(passed)));
  for (const Json& note : *TRY(reader.list("notes"))) {
    if (!note.is_string()) return damaged("notes");
    list.notes.push_back(note.get<std::string>());
  }
  CHECK_OK(check_order(list));
  for (const Passed& passed : list.passed) {
    if (list.find_passed(passed.path) != &passed) return damaged("the order of its directories");
  }
  return list;
}

}  // namespace cordon::sandbox::preview
