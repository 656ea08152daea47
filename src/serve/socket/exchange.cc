#include "serve/socket/exchange.h"

#include <poll.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

#include "guard/loosening.h"
#include "serve/socket/message.h"
#include "sys/file.h"

namespace cordon::serve::socket {

namespace {

constexpr std::uint64_t longest_wait_ms = 24ULL * 3600 * 1000;

/// The client's own streams. Writing must not outlast the client, and must not change how its descriptors behave for
/// others that share them: so they stay as they are, and no more is written at once than a pipe surely takes.
class ClientStreams {
 public:
  ClientStreams(int connection, int out, int err) : connection_(connection), out_(out), err_(err) {}

  void write(sandbox::Stream stream, std::string_view bytes) {
    const int target = stream == sandbox::Stream::out ? out_ : err_;
    while (target >= 0 && !bytes.empty()) {
      pollfd ends[2] = {{target, POLLOUT, 0}, {connection_, POLLRDHUP, 0}};
      if (::poll(ends, 2, -1) < 0) {
        if (errno == EINTR) continue;
        return;
      }
      // The client is gone, or gave up: nobody waits for this.
      if (ends[1].revents != 0 && (ends[0].revents & POLLOUT) == 0) return;
      const ssize_t count = ::write(target, bytes.data(), std::min<std::size_t>(bytes.size(), PIPE_BUF));
      if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (count <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }

 private:
  int connection_;
  int out_;
  int err_;
};

class ExecIo : public sandbox::Io {
 public:
  ExecIo(ClientStreams streams, bool captured, std::optional<int> input)
      : streams_(streams), captured_(captured), input_(input) {}
  void output(sandbox::Stream stream, std::string_view bytes) override {
    if (captured_) {
      (stream == sandbox::Stream::out ? kept.out : kept.err).append(bytes);
    } else {
      streams_.write(stream, bytes);
    }
  }
  std::optional<int> input_descriptor() override { return input_; }
  guard::Output kept;

 private:
  ClientStreams streams_;
  bool captured_;
  std::optional<int> input_;
};

class CodeSink : public code::Sink {
 public:
  explicit CodeSink(ClientStreams streams) : streams_(streams) {}
  void output(sandbox::Stream stream, std::string_view bytes) override { streams_.write(stream, bytes); }

 private:
  ClientStreams streams_;
};

/// The descriptors that came, by what they are for.
class Descriptors {
 public:
  Descriptors(const Question& question, std::vector<sys::Fd> came) : came_(std::move(came)) {
    for (std::size_t i = 0; i < question.passed.size() && i < came_.size(); ++i) {
      numbers_[static_cast<std::size_t>(question.passed[i])] = came_[i].get();
    }
  }
  int get(Passed which) const { return numbers_[static_cast<std::size_t>(which)]; }

 private:
  std::vector<sys::Fd> came_;
  int numbers_[most_descriptors] = {-1, -1, -1, -1};
};

std::string name_of_user(std::uint32_t uid) {
  char space[4096];
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(uid, &entry, space, sizeof space, &found) == 0 && found != nullptr) return found->pw_name;
  return std::to_string(uid);
}

/// What the channel knows replaces what the request says.
std::string complete(Request& request, const Service& service, int cwd) {
  request.asker.uid = ::geteuid();  // the peer's, which was compared
  request.asker.user = name_of_user(request.asker.uid);
  request.asker.surface = "cli";
  request.home = service.sources().home;
  if (cwd < 0) return "";
  struct stat given {};
  struct stat named {};
  if (::fstat(cwd, &given) != 0 || ::stat(request.cwd.c_str(), &named) != 0 || given.st_dev != named.st_dev ||
      given.st_ino != named.st_ino) {
    return "the working directory is another one here";
  }
  return "";
}

/// What a client must do itself, because it takes a person or is not done at all.
std::string not_ours(const Question& question, const guard::Guard& guard) {
  if (const std::string why = guard::loosening(question.request, guard.settings()); !why.empty()) return why;
  if (question.verb == Verb::exec && guard.settings().approval.dry_run.value && !question.dry_run_is_fine) {
    return "the settings make a dry run the default";
  }
  if (!question.person_is_there) return "";
  // Code that gets nothing is never asked about; for the rest a person who is there can wait a few milliseconds.
  const auto& snippet = question.request.snippet;
  const bool may_ask =
      snippet ? snippet->access != WorkspaceAccess::none : guard.judge(question.request).verdict.action == Action::ask;
  return may_ask ? "a person is there to be asked" : "";
}

class Exchange {
 public:
  Exchange(Service& service, const sys::Fd& connection, std::stop_token stop)
      : service_(service), connection_(connection), stop_(std::move(stop)) {}

