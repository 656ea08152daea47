// Uses the audit log as a program would, so that tests can kill it, starve it and run many of it at once.
//   append DIR COUNT TAG           COUNT runs: intent, then the "command" (a line in DIR.witness), then outcome
//   seconds DIR SECONDS TAG        the same, until the time is over
//   day DIR DAY COUNT TAG          the same on a day of the caller's choice
//   record DIR TIME                records as JSON objects on stdin, one per line; an outcome is intended first
//   threads DIR THREADS COUNT      COUNT records from each thread
//   retain DIR DAY HOURS · prove DIR SEQ
//   verify DIR…                    prints one exit code per directory
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
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

cordon::audit::LogOptions small() {
  cordon::audit::LogOptions options;
  options.store.reserve_bytes = 65536;
  return options;
}

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
  Log log = TRY(Log::open(directory, clock, small()));
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

/// As append, with all kinds of records in between, until the time is over.
Result<void> work_for(const std::string& directory, int seconds, const std::string& tag) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  const cordon::SystemClock clock;
  for (int round = 0; std::chrono::steady_clock::now() < end; ++round) {
    CHECK_OK(append(directory, clock, 5, fmt::format("{}r{}", tag, round)));
    Log log = TRY(Log::open(directory, clock, small()));
    AuditRecord refused = record_of(fmt::format("refused-{}-{}-{}", tag, ::getpid(), round));
    refused.kind = cordon::RecordKind::refused;
    refused.output = std::string(static_cast<std::size_t>(round % 3) * 6000, 'x');
    (void)TRY(log.append(refused));
  }
  return {};
}

AuditRecord record_of(const cordon::Json& json) {
  AuditRecord record;
  record.kind = cordon::record_kind_named(json.value("kind", "outcome")).value_or(cordon::RecordKind::outcome);
  record.command = json.value("command", "");
  record.user = json.value("user", "");
  record.status = json.value("status", "");
  record.output = json.value("output", "");
  record.risk = cordon::risk_named(json.value("risk", ""));
  record.request = json.value("request", "");
  record.approval = json.value("approval", "");
  if (json.contains("exit")) record.exit = json["exit"].get<int>();
  return record;
}

Result<void> write_records(const std::string& directory, const cordon::Clock& clock) {
  Log log = TRY(Log::open(directory, clock, small()));
  for (std::string line; std::getline(std::cin, line);) {
    const cordon::Json json = cordon::Json::parse(line, nullptr, false);
    if (!json.is_object()) return cordon::fail(cordon::Fault::invalid_input, "no object: {}", line);
    const AuditRecord record = record_of(json);
    if (record.kind != cordon::RecordKind::outcome) {
      (void)TRY(log.append(record));
      continue;
    }
    AuditRecord intent = record;
    intent.output = "";
    intent.exit.reset();
    (void)TRY(log.intend(intent, cordon::Profile{}));
    (void)TRY(log.conclude(record));
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
  if (verb == "seconds") return work_for(words.at(1), std::stoi(words.at(2)), words.at(3));
  if (verb == "record") {
    const auto time = cordon::from_rfc3339(words.at(2));
    if (!time) return cordon::fail(cordon::Fault::invalid_input, "{} is no time", words[2]);
    return write_records(words.at(1), cordon::ManualClock(*time));
  }
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
