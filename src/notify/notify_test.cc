#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/digest.h"
#include "notify/child.h"
#include "notify/notifier.h"
#include "notify/webhook.h"
#include "sys/fd.h"

namespace cordon::notify {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
namespace fs = std::filesystem;

/// Answers every connection with one fixed text and keeps what it was sent. A process, not a thread: the notifier
/// forks, and a fork beside a thread that holds a lock never gets it back.
class Receiver {
 public:
  explicit Receiver(std::string answer)
      : answer_(std::move(answer)), socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int ends[2];
    if (::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        ::pipe2(ends, O_CLOEXEC) != 0) {
      std::abort();
    }
    ::listen(socket_.get(), 8);
    socklen_t size = sizeof address;
    ::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    reads_ = sys::Fd(ends[0]);
    writes_ = sys::Fd(ends[1]);
    process_ = ::fork();
    if (process_ == 0) serve();
    writes_ = sys::Fd(-1);
  }
  ~Receiver() { end(); }
  std::string url(const std::string& path = "/hook") const { return fmt::format("http://127.0.0.1:{}{}", port_, path); }
  /// To be read after the sender has ended.
  std::string received() {
    end();
    std::string text;
    char buffer[8192];
    for (ssize_t count = 0; (count = ::read(reads_.get(), buffer, sizeof buffer)) > 0;) {
      text.append(buffer, static_cast<std::size_t>(count));
    }
    return text;
  }

 private:
  /// The listening socket is shared with the process that serves it: closed for connections, its accept fails.
  void end() {
    if (process_ <= 0) return;
    ::shutdown(socket_.get(), SHUT_RDWR);
    ::waitpid(process_, nullptr, 0);
    process_ = 0;
  }
  [[noreturn]] void serve() {
    for (;;) {
      const sys::Fd peer(::accept(socket_.get(), nullptr, nullptr));
      if (peer.get() < 0) ::_exit(0);
      std::string request;
      char buffer[8192];
      while (!request.ends_with("}")) {
        const ssize_t count = ::recv(peer.get(), buffer, sizeof buffer, 0);
        if (count <= 0) break;
        request.append(buffer, static_cast<std::size_t>(count));
      }
      if (::write(writes_.get(), request.data(), request.size()) < 0) ::_exit(1);
      static_cast<void>(::send(peer.get(), answer_.data(), answer_.size(), MSG_NOSIGNAL));
    }
  }
  std::string answer_;
  sys::Fd socket_;
  sys::Fd reads_{-1}, writes_{-1};
  std::uint16_t port_ = 0;
  pid_t process_ = 0;
};

class NotifierTest : public ::testing::Test {
 protected:
  NotifierTest() {
    std::string pattern = ::testing::TempDir() + "cordon-notify-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    directory_ = pattern;
  }
  ~NotifierTest() override { fs::remove_all(directory_); }

