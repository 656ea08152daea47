#include "serve/socket/frame.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

namespace cordon::serve::socket {
namespace {

struct Pair {
  Pair() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    here = sys::Fd(ends[0]);
    there = sys::Fd(ends[1]);
  }
  void say(std::string_view bytes) const {
    ASSERT_EQ(::write(here.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  void hang_up() { here = sys::Fd(-1); }
  sys::Fd here{-1};
  sys::Fd there{-1};
};

TEST(Frame, CarriesAnObjectAndItsDescriptors) {
  Pair pair;
  const sys::Fd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(send_frame(pair.here, {{"a", "b"}}, {null.get(), null.get()}));
  const auto frame = receive_frame(pair.there, 1000);
  ASSERT_TRUE(frame && *frame);
  EXPECT_EQ((*frame)->body["a"], "b");
  ASSERT_EQ((*frame)->descriptors.size(), 2U);
  EXPECT_NE(::fcntl((*frame)->descriptors[0].get(), F_GETFD) & FD_CLOEXEC, 0) << "no program started meanwhile has it";
}

TEST(Frame, LargerThanTheBufferOfASocketArrivesWhole) {
  Pair pair;
  const std::string large(3 << 20, 'x');
  std::jthread sender([&] { EXPECT_TRUE(send_frame(pair.here, {{"large", large}}, {})); });
  const auto frame = receive_frame(pair.there, largest_frame);
  ASSERT_TRUE(frame && *frame);
  EXPECT_EQ((*frame)->body["large"], large);
}

TEST(Frame, EndBetweenFramesIsNoError) {
  Pair pair;
  pair.hang_up();
  const auto frame = receive_frame(pair.there, 1000);
  ASSERT_TRUE(frame);
  EXPECT_FALSE(*frame);
}

TEST(Frame, WhatIsCutTooLargeOrNoObjectIsAnError) {
  using namespace std::string_view_literals;
  for (const std::string_view bytes : {"\x05"sv, "\x05\0\0\0{\"a"sv, "\xff\xff\xff\xff"sv, "\xe9\x03\0\0"sv,
                                       "\2\0\0\0[]"sv, "\3\0\0\0{a}"sv, "\0\0\0\0"sv, "\4\0\0\0null"sv}) {
    Pair pair;
    pair.say(bytes);
    pair.hang_up();
    EXPECT_FALSE(receive_frame(pair.there, 1000)) << bytes;
  }
}

TEST(Frame, MoreDescriptorsThanThereAreUsesForAreRefusedAndClosed) {
  Pair pair;
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int) * 8)] = {};
  char header[4] = {2, 0, 0, 0};
  iovec part{header, sizeof header};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  cmsghdr* item = CMSG_FIRSTHDR(&message);
  item->cmsg_level = SOL_SOCKET;
  item->cmsg_type = SCM_RIGHTS;
  item->cmsg_len = CMSG_LEN(sizeof(int) * 8);
  for (int i = 0; i < 8; ++i) reinterpret_cast<int*>(CMSG_DATA(item))[i] = pair.there.get();
  ASSERT_EQ(::sendmsg(pair.here.get(), &message, 0), 4);
  const int next_before = ::dup(0);
  ::close(next_before);
  EXPECT_FALSE(receive_frame(pair.there, 1000));
  const int next_after = ::dup(0);
  ::close(next_after);
  EXPECT_EQ(next_before, next_after);
}

TEST(Frame, BytesThatAreNoTextTravelToo) {
  const std::string bytes = "a\xff\0b";
  EXPECT_EQ(from_exact(exact(bytes)), bytes);
  EXPECT_EQ(from_exact(exact("text")), "text");
  EXPECT_FALSE(from_exact(5));
  EXPECT_FALSE(from_exact({{"base64", "!"}}));
}

}  // namespace
}  // namespace cordon::serve::socket
