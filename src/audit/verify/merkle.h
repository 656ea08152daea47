// RFC 6962 trees for readers: written apart from the writer's tree.h, so that a mistake there is not a mistake here.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/digest.h"

namespace cordon::audit {

inline Digest hash_leaf(std::string_view line) { return sha256_of({std::string_view("\0", 1), line}); }
inline Digest hash_children(const Digest& left, const Digest& right) {
  return sha256_of({std::string_view("\1", 1), left.view(), right.view()});
}

/// Complete subtrees by height; the smaller ones lie to the right.
class Accumulator {
 public:
  Accumulator() = default;
  /// `peaks`: the largest first; one per set bit of size.
  static std::optional<Accumulator> resume(std::uint64_t size, std::span<const Digest> peaks) {
    if (static_cast<std::size_t>(std::popcount(size)) != peaks.size()) return std::nullopt;
    Accumulator accumulator;
    accumulator.size_ = size;
    std::size_t next = 0;
    for (int height = 63; height >= 0; --height) {
      if ((size >> height & 1) != 0) accumulator.at_height_[static_cast<std::size_t>(height)] = peaks[next++];
    }
    return accumulator;
  }

  void add(Digest node) {
    std::size_t height = 0;
    for (; (size_ >> height & 1) != 0; ++height) node = hash_children(at_height_[height], node);
    at_height_[height] = node;
    ++size_;
  }
  std::uint64_t size() const { return size_; }
  Digest root() const {
    if (size_ == 0) return sha256("");
    auto height = static_cast<std::size_t>(std::countr_zero(size_));
    Digest root = at_height_[height];
    for (++height; height < 64; ++height) {
      if ((size_ >> height & 1) != 0) root = hash_children(at_height_[height], root);
    }
    return root;
  }

 private:
  std::uint64_t size_ = 0;
  std::array<Digest, 64> at_height_;
};

/// RFC 9162, 2.1.3.2.
inline bool proves_inclusion(const Digest& leaf, std::uint64_t index, std::uint64_t size, std::span<const Digest> path,
                             const Digest& root) {
  if (index >= size) return false;
  std::uint64_t at = index;
  std::uint64_t last = size - 1;
  Digest node = leaf;
  for (const Digest& sibling : path) {
    if (last == 0) return false;
    if ((at & 1) != 0 || at == last) {
      node = hash_children(sibling, node);
      while ((at & 1) == 0 && at != 0) {
        at >>= 1;
        last >>= 1;
      }
    } else {
      node = hash_children(node, sibling);
    }
    at >>= 1;
    last >>= 1;
  }
  return last == 0 && node == root;
}

}  // namespace cordon::audit
