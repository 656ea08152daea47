#include "serve/socket/client.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <thread>

#include "serve/socket/address.h"

namespace cordon::serve::socket {
namespace {

/// A daemon that does with each connection what a test says.
class Client : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = std::filesystem::temp_directory_path() / "cordon-client-XXXXXX";
    directory_ = ::mkdtemp(pattern.data());
    world_.state_dir = directory_;
    ::setenv("CORDON_SOCKET", (directory_ + "/socket").c_str(), 1);
    const auto address = address_at(directory_ + "/socket");
    ASSERT_TRUE(address);
    listening_ = sys::Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::bind(listening_.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address), 0);
    ASSERT_EQ(::listen(listening_.get(), 4), 0);
  }
  void TearDown() override {
    ::unsetenv("CORDON_SOCKET");
    std::filesystem::remove_all(directory_);
  }

  Result<std::variant<Answer, Decline>> ask_daemon(std::chrono::milliseconds patience,
                                                   const std::vector<int>& descriptors = {}) const {
    return ask({}, descriptors, world_, {.waiting = {}, .sent = {}, .patience = patience});
  }

  std::jthread daemon(std::function<void(const sys::Fd&)> talk) {
    return std::jthread([this, talk = std::move(talk)] {
      const sys::Fd connection(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      ASSERT_TRUE(send_frame(connection, {{"type", "hello"}}, {}));
      ASSERT_TRUE(receive_frame(connection, largest_frame));
      talk(connection);
    });
  }

  static void await_end(const sys::Fd& connection) {
    char byte = 0;
    EXPECT_EQ(::recv(connection.get(), &byte, 1, 0), 0) << "the client closes its side when it gives up";
  }

 private:
  std::string directory_;
  config::Sources world_;
  sys::Fd listening_{-1};
};

TEST_F(Client, GivesUpOnADaemonThatNeverTakesTheRequest) {
  const std::jthread there = daemon(await_end);
  const auto told = ask_daemon(std::chrono::milliseconds(50));
  ASSERT_FALSE(told) << "to do it here instead might do it twice";
  EXPECT_EQ(told.error().fault, Fault::unavailable);
  EXPECT_NE(told.error().sentence.find("does not take"), std::string::npos) << told.error().sentence;
}

TEST_F(Client, GivesUpOnADaemonThatDoesNotEvenAccept) {
  const auto told = ask_daemon(std::chrono::milliseconds(50));
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().fault, Fault::unavailable);
}

TEST_F(Client, GivesItsStreamsToNoDaemonThatSleeps) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const sys::Fd here(ends[0]);
  {
    const sys::Fd there(ends[1]);
    EXPECT_FALSE(ask_daemon(std::chrono::milliseconds(50), {there.get()}));
  }
  char byte = 0;
  EXPECT_EQ(::read(here.get(), &byte, 1), 0) << "who reads our output must see its end";
}

TEST_F(Client, WaitsForAnAnswerAsLongAsItTakesOnceTheRequestIsTaken) {
  constexpr std::chrono::milliseconds patience(200);
  const std::jthread there = daemon([&](const sys::Fd& connection) {
    ASSERT_TRUE(send_frame(connection, {{"type", "taken"}}, {}));
    // Nothing is said for longer than the patience, and nobody leaves.
    pollfd left{connection.get(), POLLRDHUP, 0};
    EXPECT_EQ(::poll(&left, 1, 3 * static_cast<int>(patience.count())), 0);
    ASSERT_TRUE(send_frame(connection, {{"type", "answer"}, {"exit", 7}}, {}));
  });
  const auto told = ask_daemon(patience);
  ASSERT_TRUE(told) << told.error().sentence;
  ASSERT_TRUE(std::holds_alternative<Answer>(*told));
  EXPECT_EQ(std::get<Answer>(*told).exit, 7);
}

TEST_F(Client, DoesItItselfWhereTheDaemonDeclines) {
  const std::jthread there = daemon([](const sys::Fd& connection) {
    ASSERT_TRUE(send_frame(connection, {{"type", "decline"}, {"reason", "x"}}, {}));
  });
  const auto told = ask_daemon(std::chrono::seconds(60));
  ASSERT_TRUE(told);
  EXPECT_TRUE(std::holds_alternative<Decline>(*told));
}

}  // namespace
}  // namespace cordon::serve::socket
