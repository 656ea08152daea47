#include "sandbox/native/cgroup_gauges.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace cordon::sandbox::native {
namespace {

class CgroupGaugesTest : public ::testing::Test {
 protected:
  ~CgroupGaugesTest() override { std::filesystem::remove_all(directory_); }
  void write(const std::string& name, const std::string& text) { std::ofstream(directory_ + "/" + name) << text; }

  char template_[32] = "/tmp/cordon-gauges-XXXXXX";
  const std::string directory_ = ::mkdtemp(template_);
};

TEST_F(CgroupGaugesTest, Version2) {
  write("cpu.stat", "nice_usec 7\nusage_usec 1234\nuser_usec 1000\n");
  write("memory.peak", "4096\n");
  write("memory.events", "low 0\noom 5\noom_kill 2\noom_group_kill 1\n");
  write("pids.peak", "9\n");
  write("pids.current", "3\n");
  write("pids.events", "max 11\n");
  CgroupGauges gauges(directory_);
  for (int round = 0; round < 2; ++round) {
    const CgroupReading reading = gauges.read();
    EXPECT_EQ(reading.cpu_us, 1234U);
    EXPECT_EQ(reading.memory_peak, 4096U);
    EXPECT_EQ(reading.oom_kills, 2U);
    EXPECT_EQ(reading.processes_peak, 9U);
    EXPECT_EQ(reading.processes_now, 3U);
    EXPECT_EQ(reading.forks_refused, 11U);
    gauges.open();
  }
}

TEST_F(CgroupGaugesTest, Version1KnowsTheControllersThatAreThere) {
  write("memory.max_usage_in_bytes", "8192\n");
  write("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
  write("cpuacct.usage", "5000000\n");
  const CgroupReading reading =
      CgroupGauges(std::map<std::string, std::string>{{"memory", directory_}, {"cpuacct", directory_}}).read();
  EXPECT_EQ(reading.memory_peak, 8192U);
  EXPECT_EQ(reading.oom_kills, 3U);
  EXPECT_EQ(reading.cpu_us, 5000U);
  EXPECT_EQ(reading.processes_peak, std::nullopt);
}

TEST_F(CgroupGaugesTest, OpenedAheadItTellsWhatIsThereNow) {
  write("memory.peak", "1\n");
  CgroupGauges gauges(directory_);
  gauges.open();
  write("memory.peak", "22\n");
  EXPECT_EQ(gauges.read().memory_peak, 22U);
}

TEST_F(CgroupGaugesTest, WhatIsNotThereOrNoNumberIsNotKnown) {
  write("memory.peak", "max\n");
  write("memory.events", "oom_kills 4\noom_kill\n");
  CgroupGauges gauges(directory_);
  gauges.open();
  const CgroupReading reading = gauges.read();
  EXPECT_EQ(reading.memory_peak, std::nullopt);
  EXPECT_EQ(reading.cpu_us, std::nullopt);
  EXPECT_EQ(reading.oom_kills, 0U);
  EXPECT_EQ(CgroupGauges().read().cpu_us, std::nullopt);
}

}  // namespace
}  // namespace cordon::sandbox::native
