// What a run did to its workspace: one value for each path that is not what it was.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/json.h"
#include "base/result.h"
#include "model/profile.h"

namespace cordon::sandbox::preview {

enum class Kind { file, directory, link };
const char* name_of(Kind kind);

/// What is at a path.
struct Node {
  Kind kind = Kind::file;
  std::uint32_t mode = 0;         // permission bits; 0 of links
  std::uint64_t size = 0;         // of a file's bytes or of where a link leads
  std::optional<Digest> content;  // hash of those; nothing: not read (what was deleted)
  bool operator==(const Node&) const = default;
};

/// Text as a unified diff; nothing where there is none to be had (binary, too large).
struct Difference {
  std::string text;
  bool cut = false;  // there is more than `text`
};

struct Change {
  std::string path;            // relative to the workspace, any bytes but NUL
  std::optional<Node> before;  // nothing: it was added
  std::optional<Node> after;   // nothing: it was deleted
  FileIdentity was;            // of what `before` describes, to see later whether it still is
  std::uint64_t names = 1;     // of that file: a commit changes this one only
  std::string leads_to;        // `after` is a link
  std::string same_as;         // `after` is another name of this path's file
  std::uint64_t offset = 0;    // `after` is a file: where its bytes are in the pack
  std::optional<Difference> diff;
  std::string left_out;  // why a commit does not apply it; empty: it does

  bool is_content_changed() const;
  /// "added", "modified" or "deleted".
  const char* word() const;
};

/// A directory on the way to a change, as it was.
struct Passed {
  std::string path;  // "" is the workspace itself
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint32_t mode = 0;
};

/// In the order of their paths, so that a directory stands before what is in it.
struct ChangeList {
  std::vector<Change> changes;
  std::vector<Passed> passed;
  std::vector<std::string> notes;  // what an approver must know beside them

  const Change* find(std::string_view path) const;
  const Passed* find_passed(std::string_view path) const;
  std::uint64_t content_bytes() const;
  /// Over everything that a commit would apply.
  Digest digest() const;
};

/// Whether `path` may name something below a workspace: relative, no empty, "." or ".." components, no NUL, not too
/// long or too deep.
bool is_proper_path(std::string_view path);
constexpr std::size_t deepest_path = 256;
constexpr std::size_t longest_path = 4095;

/// "a", "a/b", "a-b": a directory is followed by what is in it.
bool path_comes_before(std::string_view left, std::string_view right);

/// Whether `path` is `directory` or lies below it.
bool is_at_or_below(std::string_view path, std::string_view directory);

/// The form on disk (docs/preview.md). Reading trusts nothing: what a commit relies on is checked.
Json to_json(const ChangeList& list);
Result<ChangeList> change_list_from(const Json& json);

}  // namespace cordon::sandbox::preview
