// A log in a directory of its own, for tests.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "audit/log.h"
#include "audit/verify/verifier.h"

namespace cordon::audit {

class LogTest : public ::testing::Test {
 protected:
  LogTest() {
    // In memory where that can be had: hundreds of syncs say nothing more on a disk.
    const bool memory = ::access("/dev/shm", W_OK) == 0;
    const std::filesystem::path place = memory ? "/dev/shm" : std::filesystem::temp_directory_path();
    std::string pattern = (place / "cordon-audit-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    scratch_ = pattern;
    directory_ = scratch_ / "audit";
  }
  ~LogTest() override { std::filesystem::remove_all(scratch_); }

  static LogOptions small() {
    LogOptions options;
    options.store.reserve_bytes = 4096;
    return options;
  }
  Result<Log> try_open(LogOptions options = small()) const { return Log::open(directory_, clock_, std::move(options)); }
  Log open(LogOptions options = small()) const {
    auto log = try_open(std::move(options));
    if (!log) ADD_FAILURE() << log.error().sentence;
    return *std::move(log);
  }

  static AuditRecord record(std::string command, RecordKind kind = RecordKind::refused) {
    AuditRecord made;
    made.kind = kind;
    made.command = std::move(command);
    made.user = "agent-7";
    made.status = "blocked";
    made.risk = Risk::dangerous;
    made.request = "r-" + made.command.substr(0, 20);
    return made;
  }
  void run(Log& log, const std::string& command, const std::string& output = "done\n") const {
    const auto clearance = log.intend(record(command), Profile{});
    ASSERT_TRUE(clearance) << clearance.error().sentence;
    AuditRecord outcome = record(command);
    outcome.status = "executed";
    outcome.exit = 0;
    outcome.output = output;
    const auto seq = log.conclude(outcome);
    ASSERT_TRUE(seq) << seq.error().sentence;
  }
  void next_day(int days = 1) { clock_.advance(std::chrono::hours(24) * days); }

  VerifyReport verify() const { return verify_log({directory_.string(), std::nullopt, {}, "", ""}); }
  Soundness soundness() const { return verify().soundness(); }
  std::string first_damage() const {
    const auto report = verify();
    return report.damage.empty() ? "" : report.damage.front().text();
  }

  std::filesystem::path path(const std::string& name) const { return directory_ / name; }
  std::string today() const { return day_of(clock_.now()); }
  std::string read(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  void write(const std::string& name, std::string_view bytes) const {
    std::ofstream(path(name), std::ios::binary | std::ios::trunc)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  std::vector<std::string> lines(const std::string& day) const {
    std::vector<std::string> all;
    std::ifstream file(path(day + ".jsonl"), std::ios::binary);
    for (std::string line; std::getline(file, line);) all.push_back(line);
    return all;
  }
  Json line(const std::string& day, std::size_t index) const { return parse_json(lines(day).at(index)); }

  std::filesystem::path scratch_;
  std::filesystem::path directory_;
  ManualClock clock_{*from_rfc3339("2026-02-25T10:11:12.123456Z")};
};

}  // namespace cordon::audit
