#include "notify/notice.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace cordon::notify {

namespace {

constexpr std::size_t longest_command = 2000;
constexpr std::size_t longest_sentence = 1000;

}  // namespace

std::string bounded(const std::string& text, std::size_t most) {
  const std::string shown = visible(text, Lines::escape);
  if (shown.size() <= most) return shown;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(shown[end]) & 0xc0) == 0x80) --end;
  return fmt::format("{}… (+{} bytes)", shown.substr(0, end), shown.size() - end);
}

std::string title_of(const Notice& notice) {
  std::string event = notice.event;
  std::replace(event.begin(), event.end(), '_', ' ');
  return "Cordon: " + event;
}

std::string text_of(const Notice& notice) {
  std::string text = bounded(notice.command, 300);
  if (!notice.sentence.empty()) text += "\n" + bounded(notice.sentence, 300);
  if (!notice.approval.empty()) text += fmt::format("\nsandbox-queue show {}", notice.approval);
  return text;
}

Json to_json(const Notice& notice) {
  Json json = {{"event", notice.event},
               {"time", to_rfc3339(notice.at)},
               {"command", bounded(notice.command, longest_command)},
               {"message", bounded(notice.sentence, longest_sentence)},
               {"queue_id", notice.approval.empty() ? Json() : Json(notice.approval)},
               {"user", bounded(notice.user, 200)},
               {"workspace", bounded(notice.workspace, 1000)}};
  if (!notice.approval.empty()) json["approval_instructions"] = "Run: sandbox-queue approve " + notice.approval;
  return json;
}

}  // namespace cordon::notify
