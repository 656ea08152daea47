#include "sandbox/native/syscall_table.h"

#include <gtest/gtest.h>
#include <seccomp.h>

#include <cstring>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>

namespace cordon::sandbox::native {
namespace {

std::map<std::string, int> defined_in(const std::string& header) {
  std::map<std::string, int> numbers;
  std::ifstream file(header);
  const std::regex pattern(R"(#define __NR(?:3264)?_(\w+)\s+(\d+))");
  std::smatch match;
  for (std::string line; std::getline(file, line);) {
    if (std::regex_match(line, match, pattern)) numbers[match[1]] = std::stoi(match[2]);
  }
  return numbers;
}

std::map<std::string, int> column(Architecture architecture) {
  std::map<std::string, int> numbers;
  for (const SyscallRow& row : syscall_table()) {
    if (row.number(architecture) >= 0) numbers[row.name] = row.number(architecture);
  }
  return numbers;
}

TEST(SyscallTable, HasEveryCallOfTheX86Header) {
  const auto header = defined_in("/usr/include/x86_64-linux-gnu/asm/unistd_64.h");
  if (header.empty()) GTEST_SKIP() << "no asm/unistd_64.h; package linux-libc-dev on x86_64 has it";
  const auto ours = column(Architecture::x86_64);
  for (const auto& [name, number] : header) {
    ASSERT_TRUE(ours.contains(name)) << name;
    EXPECT_EQ(ours.at(name), number) << name;
  }
}

TEST(SyscallTable, HasEveryCallOfTheGenericHeader) {
  auto header = defined_in("/usr/include/asm-generic/unistd.h");
  if (header.empty()) GTEST_SKIP() << "no asm-generic/unistd.h; package linux-libc-dev has it";
  // Names that aarch64 does not use: the end mark, other spellings, and what only 32-bit machines have.
  header.erase("syscalls");
  header.erase("arch_specific_syscall");
  header.erase("sync_file_range2");
  header["newfstatat"] = header.at("fstatat");
  header.erase("fstatat");
  std::erase_if(header, [](const auto& entry) { return entry.second >= 403 && entry.second <= 423; });
  const auto ours = column(Architecture::aarch64);
  for (const auto& [name, number] : header) {
    ASSERT_TRUE(ours.contains(name)) << name;
    EXPECT_EQ(ours.at(name), number) << name;
  }
}

TEST(SyscallTable, AgreesWithLibseccompOnBothArchitectures) {
  int compared = 0;
  for (const SyscallRow& row : syscall_table()) {
    for (const auto& [architecture, token] :
         {std::pair{Architecture::x86_64, SCMP_ARCH_X86_64}, std::pair{Architecture::aarch64, SCMP_ARCH_AARCH64}}) {
      const int theirs = seccomp_syscall_resolve_name_arch(token, row.name);
      if (theirs == __NR_SCMP_ERROR) continue;  // newer than the library
      ++compared;
      EXPECT_EQ(row.number(architecture), theirs < 0 ? -1 : theirs) << row.name;
    }
  }
  EXPECT_GT(compared, 700);
}

TEST(SyscallTable, NamesEachNumberOnceAndGivesAReason) {
  for (const Architecture architecture : {Architecture::x86_64, Architecture::aarch64}) {
    std::set<int> numbers;
    for (const SyscallRow& row : syscall_table()) {
      const int number = row.number(architecture);
      EXPECT_TRUE(number < 0 || numbers.insert(number).second) << row.name;
      EXPECT_GT(std::strlen(row.why), 10u) << row.name;
    }
  }
}

TEST(SyscallTable, FindsARowByNumber) {
  ASSERT_NE(find_syscall(Architecture::x86_64, 59), nullptr);
  EXPECT_STREQ(find_syscall(Architecture::x86_64, 59)->name, "execve");
  EXPECT_STREQ(find_syscall(Architecture::aarch64, 221)->name, "execve");
  EXPECT_EQ(find_syscall(Architecture::x86_64, 337), nullptr);
  EXPECT_EQ(find_syscall(Architecture::x86_64, 0xffffffff), nullptr);
}

}  // namespace
}  // namespace cordon::sandbox::native
