#include "audit/tree.h"

#include <bit>

namespace cordon::audit {

using namespace std::string_view_literals;

Digest leaf_hash(std::string_view line) { return sha256_of({"\0"sv, line}); }

Digest node_hash(const Digest& left, const Digest& right) { return sha256_of({"\1"sv, left.view(), right.view()}); }

std::optional<Tree> Tree::from_peaks(std::uint64_t size, std::vector<Digest> peaks) {
  if (peaks.size() != static_cast<std::size_t>(std::popcount(size))) return std::nullopt;
  Tree tree;
  tree.size_ = size;
  tree.peaks_ = std::move(peaks);
  return tree;
}

void Tree::append(const Digest& leaf) {
  Digest node = leaf;
  for (std::uint64_t bits = size_; (bits & 1) != 0; bits >>= 1) {
    node = node_hash(peaks_.back(), node);
    peaks_.pop_back();
  }
  peaks_.push_back(node);
  ++size_;
}

Digest Tree::root() const {
  if (peaks_.empty()) return sha256("");
  Digest root = peaks_.back();
  for (std::size_t i = peaks_.size() - 1; i > 0; --i) root = node_hash(peaks_[i - 1], root);
  return root;
}

namespace {

class Prover {
 public:
  Prover(const Tree& before, std::span<const Digest> leaves) : before_(before), leaves_(leaves) {}

  void path(std::uint64_t index, std::uint64_t begin, std::uint64_t end, std::vector<Digest>& out) const {
    if (end - begin == 1) return;
    const std::uint64_t middle = begin + std::bit_floor(end - begin - 1);
    if (index < middle) {
      path(index, begin, middle, out);
      out.push_back(hash(middle, end));
    } else {
      path(index, middle, end, out);
      out.push_back(hash(begin, middle));
    }
  }

 private:
  // A range that ends before our leaves begin is always exactly a peak: it is the left neighbour of a range that holds
  // or follows the border, and both are cut where the bits of the tree's size cut it.
  Digest hash(std::uint64_t begin, std::uint64_t end) const {
    if (end <= before_.size()) return peak(begin);
    if (end - begin == 1) return leaves_[begin - before_.size()];
    const std::uint64_t middle = begin + std::bit_floor(end - begin - 1);
    return node_hash(hash(begin, middle), hash(middle, end));
  }

  Digest peak(std::uint64_t begin) const {
    std::uint64_t at = 0;
    for (const Digest& peak : before_.peaks()) {
      if (at == begin) return peak;
      at += std::bit_floor(before_.size() - at);
    }
    return {};
  }

  const Tree& before_;
  std::span<const Digest> leaves_;
};

}  // namespace

std::vector<Digest> inclusion_path(const Tree& before, std::span<const Digest> leaves, std::uint64_t index) {
  std::vector<Digest> out;
  Prover(before, leaves).path(index, 0, before.size() + leaves.size(), out);
  return out;
}

}  // namespace cordon::audit
