#include "sandbox/preview/making.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/preview/testing.h"

namespace cordon::sandbox::preview {
namespace {

using State = Progress::State;
using testing::Stage;

constexpr const char* entry = "cmd_abcdefghjkmn";

class MakingTest : public ::testing::Test {
 protected:
  Result<std::optional<Making>> begin(const char* approval = entry) const { return store.begin_making(approval); }
  State state(const char* approval = entry) const { return store.progress(approval).state; }

  Stage stage;
  const SystemClock clock;
  const Store store{stage.state(), clock};
};

TEST_F(MakingTest, IsSeenWhileItLastsAndNobodyElseBegins) {
  EXPECT_EQ(state(), State::none);
  auto making = begin();
  ASSERT_TRUE(making && *making);
  EXPECT_EQ(state(), State::being_made);
  const auto second = begin();
  ASSERT_TRUE(second);
  EXPECT_FALSE(*second);
  EXPECT_EQ(state(), State::being_made) << "whoever tried and failed took nothing away";
  (*making)->done();
  EXPECT_EQ(state(), State::none);
}

TEST_F(MakingTest, AReasonStaysAndANewAttemptReplacesIt) {
  {
    auto making = begin();
    (*making)->failed("it runs on the host");
  }
  EXPECT_EQ(state(), State::impossible);
  EXPECT_EQ(store.progress(entry).why, "it runs on the host");
  auto again = begin();
  ASSERT_TRUE(again && *again);
  EXPECT_EQ(state(), State::being_made);
  store.let_go(entry);
  EXPECT_EQ(state(), State::being_made) << "what is under way is not forgotten";
  (*again)->failed("");
  EXPECT_EQ(state(), State::impossible);
  again->reset();
  store.let_go(entry);
  EXPECT_EQ(state(), State::none);
}

TEST_F(MakingTest, GoesWithTheDescriptorAndEndsWithItsLastHolder) {
  auto making = begin();
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t maker = ::fork();
  ASSERT_GE(maker, 0);
  if (maker == 0) {
    ::close(ends[1]);
    char byte = 0;
    while (::read(ends[0], &byte, 1) > 0) {
    }
    ::_exit(0);
  }
  ::close(ends[0]);
  making->reset();
  EXPECT_EQ(state(), State::being_made);
  ::close(ends[1]);
  ASSERT_EQ(::waitpid(maker, nullptr, 0), maker);
  EXPECT_EQ(state(), State::cut_off);
}

TEST_F(MakingTest, OnlyTheLockOfThatEntryIsTakenOver) {
  auto making = begin();
  ASSERT_TRUE(store.adopt_making(entry, sys::Fd(::dup((*making)->file().get()))));
  EXPECT_FALSE(store.adopt_making("cmd_another", sys::Fd(::dup((*making)->file().get()))));
  EXPECT_FALSE(store.adopt_making(entry, sys::Fd(::open("/dev/null", O_RDWR | O_CLOEXEC))));
  const std::string path = stage.state() + "/previews/making/" + entry;
  EXPECT_FALSE(store.adopt_making(entry, sys::Fd(::open(path.c_str(), O_RDWR | O_CLOEXEC)))) << "another holds it";
}

TEST_F(MakingTest, NoIdLeadsElsewhere) {
  for (const char* id : {"", "../lock", "a/b", ".", "CMD"}) EXPECT_FALSE(begin(id)) << id;
}

TEST_F(MakingTest, WhoAsksForMuchAtOnceIsHeldBack) {
  std::vector<Making> made;
  for (int i = 0; i < 16; ++i) {
    auto making = begin(fmt::format("cmd_{}", i).c_str());
    ASSERT_TRUE(making && *making) << i;
    made.push_back(**std::move(making));
  }
  const auto more = begin("cmd_more");
  ASSERT_TRUE(more);
  EXPECT_FALSE(*more);
  EXPECT_EQ(state("cmd_more"), State::impossible);
}

}  // namespace
}  // namespace cordon::sandbox::preview
