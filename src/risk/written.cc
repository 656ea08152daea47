// What files hold that a script wrote, as far as it is known, and where it went.
#include <algorithm>

#include "risk/judge.h"

namespace cordon::risk {

namespace {

/// What is left to compare of a path whose directory is not known.
std::string_view known_end(std::string_view path) {
  while (path.starts_with("./")) path.remove_prefix(2);
  const bool climbs = path.find("..") != std::string_view::npos || path.starts_with('$') || path.starts_with('`');
  return climbs ? path.substr(path.rfind('/') + 1) : path;
}

bool ends_in(std::string_view path, std::string_view end) {
  if (end.empty() || !path.ends_with(end)) return false;
  return path.size() == end.size() || path[path.size() - end.size() - 1] == '/';
}

/// Can both be names of one file? Of a name without a place only its end is known.
bool may_be_one(std::string_view one, std::string_view other) {
  if (one.starts_with('/') && other.starts_with('/')) return one == other;
  const std::string_view first = one.starts_with('/') ? one : known_end(one);
  const std::string_view second = other.starts_with('/') ? other : known_end(other);
  return ends_in(first, second) || ends_in(second, first);
}

}  // namespace

/// Calls `look` with every entry of `files` that `path` may name. A place that is not known may be any.
template <class Files, class Look>
bool Judge::each_named(const Files& files, const std::string& path, Look look) const {
  constexpr std::uint64_t most_compared = 8 << 20;
  if (path.starts_with('/') && !placeless_) {
    if (const auto found = files.find(path); found != files.end()) look(found->second);
    return true;
  }
  compared_ += files.size();
  if (compared_ > most_compared) return false;
  for (const auto& [name, entry] : files) {
    if (may_be_one(name, path)) look(entry);
  }
  return true;
}

Flow Judge::file_flow(const std::string& path) const {
  Flow flow;
  if (!each_named(files_, path, [&](const Flow& carried) { flow |= carried; })) flow.decoded = true;
  for (const auto& [tree, carried] : trees_) {
    if (path.starts_with(tree)) flow |= carried;
  }
  return flow;
}

/// A name that ends in a slash stands for everything below it.
void Judge::mark_file(const std::string& path, Flow flow) {
  if (auto known = files_.find(path); known != files_.end()) known->second.child &= flow.child;
  if (!flow.any()) return;
  placeless_ = placeless_ || !path.starts_with('/');
  if (path.ends_with('/')) {
    if (trees_.size() < 64) trees_.emplace_back(path, flow);
  } else if (files_.size() < 4096) {
    files_[path] |= flow;
  }
}

const std::string* Judge::file_text(const std::string& path) const {
  const std::string* text = nullptr;
  std::string together;
  const bool all = each_named(written_, path, [&](const std::string& one) {
    if (text != nullptr) together += (together.empty() ? *text + "\n" : "") + one + "\n";
    text = &one;
  });
  // Too many to compare: nobody knows what it holds.
  if (!all) return &texts_.emplace_back("$unknown");
  return together.empty() ? text : &texts_.emplace_back(std::move(together));
}

void Judge::write_text(const std::string& path, std::string_view text, bool append) {
  constexpr std::size_t most = 1 << 20;
  if (written_.size() >= 256 && !written_.contains(path)) {
    mark_file(path, Flow{.decoded = true});  // whoever runs it does not know what it holds
    return;
  }
  planted_ |= plants(path, text);
  picked_up_.erase(path);
  placeless_ = placeless_ || !path.starts_with('/');
  std::string& kept = written_[path];
  if (!append) kept.clear();
  if (kept.size() + text.size() <= most) kept += text;
  write_linked(path, kept);
  const auto earlier = append ? earlier_.find(path) : earlier_.end();
  if (earlier == earlier_.end()) return;
  for (std::string& other : earlier->second) {
    if (other.size() + text.size() <= most) other += text;
  }
}

void Judge::link_names(const std::string& one, const std::string& other) {
  constexpr std::size_t most = 32;
  if (links_.size() < most && one != other) links_.emplace_back(one, other);
}

void Judge::write_linked(const std::string& path, std::string_view text) {
  for (const auto& [one, other] : links_) {
    for (const auto& [from, to] : {std::pair(&one, &other), std::pair(&other, &one)}) {
      const bool below = path.starts_with(*from) && (path.size() == from->size() || path[from->size()] == '/');
      if (!below) continue;
      const std::string same = *to + path.substr(from->size());
      if (written_.contains(same))
        may_hold(same, std::string(text));
      else if (may_copy(text.size()))
        written_[same] = text;
    }
  }
}

void Judge::may_hold(const std::string& path, const std::string& text) {
  constexpr std::size_t most = 8;
  std::vector<std::string>& earlier = earlier_[path];
  if (earlier.size() > most || std::ranges::find(earlier, text) != earlier.end()) return;
  earlier.push_back(earlier.size() < most && may_copy(text.size()) ? text : "$unknown");
}

std::vector<std::string> Judge::other_texts(const std::string& path) const {
  std::vector<std::string> all;
  const auto add = [&](const std::vector<std::string>& texts) { all.insert(all.end(), texts.begin(), texts.end()); };
  if (!each_named(earlier_, path, add)) all.emplace_back("$unknown");
  return all;
}

void Judge::may_hold_same(const std::string& from, const std::string& to) {
  const auto found = earlier_.find(from);
  if (found == earlier_.end() || from == to) return;
  for (const std::string& text : std::vector<std::string>(found->second)) may_hold(to, text);
}

void Judge::prints(const std::string& text) {
  constexpr std::size_t most = 4096;
  if (printed_.size() + text.size() < most) printed_ += text + "\n";
}

/// A long text that is copied again and again would cost the square of what was asked.
bool Judge::may_copy(std::size_t size) {
  constexpr std::uint64_t most = std::uint64_t{64} << 20;
  copied_ += size;
  return copied_ < most;
}

void Judge::copy_all(const std::string& beginning, const std::string& to) {
  constexpr std::size_t most = 64;
  std::vector<std::string> paths;
  for (const auto& [path, text] : written_) {
    if (path.starts_with(beginning) && paths.size() < most) paths.push_back(path);
  }
  for (const std::string& path : paths) {
    const std::string inside = path.substr(beginning.rfind('/') + 1);
    // Files of directories, too.
    copy_file(path, inside.find('/') == std::string::npos ? to : to + "/" + inside);
  }
}

void Judge::copy_text(const std::string& from, const std::string& to) {
  if (const auto below = written_.lower_bound(from + "/");
      below != written_.end() && below->first.starts_with(from + "/")) {
    copy_all(from + "/", to);
    copy_all(from, to);
  }
  copy_file(from, to);
}

void Judge::copy_file(const std::string& from, const std::string& to) {
  const std::string* text = file_text(from);
  if (!text || from == to) return;
  if (!may_copy(text->size())) {
    mark_file(to, Flow{.decoded = true});  // whoever runs it does not know what it holds
    whole_.erase(to);
    return;
  }
  const std::string copied = *text;
  const std::string inside = to + "/" + from.substr(from.rfind('/') + 1);
  for (const std::string& path : {to, inside}) {
    const auto before = written_.find(path);
    if (before != written_.end()) may_hold(path, before->second);
    write_text(path, copied, false);
    may_hold_same(from, path);
    if (is_whole(from)) whole_.insert(path);
  }
}

}  // namespace cordon::risk
