#include "app/account.h"

#include <pwd.h>
#include <unistd.h>

namespace cordon::app {

std::optional<Account> own_account() {
  const passwd* me = ::getpwuid(::geteuid());
  if (me == nullptr) return std::nullopt;
  return Account{.name = me->pw_name == nullptr ? "" : me->pw_name, .home = me->pw_dir == nullptr ? "" : me->pw_dir};
}

}  // namespace cordon::app
