#include "audit/tree.h"

#include <gtest/gtest.h>

#include "audit/verify/merkle.h"

namespace cordon::audit {
namespace {

// The leaves and roots of the test vectors of Certificate Transparency (RFC 6962).
const std::vector<std::string> inputs = {
    "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"};
const std::vector<std::string> roots = {"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                                        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
                                        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
                                        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
                                        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
                                        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
                                        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
                                        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"};

TEST(Tree, GivesTheRootsOfRfc6962) {
  Tree tree;
  Accumulator accumulator;
  EXPECT_EQ(tree.root().hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    tree.append(leaf_hash(*from_hex(inputs[i])));
    accumulator.add(hash_leaf(*from_hex(inputs[i])));
    EXPECT_EQ(tree.root().hex(), roots[i]) << i;
    EXPECT_EQ(accumulator.root().hex(), roots[i]) << i;
  }
}

TEST(Tree, GoesOnFromItsPeaks) {
  Tree tree;
  for (int i = 0; i < 100; ++i) {
    auto resumed = Tree::from_peaks(tree.size(), tree.peaks());
    ASSERT_TRUE(resumed);
    tree.append(leaf_hash(std::to_string(i)));
    resumed->append(leaf_hash(std::to_string(i)));
    EXPECT_EQ(resumed->root(), tree.root());
    EXPECT_EQ(Accumulator::resume(tree.size(), tree.peaks())->root(), tree.root());
  }
  EXPECT_FALSE(Tree::from_peaks(3, {Digest()}));
}

TEST(Tree, ProvesEveryLeafFromEveryCutAndNoOther) {
  std::vector<Digest> leaves;
  for (int i = 0; i < 40; ++i) leaves.push_back(leaf_hash(std::to_string(i)));
  for (std::size_t cut = 0; cut < leaves.size(); ++cut) {
    Tree before;
    for (std::size_t i = 0; i < cut; ++i) before.append(leaves[i]);
    Tree whole = before;
    for (std::size_t i = cut; i < leaves.size(); ++i) whole.append(leaves[i]);
    const std::span<const Digest> rest = std::span(leaves).subspan(cut);
    for (std::size_t index = cut; index < leaves.size(); ++index) {
      const auto path = inclusion_path(before, rest, index);
      EXPECT_TRUE(proves_inclusion(leaves[index], index, 40, path, whole.root())) << cut << " " << index;
      EXPECT_FALSE(proves_inclusion(leaves[index], index ^ 1, 40, path, whole.root()));
      EXPECT_FALSE(proves_inclusion(leaves[(index + 1) % 40], index, 40, path, whole.root()));
    }
  }
}

}  // namespace
}  // namespace cordon::audit
