#include "sandbox/preview/change.h"

#include <algorithm>

#include "base/text.h"

namespace cordon::sandbox::preview {

namespace {

template <class Item>
const Item* find_in(const std::vector<Item>& items, std::string_view path) {
  const auto found = std::ranges::lower_bound(items, path, path_comes_before, &Item::path);
  return found != items.end() && found->path == path ? &*found : nullptr;
}

}  // namespace

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::file:
      return "file";
    case Kind::directory:
      return "directory";
    case Kind::link:
      return "link";
  }
  return "file";
}

bool Change::is_content_changed() const {
  if (!before || !after || before->kind != after->kind) return true;
  return before->kind != Kind::directory && (!before->content || before->content != after->content);
}

const char* Change::word() const {
  if (!before) return "added";
  return after ? "modified" : "deleted";
}

const Change* ChangeList::find(std::string_view path) const { return find_in(changes, path); }
const Passed* ChangeList::find_passed(std::string_view path) const { return find_in(passed, path); }

std::uint64_t ChangeList::content_bytes() const {
  std::uint64_t end = 0;
  for (const Change& change : changes) {
    if (change.after && change.after->kind == Kind::file) end = std::max(end, change.offset + change.after->size);
  }
  return end;
}

Digest ChangeList::digest() const {
  Sha256 hash;
  hash.add_field("cordon preview 1");
  const auto number = [&](std::uint64_t value) { hash.add_field(std::to_string(value)); };
  const auto node = [&](const std::optional<Node>& one) {
    number(one.has_value());
    if (!one) return;
    hash.add_field(name_of(one->kind));
    number(one->mode);
    number(one->size);
    hash.add_field(one->content ? one->content->view() : std::string_view());
  };
  for (const Change& change : changes) {
    hash.add_field(change.path).add_field(change.leads_to).add_field(change.same_as).add_field(change.left_out);
    node(change.before);
    node(change.after);
    number(change.was.device);
    number(change.was.inode);
  }
  return hash.finish();
}

bool is_proper_path(std::string_view path) {
  if (path.empty() || path.size() > longest_path || path.find('\0') != std::string_view::npos) return false;
  std::size_t depth = 0;
  for (std::size_t start = 0; start <= path.size(); ++depth) {
    const std::size_t end = std::min(path.find('/', start), path.size());
    const std::string_view name = path.substr(start, end - start);
    if (name.empty() || name == "." || name == ".." || name.size() > 255 || depth >= deepest_path) return false;
    start = end + 1;
  }
  return true;
}

bool path_comes_before(std::string_view left, std::string_view right) {
  const auto rank = [](char byte) { return byte == '/' ? 0 : 1 + static_cast<unsigned char>(byte); };
  return std::ranges::lexicographical_compare(left, right, std::less<>(), rank, rank);
}

bool is_at_or_below(std::string_view path, std::string_view directory) {
  return path == directory || (path.size() > directory.size() && path.starts_with(directory) &&
                               (directory.empty() || path[directory.size()] == '/'));
}

}  // namespace cordon::sandbox::preview
