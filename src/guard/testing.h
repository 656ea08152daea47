// A guard in a room of its own, with a sandbox that only counts.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "config/testing.h"
#include "guard/guard.h"

namespace cordon::guard {

class CountingSandbox : public sandbox::Sandbox {
 public:
  RunReport run(Clearance clearance, sandbox::Io& io, std::stop_token) override {
    const std::lock_guard lock(mutex_);
    ++runs;
    last = clearance.profile();
    io.output(sandbox::Stream::out, "done\n");
    return {.outcome = outcome};
  }
  std::atomic<int> runs = 0;
  Profile last;
  Outcome outcome = Exited{0};

 private:
  std::mutex mutex_;
};

class GuardTest : public ::testing::Test {
 protected:
  Guard open(PreviewMaker maker = {}) {
    auto guard = Guard::open({.sources = room_.sources(),
                              .alarm = [this](const Alert& alert) { alerts_.push_back(alert); },
                              .make_preview = std::move(maker),
                              .secrets = {},
                              .sandbox = sandbox_},
                             clock_);
    if (!guard) ADD_FAILURE() << guard.error().sentence;
    return *std::move(guard);
  }

  /// Asks a person whatever the judgement is.
  Request request(const std::string& text) const {
    Request made;
    made.text = text;
    made.asker = {.user = "me", .uid = ::geteuid()};
    made.cwd = room_.workspace();
    made.workspace = room_.workspace();
    made.home = room_.home();
    made.require_approval = true;
    return made;
  }
  Request agents_request(const std::string& text) const {
    Request made = request(text);
    made.asker.agent = "builder";
    made.asker.is_agent = true;
    return made;
  }

  Execution execute(Guard& guard, const Request& request, const Asking& asking = {}) {
    sandbox::CapturedIo io;
    return guard.execute(request, asking, io, {});
  }
  /// Queues it and returns its id.
  std::string queued(Guard& guard, const Request& request) {
    const Execution execution = execute(guard, request);
    EXPECT_TRUE(std::holds_alternative<Waiting>(execution.report.outcome)) << sentence_of(execution);
    return execution.approval;
  }
  Result<Execution> redeem(Guard& guard, const std::string& id) {
    sandbox::CapturedIo io;
    const auto entry = (*guard.queue())->find(id);
    if (!entry) return tl::make_unexpected(entry.error());
    return guard.redeem(*entry, io, {});
  }
  approve::Entry entry(Guard& guard, const std::string& id) {
    const auto found = (*guard.queue())->find(id);
    if (!found) ADD_FAILURE() << found.error().sentence;
    return *found;
  }
  static approve::Vote yes(approve::Presence presence = approve::Presence::passphrase) {
    return {.by = "me", .presence = presence};
  }

  void make_program(const std::string& name, std::string_view text) const {
    room_.write(name, text);
    std::filesystem::permissions(room_.workspace() + "/" + name, std::filesystem::perms::owner_all);
  }
  /// Every line of the log.
  std::string log_text() const {
    std::string text;
    for (const auto& file : std::filesystem::directory_iterator(room_.state() + "/audit")) {
      if (file.path().extension() != ".jsonl") continue;
      std::ifstream lines(file.path(), std::ios::binary);
      text.append(std::istreambuf_iterator<char>(lines), {});
    }
    return text;
  }
  bool alerted(Alert::Kind kind) const {
    return std::any_of(alerts_.begin(), alerts_.end(), [&](const Alert& alert) { return alert.kind == kind; });
  }

  config::Room room_;
  ManualClock clock_{SystemClock().now()};
  std::shared_ptr<CountingSandbox> sandbox_ = std::make_shared<CountingSandbox>();
  std::vector<Alert> alerts_;
};

inline const Refused* refused(const Execution& execution) { return std::get_if<Refused>(&execution.report.outcome); }

}  // namespace cordon::guard
