#include "code/state_store.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace cordon::code {
namespace {

class Store : public ::testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/cordon-state-XXXXXX";
    directory_ = ::mkdtemp(pattern);
    store_.emplace(StateStore::open(directory_ + "/sessions").value());
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::string file(const std::string& name) { return directory_ + "/sessions/" + name; }

  std::string directory_;
  std::optional<StateStore> store_;
};

TEST_F(Store, AnUnusedSessionHasNoState) { EXPECT_FALSE(store_->load("new").value()); }

TEST_F(Store, LoadsWhatWasSavedLast) {
  ASSERT_TRUE(store_->save("s", 1, "one"));
  ASSERT_TRUE(store_->save("s", 2, "two"));
  auto state = store_->load("s").value();
  EXPECT_EQ(state->step, 2u);
  EXPECT_EQ(state->bytes, "two");
}

TEST_F(Store, RollingBackForgetsWhatCameAfter) {
  for (std::uint64_t step = 1; step <= 5; ++step) ASSERT_TRUE(store_->save("s", step, std::to_string(step)));
  ASSERT_TRUE(store_->roll_back("s", 3));
  EXPECT_EQ(store_->load("s").value()->bytes, "3");
  EXPECT_EQ(store_->steps("s").value(), (std::vector<std::uint64_t>{1, 2, 3}));
}

TEST_F(Store, KeepsTheLastSteps) {
  for (std::uint64_t step = 1; step <= 40; ++step) ASSERT_TRUE(store_->save("s", step, "x"));
  const auto steps = store_->steps("s").value();
  EXPECT_EQ(steps.size(), 16u);
  EXPECT_EQ(steps.front(), 25u);
}

TEST_F(Store, AForkStartsWhereTheOtherStandsAndNeverReplacesOne) {
  ASSERT_TRUE(store_->save("a", 7, "seven"));
  EXPECT_EQ(store_->fork("a", "b").value(), 7u);
  ASSERT_TRUE(store_->save("a", 8, "eight"));
  EXPECT_EQ(store_->load("b").value()->bytes, "seven");
  EXPECT_EQ(store_->fork("a", "b").error().fault, Fault::conflict);
  EXPECT_EQ(store_->fork("none", "c").error().fault, Fault::invalid_input);
}

TEST_F(Store, EveryChangedByteIsNoticed) {
  ASSERT_TRUE(store_->save("s", 1, "the state of a session"));
  std::string whole;
  {
    std::ifstream in(file("s/1.state"), std::ios::binary);
    whole.assign(std::istreambuf_iterator<char>(in), {});
  }
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 0x20);
    std::ofstream(file("s/1.state"), std::ios::binary) << changed;
    EXPECT_EQ(store_->load("s").error().fault, Fault::corrupt) << i;
  }
  for (std::size_t length = 0; length < whole.size(); ++length) {
    std::ofstream(file("s/1.state"), std::ios::binary) << whole.substr(0, length);
    EXPECT_FALSE(store_->load("s")) << length;
  }
}

TEST_F(Store, ANameIsNeverAPath) {
  for (const char* name : {"", "..", "../x", "a/b", ".hidden", "a b", "a\nb"}) {
    EXPECT_FALSE(store_->save(name, 1, "x")) << name;
    EXPECT_FALSE(store_->load(name)) << name;
    EXPECT_FALSE(store_->hold(name)) << name;
  }
  EXPECT_TRUE(store_->save("agent:main-1_x.y", 1, "x"));
}

TEST_F(Store, OtherFilesInASessionAreLeftAlone) {
  ASSERT_TRUE(store_->save("s", 1, "x"));
  std::ofstream(file("s/9.state.tmp")) << "y";
  std::ofstream(file("s/notes")) << "y";
  EXPECT_EQ(store_->load("s").value()->step, 1u);
}

}  // namespace
}  // namespace cordon::code
