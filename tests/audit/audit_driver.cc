// Uses the audit log as a program would, so that tests can kill it, starve it and run many of it at once.
//   audit_driver append DIR COUNT TAG           COUNT runs: intent, then the "command" (a line in DIR.witness), then
//   outcome audit_driver day DIR DAY COUNT TAG          the same on a day of the caller's choice audit_driver threads
//   DIR THREADS COUNT      COUNT records from each thread audit_driver retain DIR DAY HOURS audit_driver prove DIR SEQ
//   audit_driver verify DIR…                    prints one exit code per directory
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "audit/health.h"
#include "audit/log.h"

namespace {

using cordon::AuditRecord;
using cordon::Result;
using cordon::audit::Log;

AuditRecord record_of(const std::string& request) {
  AuditRecord record;
  record.command = "touch " + request;
  record.user = "driver";
  record.status = "executed";
  record.risk = cordon::Risk::normal;
  record.request = request;
  return record;
}

/// Stands for the command itself: it needs a Clearance, and leaves a trace that the log can be compared with.
void run(const cordon::Clearance&, const std::string& witness, const std::string& request) {
  const int fd = ::open(witness.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  const std::string line = request + "\n";
  if (fd < 0 || ::write(fd, line.data(), line.size()) < 0) std::abort();
  ::close(fd);
}

Result<void> append(const std::string& directory, const cordon::Clock& clock, int count, const std::string& tag) {
  cordon::audit::LogOptions options;
  options.store.reserve_bytes = 65536;
  Log log = TRY(Log::open(directory, clock, options));
  for (int i = 0; i < count; ++i) {
    const std::string request = fmt::format("{}-{}-{}", tag, ::getpid(), i);
    const auto clearance = TRY(log.intend(record_of(request), cordon::Profile{}));
    run(clearance, directory + ".witness", request);
    AuditRecord outcome = record_of(request);
    outcome.exit = 0;
    outcome.output = "made " + request + "\n";
    (void)TRY(log.conclude(outcome));
  }
  return {};
}

Result<void> threads(const std::string& directory, int number, int count) {
  const cordon::SystemClock clock;
  Log log = TRY(Log::open(directory, clock, {}));
  std::vector<std::thread> all;
  for (int t = 0; t < number; ++t) {
    all.emplace_back([&, t] {
      AuditRecord record = record_of(std::to_string(t));
      record.kind = cordon::RecordKind::refused;
      for (int i = 0; i < count; ++i) {
        if (!log.append(record)) std::abort();
      }
    });
  }
  for (auto& thread : all) thread.join();
  return {};
}

Result<void> retain(const std::string& directory, const cordon::Clock& clock, int hours) {
  Log log = TRY(Log::open(directory, clock, {}));
  (void)TRY(log.retain(std::chrono::hours(hours)));
  return {};
}

Result<void> prove(const std::string& directory, std::uint64_t seq) {
  const cordon::SystemClock clock;
  Log log = TRY(Log::open(directory, clock, {}));
  std::cout << TRY(log.prove(seq));
  return {};
}

Result<void> dispatch(const std::vector<std::string>& words) {
  const std::string& verb = words[0];
  if (verb == "append") return append(words.at(1), cordon::SystemClock(), std::stoi(words.at(2)), words.at(3));
  if (verb == "day" || verb == "retain") {
    const auto day = cordon::from_rfc3339(words.at(2));
    if (!day) return cordon::fail(cordon::Fault::invalid_input, "{} is no day", words[2]);
    const cordon::ManualClock clock(*day + std::chrono::hours(12));
    if (verb == "retain") return retain(words.at(1), clock, std::stoi(words.at(3)));
    return append(words.at(1), clock, std::stoi(words.at(3)), words.at(4));
  }
  if (verb == "threads") return threads(words.at(1), std::stoi(words.at(2)), std::stoi(words.at(3)));
  if (verb == "prove") return prove(words.at(1), std::stoull(words.at(2)));
  if (verb != "verify") return cordon::fail(cordon::Fault::invalid_input, "no such verb: {}", verb);
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto report = TRY(cordon::audit::examine({words[i], std::nullopt, {}, "", ""}));
    std::cout << static_cast<int>(report.soundness()) << ' ' << words[i] << '\n';
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const auto done = dispatch(argc > 1 ? std::vector<std::string>{argv + 1, argv + argc} : std::vector<std::string>{""});
  if (done) return 0;
  std::cerr << "audit_driver: " << done.error().sentence << '\n';
  return 10 + static_cast<int>(done.error().fault);
}