  Notifier notifier() const {
    return {settings_, {.state_dir = directory_, .program_directories = {directory_}, .environment = environment_}};
  }
  static Notice notice() {
    return {.event = "approval_wanted",
            .command = "rm -rf build",
            .sentence = "Recursive deletion",
            .approval = "cmd_abcdefghij",
            .user = "me",
            .workspace = "/work",
            .at = *from_rfc3339("2026-01-01T00:00:10Z")};
  }
  /// A program that keeps its arguments and input.
  std::string program(const std::string& name, const std::string& body) const {
    const std::string path = directory_ + "/" + name;
    std::ofstream(path) << "#!/bin/sh\n" << body;
    ::chmod(path.c_str(), 0700);
    return path;
  }
  std::string read(const std::string& name) const {
    std::ifstream file(directory_ + "/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void set_command(std::initializer_list<std::string> words) {
    for (const std::string& word : words) settings_.command.push_back({word, {}});
  }
  std::string directory_;
  NotificationSettings settings_{
      .desktop = {false, {}}, .webhook_url = {}, .webhook_secret_file = {}, .command = {}, .events = {}};
  const char* const* environment_ = nullptr;
};

TEST_F(NotifierTest, NothingIsSetSoNothingIsTold) {
  EXPECT_FALSE(notifier().wants("blocked"));
  EXPECT_THAT(notifier().deliver(notice()), IsEmpty());
}

TEST_F(NotifierTest, AWebhookGetsASignedEvent) {
  Receiver receiver("HTTP/1.1 204 No Content\r\n\r\n");
  settings_.webhook_url.value = receiver.url();
  settings_.webhook_secret_file.value = directory_ + "/secret";
  std::ofstream(directory_ + "/secret") << "open sesame\n";
  ::chmod((directory_ + "/secret").c_str(), 0600);
  EXPECT_THAT(notifier().deliver(notice()), IsEmpty());
  const std::string received = receiver.received();
  EXPECT_THAT(received, HasSubstr("POST /hook HTTP/1.1\r\n"));
  EXPECT_THAT(received, HasSubstr("X-Cordon-Event: approval_wanted\r\n"));
  const std::string body = received.substr(received.find("\r\n\r\n") + 4);
  EXPECT_EQ(Json::parse(body)["queue_id"], "cmd_abcdefghij");
  const std::string expected = hmac_sha256("open sesame", "1767225610." + body).hex();
  EXPECT_THAT(received, HasSubstr("X-Cordon-Timestamp: 1767225610\r\n"));
  EXPECT_THAT(received, HasSubstr("X-Cordon-Signature: sha256=" + expected + "\r\n"));
}

TEST_F(NotifierTest, ASecretThatOthersCanReadIsNotUsed) {
  Receiver receiver("HTTP/1.1 200 OK\r\n\r\n");
  settings_.webhook_url.value = receiver.url();
  settings_.webhook_secret_file.value = directory_ + "/secret";
  std::ofstream(directory_ + "/secret") << "open sesame\n";
  ::chmod((directory_ + "/secret").c_str(), 0644);
  EXPECT_THAT(notifier().deliver(notice()), ElementsAre(HasSubstr("can be read by others")));
  EXPECT_EQ(receiver.received(), "");
}

TEST_F(NotifierTest, ARedirectIsNotFollowed) {
  Receiver elsewhere("HTTP/1.1 200 OK\r\n\r\n");
  Receiver receiver("HTTP/1.1 302 Found\r\nLocation: " + elsewhere.url() + "\r\n\r\n");
  settings_.webhook_url.value = receiver.url();
  EXPECT_THAT(notifier().deliver(notice()), ElementsAre(HasSubstr("redirects are not followed")));
  EXPECT_EQ(elsewhere.received(), "");
}

TEST_F(NotifierTest, AnErrorAnswerAndAClosedPortAreFailures) {
  {
    Receiver receiver("HTTP/1.1 500 Oops\x1b[31m\r\n\r\n");
    settings_.webhook_url.value = receiver.url();
    EXPECT_THAT(notifier().deliver(notice()), ElementsAre(HasSubstr("answered 'HTTP/1.1 500 Oops\\x1b[31m'")));
  }
  EXPECT_THAT(notifier().deliver(notice()), ElementsAre(HasSubstr("webhook: cannot connect")));
}

TEST_F(NotifierTest, ACommandGetsTheEventOnStdinAndNoSecretsOfTheCaller) {
  const char* environment[] = {"PATH=/usr/bin:/bin", "CORDON_APPROVER_TOKEN=secret", "AWS_SECRET_ACCESS_KEY=x",
                               nullptr};
  environment_ = environment;
  set_command(
      {program("hook",
               "cat > $(dirname $0)/input; env > $(dirname $0)/environment; echo \"$@\" > $(dirname $0)/arguments\n"),
       "-a", "-a", "$(id)"});
  EXPECT_THAT(notifier().deliver(notice()), IsEmpty());
  EXPECT_EQ(Json::parse(read("input"))["command"], "rm -rf build");
  EXPECT_EQ(read("arguments"), "-a -a $(id)\n") << "no shell, nothing merged";
  EXPECT_THAT(read("environment"), Not(HasSubstr("TOKEN")));
  EXPECT_THAT(read("environment"), Not(HasSubstr("SECRET")));
}

TEST_F(NotifierTest, ACommandThatFailsIsAFailure) {
  set_command({program("hook", "exit 3\n")});
  EXPECT_THAT(notifier().deliver(notice()), ElementsAre(HasSubstr("exited with 3")));
  settings_.command = {{directory_ + "/no-such-program", {}}};
  EXPECT_THAT(notifier().deliver(notice()), ElementsAre(HasSubstr("could not be started")));
}

TEST_F(NotifierTest, WhatTakesTooLongIsKilledWithAllItStarted) {
  const std::string marker = directory_ + "/alive";
  const auto result = within(std::chrono::milliseconds(200), [&]() -> Result<void> {
    return run_hook(
        {.argv = {"/bin/sh", "-c", "sleep 600 & echo $! > " + marker + "; wait"}, .environment = {}, .input = ""});
  });
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().sentence, HasSubstr("took longer than 200 ms"));
}

