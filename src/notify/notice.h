// What a person is told about. Redacted by whoever makes it; bounded and made visible here.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/json.h"

namespace cordon::notify {

struct Notice {
  std::string event;     // "approval_wanted", "blocked" …
  std::string command;   // what it is about
  std::string sentence;  // why
  std::string approval;  // queue id; empty: none
  std::string user;
  std::string workspace;
  Time at{};
};

/// Cuts say that they cut.
std::string bounded(const std::string& text, std::size_t most);

/// One line for a title: "Cordon: approval wanted".
std::string title_of(const Notice& notice);
/// A few lines for a person.
std::string text_of(const Notice& notice);
/// docs/notifications.md.
Json to_json(const Notice& notice);

}  // namespace cordon::notify
