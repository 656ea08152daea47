// Who runs this process, as the system's list of users has it.
#pragma once

#include <optional>
#include <string>

namespace cordon::app {

struct Account {
  std::string name;
  std::string home;
};

/// Nothing where the list does not have them. A static program cannot ask it (exec_main.cc).
std::optional<Account> own_account();

}  // namespace cordon::app