TEST_F(NotifierTest, TheDesktopIsToldOnlyWhereThereIsOne) {
  settings_.desktop.value = true;
  program("notify-send", "printf '%s\\n' \"$@\" > $(dirname $0)/told\n");
  EXPECT_FALSE(notifier().wants("blocked"));
  const char* environment[] = {"DISPLAY=:0", "PATH=/usr/bin:/bin", nullptr};
  environment_ = environment;
  Notice told = notice();
  told.command = "echo <b>&amp;\x1b[2J";
  EXPECT_THAT(notifier().deliver(told), IsEmpty());
  EXPECT_THAT(read("told"), HasSubstr("--\nCordon: approval wanted\necho &lt;b&gt;&amp;amp;\\x1b[2J\n"));
}

TEST_F(NotifierTest, OnlyListedEventsAreTold) {
  set_command({"/bin/true"});
  settings_.events = {{"queue_full", {}}};
  EXPECT_TRUE(notifier().wants("queue_full"));
  EXPECT_FALSE(notifier().wants("blocked"));
}

TEST_F(NotifierTest, IdenticalNoticesAreSentOnce) {
  const char* environment[] = {"PATH=/usr/bin:/bin", nullptr};
  environment_ = environment;
  // Reading the pipe waits for whoever writes next.
  ASSERT_EQ(::mkfifo((directory_ + "/told").c_str(), 0600), 0);
  set_command({program("hook", "cat > $(dirname $0)/told\n")});
  notifier().send(notice());
  EXPECT_THAT(read("told"), HasSubstr("rm -rf build"));
  notifier().send(notice());
  Notice other = notice();
  other.command = "another one";
  notifier().send(other);
  EXPECT_THAT(read("told"), HasSubstr("another one"));
  Notice later = notice();
  later.at += Notifier::sent_once_within;
  notifier().send(later);
  EXPECT_THAT(read("told"), HasSubstr("rm -rf build"));
}

TEST_F(NotifierTest, FailuresAreNotedInABoundedLog) {
  std::ofstream(directory_ + "/notify.log") << std::string(300 * 1024, 'x') << "\nlast line\n";
  set_command({directory_ + "/no-such-program"});
  notifier().send(notice());
  // The sender is nobody's child, so its work is all there is to wait for.
  std::string log;
  while ((log = read("notify.log")).find("could not be started") == std::string::npos) std::this_thread::yield();
  EXPECT_THAT(log, HasSubstr("approval_wanted command: "));
  EXPECT_LT(log.size(), 200U * 1024);
}

TEST(Address, IsReadOrRefused) {
  const auto address = read_address("https://[::1]:8443/a?b#c");
  ASSERT_TRUE(address) << address.error().sentence;
  EXPECT_EQ(address->host, "::1");
  EXPECT_EQ(address->port, 8443);
  EXPECT_EQ(address->path, "/a?b");
  EXPECT_EQ(address->authority(), "[::1]:8443");
  EXPECT_EQ(read_address("http://host?x")->path, "/?x");
  for (const char* wrong : {"ftp://x/", "https://", "https://u:p@host/", "https://host:0/", "https://host:99999/",
                            "https://ho st/", "https://host/\r\nX: y", "file:///etc/passwd", "host/path"}) {
    EXPECT_FALSE(read_address(wrong)) << wrong;
  }
}

TEST(Notice, IsBoundedAndVisible) {
  Notice notice{.event = "blocked",
                .command = std::string(5000, 'x'),
                .sentence =
                    "a\xe2\x80\xae"
                    "b"};
  const Json json = to_json(notice);
  EXPECT_THAT(json["command"].get<std::string>(), HasSubstr("… (+3000 bytes)"));
  EXPECT_EQ(json["message"], "a\\u{202e}b");
}

}  // namespace
}  // namespace cordon::notify
