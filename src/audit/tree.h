// The Merkle tree of RFC 6962 over all lines of the log, held as its frontier: the roots of its complete subtrees.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/digest.h"

namespace cordon::audit {

/// SHA-256(0x00 ‖ line), the line without its newline.
Digest leaf_hash(std::string_view line);
/// SHA-256(0x01 ‖ left ‖ right).
Digest node_hash(const Digest& left, const Digest& right);

class Tree {
 public:
  Tree() = default;
  /// Nothing when the number of peaks is not that of a tree of `size` leaves.
  static std::optional<Tree> from_peaks(std::uint64_t size, std::vector<Digest> peaks);

  void append(const Digest& leaf);
  std::uint64_t size() const { return size_; }
  /// One per set bit of size(), the largest subtree first.
  const std::vector<Digest>& peaks() const { return peaks_; }
  Digest root() const;

 private:
  std::uint64_t size_ = 0;
  std::vector<Digest> peaks_;
};

/// The path that proves leaf `index` in the tree made of `before` and then `leaves`. `index` must be one of `leaves`.
std::vector<Digest> inclusion_path(const Tree& before, std::span<const Digest> leaves, std::uint64_t index);

}  // namespace cordon::audit