  void hold() {
    auto frame = receive_frame(connection_, largest_frame);
    if (!frame || !*frame) return;
    const Json& body = (*frame)->body;
    if (const std::string why = stranger(body, service_.sources()); !why.empty()) return decline(connection_, why);
    auto question = decode(body);
    if (!question) return tell_error(question.error());
    if (question->verb == Verb::ping) {
      return tell({{"type", "answer"}, {"version", CORDON_VERSION}, {"pid", ::getpid()}});
    }
    const Descriptors descriptors(*question, std::move((*frame)->descriptors));
    if (const std::string why = complete(question->request, service_, descriptors.get(Passed::cwd)); !why.empty()) {
      return decline(connection_, why);
    }
    auto guard = service_.guard_for(question->request);
    if (!guard) return tell_error(guard.error());
    if (const std::string why = not_ours(*question, *guard); !why.empty()) return decline(connection_, why);
    // A client that has given up meanwhile does not get what it no longer waits for.
    if (!send_frame(connection_, {{"type", "taken"}}, {})) return;
    question->verb == Verb::exec ? execute(*question, *guard, descriptors) : run(*question, *guard, descriptors);
  }

 private:
  void tell(const Json& body) const { static_cast<void>(send_frame(connection_, body, {})); }

  void tell_error(const Error& error) const {
    tell({{"type", "error"}, {"fault", name_of(error.fault)}, {"message", error.sentence}});
  }

  guard::Asking asking(const Question& question) const {
    guard::Asking asking;
    asking.approval = question.approval;
    if (question.wait_ms) {
      asking.wait = std::chrono::milliseconds(std::min(*question.wait_ms, longest_wait_ms));
      asking.waiting = [this](const approve::Entry& entry) { tell({{"type", "waiting"}, {"id", entry.id}}); };
    }
    return asking;
  }

  ClientStreams streams(const Descriptors& descriptors) const {
    return {connection_.get(), descriptors.get(Passed::output), descriptors.get(Passed::errors)};
  }

  static std::optional<int> input(const Descriptors& descriptors) {
    const int number = descriptors.get(Passed::input);
    return number >= 0 ? std::optional(number) : std::nullopt;
  }

  void execute(const Question& question, guard::Guard& guard, const Descriptors& descriptors) const {
    ExecIo io(streams(descriptors), descriptors.get(Passed::output) < 0, input(descriptors));
    const guard::Execution execution = guard.execute(question.request, asking(question), io, stop_);
    tell({{"type", "answer"},
          {"object", guard::to_json(execution, io.kept)},
          {"exit", guard::exit_code_of(execution)},
          {"sentence", guard::sentence_of(execution)}});
  }

  void run(const Question& question, guard::Guard& guard, const Descriptors& descriptors) const {
    CodeSink sink(streams(descriptors));
    guard::CodeStreams given{.input = question.input, .input_descriptor = input(descriptors)};
    if (descriptors.get(Passed::output) >= 0) given.sink = &sink;
    const guard::CodeExecution execution = guard.run_code(question.request, asking(question), given, stop_);
    tell({{"type", "answer"}, {"object", guard::to_json(execution)}, {"exit", guard::exit_code_of(execution)}});
  }

  Service& service_;
  const sys::Fd& connection_;
  std::stop_token stop_;
};

}  // namespace

void answer(Service& service, const sys::Fd& connection, std::stop_token stop) {
  Exchange(service, connection, std::move(stop)).hold();
}

bool greet(const sys::Fd& connection) { return send_frame(connection, {{"type", "hello"}}, {}).has_value(); }

void decline(const sys::Fd& connection, const std::string& reason) {
  static_cast<void>(send_frame(connection, {{"type", "decline"}, {"reason", reason}}, {}));
}

}  // namespace cordon::serve::socket
