#include "model/verdict.h"

#include <fmt/format.h>

namespace cordon {

std::string Origin::text() const {
  if (file.empty()) return "built-in";
  return line > 0 ? fmt::format("{}:{}", file, line) : file;
}

const char* name_of(Action action) {
  switch (action) {
    case Action::allow:
      return "allow";
    case Action::ask:
      return "ask";
    case Action::deny:
      return "deny";
  }
  return "deny";
}

const char* name_of(Where where) { return where == Where::host ? "host" : "sandbox"; }

}  // namespace cordon
