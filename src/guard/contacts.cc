#include "guard/contacts.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/text.h"
#include "plan/profile.h"

namespace cordon::guard {

namespace {

// A program may ask for as many names as it likes; the log does not grow by each of them for ever.
constexpr std::size_t most_refused = 1000;

}  // namespace

Contacts::Contacts(audit::Log* log, AuditRecord line, config::Sources sources, std::vector<std::string> granted)
    : log_(log), line_(std::move(line)), sources_(std::move(sources)), granted_(std::move(granted)) {
  line_.kind = RecordKind::network;
  line_.output.clear();
}

void Contacts::record(const Contact& contact) {
  if (contact.stage == Contact::Stage::refused || contact.stage == Contact::Stage::failed) {
    const std::string key = fmt::format("{} {} {} {}", contact.transport, contact.host, contact.port, contact.reason);
    if (refused_.size() >= most_refused || !refused_.insert(key).second) return;
  }
  if (log_ == nullptr) return;
  AuditRecord line = line_;
  line.status = name_of(contact.stage);
  line.rule = contact.rule;
  line.detail = to_json(contact);
  if (const auto written = log_->append(line); !written) trouble_ = written.error().sentence;
}

/// Says whether a file that counts is another one now.
std::string Contacts::stamp() const {
  std::vector<std::string> paths = {sources_.user_file, config::sandbox_md_path(sources_),
                                    config::workspace_settings_path(sources_), sources_.state_dir + "/trust.json",
                                    sources_.state_dir + "/presets.json"};
  paths.insert(paths.end(), sources_.extra_files.begin(), sources_.extra_files.end());
  std::string made;
  for (const std::string& path : paths) {
    struct stat status {};
    const bool there = ::stat(path.c_str(), &status) == 0;
    made += there ? fmt::format("{} {} {}.{} {}.{};", status.st_ino, status.st_size, status.st_mtim.tv_sec,
                                status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec)
                  : "-;";
  }
  return made;
}

std::vector<std::string> Contacts::rules() {
  const std::string now = stamp();
  if (now == read_at_) return rules_;
  const auto loaded = config::load(sources_);
  rules_ = loaded ? plan::network_rules(loaded->settings, line_.agent) : std::vector<std::string>();
  if (loaded) rules_.insert(rules_.end(), granted_.begin(), granted_.end());
  read_at_ = now;
  return rules_;
}

std::vector<std::string> rules_to_allow(const std::vector<Contact>& contacts) {
  std::vector<std::string> rules;
  for (const Contact& contact : contacts) {
    if (contact.stage != Contact::Stage::refused || contact.would_allow.empty()) continue;
    if (std::ranges::find(rules, contact.would_allow) == rules.end()) rules.push_back(contact.would_allow);
  }
  return rules;
}

Json to_json(const Contact& contact) {
  Json json = {{"host", contact.host},
               {"port", contact.port},
               {"transport", contact.transport},
               {"what", name_of(contact.stage)}};
  if (!contact.address.empty()) json["address"] = contact.address;
  if (!contact.rule.empty()) json["rule"] = contact.rule;
  if (!contact.reason.empty()) json["reason"] = contact.reason;
  if (!contact.would_allow.empty()) json["would_allow"] = contact.would_allow;
  if (contact.stage == Contact::Stage::closed) {
    json["sent_bytes"] = contact.sent;
    json["received_bytes"] = contact.received;
  }
  if (contact.count > 1) json["count"] = contact.count;
  return json;
}

}  // namespace cordon::guard
