#include "audit/verify/verifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "audit/verify/line_view.h"
#include "audit/verify/merkle.h"
#include "audit/verify/signed_note.h"
#include "base/clock.h"
#include "base/json.h"

namespace cordon::audit {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t longest_line = 65536;
constexpr std::size_t most_damage = 100;
constexpr std::uintmax_t longest_note = 65536;

constexpr std::array<std::string_view, 8> leading_keys = {"timestamp", "command", "user", "status",
                                                          "output",    "risk",    "seq",  "kind"};
constexpr std::array<std::string_view, 18> kinds = {"intent",
                                                    "outcome",
                                                    "refused",
                                                    "approval.requested",
                                                    "approval.decided",
                                                    "approval.expired",
                                                    "approval.consumed",
                                                    "approval.drifted",
                                                    "policy.changed",
                                                    "config.changed",
                                                    "start",
                                                    "stop",
                                                    "network",
                                                    "recovery",
                                                    "retention",
                                                    "key.rotated",
                                                    "gap",
                                                    "day.open"};

bool is_day(std::string_view text) { return text.size() == 10 && from_rfc3339(text).has_value(); }
std::string day_after(const std::string& day) { return day_of(*from_rfc3339(day) + std::chrono::hours(24)); }

bool is_timestamp(std::string_view text) {
  return text.size() == 27 && text[10] == 'T' && text[19] == '.' && text[26] == 'Z' && from_rfc3339(text).has_value();
}

bool has_fraction(std::string_view time) {
  const auto digits = time.substr(20, 6);
  return time[26] == 'Z' && std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<std::string> read_small(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(path, error)) || fs::file_size(path, error) > longest_note) {
    return std::nullopt;
  }
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (file.bad()) return std::nullopt;
  return bytes;
}

/// A signed statement about the log: it must hold when the tree has that size.
struct Head {
  std::string name;
  std::uint64_t size;
  Digest root;
  bool ours;  // the log's own checkpoint, not one that was kept elsewhere
  bool checked = false;
};

/// What a line says that matters to the chain.
struct Link {
  std::string_view time;
  std::string_view kind;
  std::uint64_t seq = 0;
  Digest prev;
};

class Verification {
 public:
  explicit Verification(const VerifyRequest& request) : request_(request), root_(request.directory) {}

  VerifyReport run() {
    if (!find_files() || !read_key()) return report_;
    read_heads();
    read_seals();
    for (const std::string& day : days_) check_day(day);
    check_heads();
    check_missing_days();
    if (whole()) check_blobs();
    report_.unsigned_tail = report_.size > report_.signed_size ? report_.size - report_.signed_size : 0;
    return report_;
  }

 private:
  bool whole() const { return request_.from.empty() && request_.to.empty(); }
  bool wanted(const std::string& day) const {
    return (request_.from.empty() || day >= request_.from) && (request_.to.empty() || day <= request_.to);
  }
  void damage(std::string file, std::uint64_t line, std::uint64_t byte, std::string what) {
    if (report_.damage.size() < most_damage) report_.damage.push_back({std::move(file), line, byte, std::move(what)});
  }

  bool find_files() {
    std::error_code error;
    std::set<std::string> days;
    for (fs::directory_iterator it(root_, error), end; !error && it != end; it.increment(error)) {
      const std::string name = it->path().filename().string();
      const auto dot = name.find('.');
      if (dot == std::string::npos || !is_day(name.substr(0, dot))) continue;
      const std::string ending = name.substr(dot);
      if (ending == ".jsonl") files_.insert(name.substr(0, dot));
      if (ending == ".jsonl" || ending == ".seal") days.insert(name.substr(0, dot));
    }
    if (error) damage(root_.string(), 0, 0, "cannot be read: " + error.message());
    if (error) return false;
    days_.assign(days.begin(), days.end());
    for (std::size_t i = 1; i < days_.size(); ++i) {
      if (days_[i] != day_after(days_[i - 1])) {
        damage(day_after(days_[i - 1]) + ".seal", 0, 0, "is missing, and so is its day file");
      }
    }
    report_.days = days_.size();
    return true;
  }

  bool read_key() {
    const auto own = read_small(root_ / "key.pub");
    const bool whole_line = own && own->ends_with('\n');
    const auto parsed = whole_line ? VerifierKey::parse(*own) : fail(Fault::corrupt, "is missing or cut off");
    if (!parsed) damage("key.pub", 0, 0, parsed.error().sentence);
    if (!request_.key) {
      if (parsed) key_ = *parsed;
      return key_.has_value();
    }
    const auto given = VerifierKey::parse(*request_.key);
    if (!given) {
      damage("(the given key)", 0, 0, given.error().sentence);
      return false;
    }
    if (parsed && !(*parsed == *given)) damage("key.pub", 0, 0, "is not the given key");
    key_ = *given;
    return true;
  }

  void read_heads() {
    const auto note = read_small(root_ / "checkpoint");
    const auto head = note ? open_note(*note, *key_) : fail(Fault::corrupt, "is missing");
    if (head) {
      heads_.push_back({"checkpoint", head->size, head->root, true});
      report_.signed_size = head->size;
      if (!head->extensions.empty()) damage("checkpoint", 0, 0, "has lines that do not belong there");
    } else {
      damage("checkpoint", 0, 0, head.error().sentence);
    }
    for (const std::string& text : request_.against) {
      const auto other = open_note(text, *key_);
      const std::string name = fmt::format("(given checkpoint {})", heads_.size());
      if (other) {
        heads_.push_back({name, other->size, other->root, false});
      } else {
        damage(name, 0, 0, other.error().sentence);
      }
    }
    compare_heads(0, sha256(""));
  }

  void compare_heads(std::uint64_t size, const Digest& root) {
    for (Head& head : heads_) {
      if (head.size != size || head.checked) continue;
      head.checked = true;
      if (head.root != root)
        damage(head.name, 0, 0, fmt::format("signs another log: its first {} records differ", size));
    }
  }

  void read_seals() {
    std::optional<SealedDay> before;
    bool first = true;
    for (std::size_t i = 0; i < days_.size(); ++i) {
      const std::string& day = days_[i];
      const auto note = read_small(root_ / (day + ".seal"));
      if (!note) {
        unsealed_day(i);
        before.reset();
        first = false;
        continue;
      }
      const auto seal = open_seal(*note, *key_, day);
      if (!seal) {
        damage(day + ".seal", 0, 0, seal.error().sentence);
        before.reset();
        first = false;
        continue;
      }
      const bool begins = first && seal->before_size == 0 && seal->before_root == sha256("");
      const bool follows = before && seal->before_size == before->size && seal->before_root == before->root;
      if (first && !begins) damage(day + ".seal", 0, 0, "is the oldest seal, and not that of the log's first day");
      if (before && !follows) damage(day + ".seal", 0, 0, "does not follow the seal of the day before");
      if (seal->size < seal->before_size) damage(day + ".seal", 0, 0, "ends before it begins");
      if (i + 1 == days_.size()) damage(day_after(day) + ".jsonl", 0, 0, "is missing: the day before is sealed");
      seals_[day] = *seal;
      ++report_.sealed_days;
      report_.signed_size = std::max(report_.signed_size, seal->size);
      compare_heads(seal->size, seal->root);
      before = *seal;
      first = false;
    }
  }

  void unsealed_day(std::size_t i) {
    const std::string& day = days_[i];
    if (i + 1 == days_.size()) return;  // today
    if (i + 2 < days_.size()) {
      damage(day + ".seal", 0, 0, "is missing");
      return;
    }
    just_ended_ = day;
    report_.open_end = true;
    report_.remarks.push_back(day + " has ended and is not sealed yet");
  }

  const SealedDay* seal_of(const std::string& day) const {
    const auto found = seals_.find(day);
    return found == seals_.end() ? nullptr : &found->second;
  }

  void check_day(const std::string& day) {
    const SealedDay* seal = seal_of(day);
    if (!files_.contains(day) || !wanted(day)) {
      state_.reset();
      if (!files_.contains(day)) missing_.push_back(day);
      if (seal != nullptr) report_.size = std::max(report_.size, seal->size);
      return;
    }
    const std::size_t damage_before = report_.damage.size();
    read_lines(day);
    if (report_.damage.size() == damage_before) finish_day(day, seal);
    if (report_.damage.size() != damage_before) state_.reset();
    if (state_) report_.size = std::max(report_.size, state_->size());
  }

  void finish_day(const std::string& day, const SealedDay* seal) {
    const std::string file = day + ".jsonl";
    if (line_ == 0) return damage(file, 0, 0, "is empty");
    if (seal != nullptr && (seal->size != state_->size() || seal->root != state_->root())) {
      return damage(file, line_, line_begin_,
                    fmt::format("the day ends with record {}, and is not what its seal says ({} records)",
                                state_->size(), seal->size));
    }
    if (day == just_ended_ && report_.signed_size > state_->size()) {
      damage(day + ".seal", 0, 0, "is missing, though later records are signed");
    }
  }

  void read_lines(const std::string& day) {
    line_ = 0;
    line_begin_ = 0;
    previous_begin_ = 0;
    std::ifstream file(root_ / (day + ".jsonl"), std::ios::binary);
    std::string buffer;
    std::vector<char> chunk(1 << 20);
    while (file) {
      file.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
      buffer.append(chunk.data(), static_cast<std::size_t>(file.gcount()));
      std::size_t done = 0;
      for (auto end = buffer.find('\n'); end != std::string::npos; end = buffer.find('\n', done)) {
        if (!check_line(day, std::string_view(buffer).substr(done, end - done))) return;
        previous_begin_ = line_begin_;
        line_begin_ += end + 1 - done;
        done = end + 1;
      }
      buffer.erase(0, done);
      if (buffer.size() > longest_line) return damage(day + ".jsonl", line_ + 1, line_begin_, "the line is too long");
    }
    const bool failed = file.bad() || !file.eof();
    if (failed) damage(day + ".jsonl", line_ + 1, line_begin_, "cannot be read");
    if (!buffer.empty() && !failed) torn_end(day, buffer.size());
    line_begin_ = previous_begin_;
  }

  void torn_end(const std::string& day, std::size_t bytes) {
    if (day != days_.back()) return damage(day + ".jsonl", line_ + 1, line_begin_, "the last line is cut off");
    report_.open_end = true;
    report_.remarks.push_back(fmt::format(
        "{}.jsonl, line {}, byte {}: the last line is cut off after {} bytes (a writer died); the next writer "
        "moves it to torn/",
        day, line_ + 1, line_begin_, bytes));
  }

  bool check_line(const std::string& day, std::string_view line) {
    ++line_;
    const std::size_t damage_before = report_.damage.size();
    const auto link = read_link(line);
    if (!link) {
      line_damage(day, link.error().sentence);
      return false;
    }
    if (line_ == 1) {
      open_day(day, *link);
    } else {
      follow(day, *link);
    }
    if (report_.damage.size() != damage_before) return false;
    if (link->kind == "retention") read_notice();
    leaf_ = hash_leaf(line);
    time_ = link->time;
    state_->add(leaf_);
    ++report_.records;
    if (wanted_sizes_.contains(state_->size())) compare_heads(state_->size(), state_->root());
    return true;
  }

  Result<Link> read_link(std::string_view line) {
    if (line.size() > longest_line) return fail(Fault::corrupt, "the line is too long");
    if (!read_members(line, members_)) return fail(Fault::corrupt, "the line is no JSON object");
    if (members_.size() < leading_keys.size() + 1) return fail(Fault::corrupt, "the line lacks members");
    for (std::size_t i = 0; i < leading_keys.size(); ++i) {
      if (members_[i].key != leading_keys[i])
        return fail(Fault::corrupt, "member {} is not {}", i + 1, leading_keys[i]);
    }
    const auto time = between_quotes(members_[0].value);
    const auto seq = number_of(members_[6].value);
    const auto kind = between_quotes(members_[7].value);
    const auto prev = between_quotes(members_.back().value);
    const auto digest = prev && members_.back().key == "prev" ? Digest::from_hex(*prev) : std::nullopt;
    // Lines of one second share it; the rest of the shape is checked each time.
    const bool same_second =
        time && time->size() == 27 && time_.size() == 27 && time->substr(0, 20) == time_.substr(0, 20);
    if (!time || (same_second ? !has_fraction(*time) : !is_timestamp(*time)))
      return fail(Fault::corrupt, "the timestamp is none");
    if (!seq) return fail(Fault::corrupt, "seq is no number");
    if (!kind || std::find(kinds.begin(), kinds.end(), *kind) == kinds.end()) {
      return fail(Fault::corrupt, "the kind is not known");
    }
    if (!digest) return fail(Fault::corrupt, "the last member is not a link to the line before");
    return Link{*time, *kind, *seq, *digest};
  }

  // Millions of lines come by here, so nothing is built before it is needed.
  void follow(const std::string& day, const Link& link) {
    if (link.kind == "day.open") return line_damage(day, "a second day.open in one day");
    if (link.seq != state_->size()) {
      return line_damage(day, fmt::format("its number is {}; {} was next", link.seq, state_->size()));
    }
    if (link.prev != leaf_) {
      return damage(day + ".jsonl", line_ - 1, previous_begin_,
                    fmt::format("the line was changed, or the link to it in line {} was", line_));
    }
    if (link.time < std::string_view(time_)) return line_damage(day, "its time is before the last line's");
    if (link.time.substr(0, 10) != day) line_damage(day, "its time is of another day");
  }
  void line_damage(const std::string& day, std::string what) {
    damage(day + ".jsonl", line_, line_begin_, std::move(what));
  }

  /// The tree that a day.open line says there was before it.
  std::optional<Accumulator> tree_of_day_open() const {
    const Json detail = parse_json(value_of(members_, "detail"));
    if (!detail.is_object() || !detail.value("size", Json()).is_number_unsigned()) return std::nullopt;
    std::vector<Digest> peaks;
    for (const Json& hash : detail.value("frontier", Json::array())) {
      const auto peak = hash.is_string() ? Digest::from_hex(hash.get<std::string>()) : std::nullopt;
      if (!peak) return std::nullopt;
      peaks.push_back(*peak);
    }
    const auto tree = Accumulator::resume(detail["size"].get<std::uint64_t>(), peaks);
    if (!tree || detail.value("root", Json()) != tree->root().hex()) return std::nullopt;
    return tree;
  }

  void open_day(const std::string& day, const Link& link) {
    const std::string file = day + ".jsonl";
    if (link.kind != "day.open") return damage(file, 1, 0, "the first line is no day.open");
    const auto tree = tree_of_day_open();
    if (!tree) return damage(file, 1, 0, "its frontier does not give its root");
    if (link.seq != tree->size()) return damage(file, 1, 0, "its number is not the size of its tree");
    if (link.time.substr(0, 10) != day) return damage(file, 1, 0, "its time is of another day");
    const std::string before = day_of(*from_rfc3339(day) - std::chrono::hours(24));
    const SealedDay* seal = seal_of(before);
    if (seal != nullptr && (seal->size != tree->size() || seal->root != tree->root())) {
      return damage(file, 1, 0, "it does not continue the seal of the day before");
    }
    if (state_ && (state_->size() != tree->size() || state_->root() != tree->root() || link.prev != leaf_)) {
      return damage(file, 1, 0, "it does not continue the day before");
    }
    if (day == days_.front() && (tree->size() != 0 || link.prev != Digest())) {
      return damage(file, 1, 0, "this is the oldest day, and not the log's first");
    }
    if (day != days_.front() && seal == nullptr && !state_) {
      report_.open_end = true;
      report_.remarks.push_back(file + ": nothing before it could be checked against it");
    }
    state_ = tree;
    compare_heads(tree->size(), tree->root());
    wanted_sizes_.clear();
    for (const Head& head : heads_) wanted_sizes_.insert(head.size);
  }

  void read_notice() {
    const Json detail = parse_json(value_of(members_, "detail"));
    const Json through = detail.is_object() ? detail.value("through", Json()) : Json();
    // A notice that nobody signed excuses nothing.
    if (!through.is_string() || state_->size() >= report_.signed_size) return;
    deleted_through_ = std::max(deleted_through_, through.get<std::string>());
    ++report_.notices;
  }

  void check_heads() {
    for (const Head& head : heads_) {
      if (head.checked) continue;
      if (head.size > report_.size && (whole() || request_.to.empty())) {
        damage(head.name, 0, 0, fmt::format("signs {} records; the log has {}", head.size, report_.size));
      } else if (head.ours && whole() && report_.damage.empty()) {
        damage(head.name, 0, 0, "signs a state that the log does not hold any more");
      } else {
        report_.open_end = report_.open_end || !head.ours;
        report_.remarks.push_back(head.name + " could not be compared: the records up to it were not read");
      }
    }
  }

  void check_missing_days() {
    report_.deleted_days = missing_.size();
    if (!whole()) return;
    for (const std::string& day : missing_) {
      if (day > deleted_through_) damage(day + ".jsonl", 0, 0, "is missing, and no retention notice says why");
    }
  }

  void check_blobs() {
    std::error_code error;
    for (fs::recursive_directory_iterator it(root_ / "output", error), end; !error && it != end; it.increment(error)) {
      const auto commit = Digest::from_hex(it->path().filename().string());
      if (!commit || !fs::is_regular_file(fs::symlink_status(it->path(), error))) continue;
      ++report_.blobs;
      Sha256 hash;
      std::ifstream file(it->path(), std::ios::binary);
      std::vector<char> chunk(1 << 16);
      while (file) {
        file.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
        hash.add({chunk.data(), static_cast<std::size_t>(file.gcount())});
      }
      if (hash.finish() != *commit) {
        damage(fs::relative(it->path(), root_, error).string(), 0, 0, "is not what was committed to");
      }
    }
  }

  const VerifyRequest& request_;
  fs::path root_;
  VerifyReport report_;
  std::optional<VerifierKey> key_;
  std::vector<std::string> days_;  // with a file, a seal or both
  std::set<std::string> files_;
  std::map<std::string, SealedDay> seals_;
  std::vector<Head> heads_;
  std::set<std::uint64_t> wanted_sizes_;
  std::vector<std::string> missing_;
  std::string deleted_through_;
  std::string just_ended_;

  std::optional<Accumulator> state_;  // nothing: the day before was not read or is damaged
  Digest leaf_;
  std::string time_;
  std::uint64_t line_ = 0;
  std::uint64_t line_begin_ = 0;
  std::uint64_t previous_begin_ = 0;
  std::vector<Member> members_;
};

}  // namespace

std::string Damage::text() const {
  if (line == 0) return fmt::format("{}: {}", file, what);
  return fmt::format("{}, line {}, byte {}: {}", file, line, byte, what);
}

Soundness VerifyReport::soundness() const {
  if (!damage.empty()) return Soundness::damaged;
  return unsigned_tail > 0 || open_end ? Soundness::unsigned_tail : Soundness::good;
}

std::string VerifyReport::summary() const {
  std::string text = fmt::format("{}/{} days sealed · {} records", sealed_days, days, records);
  if (deleted_days > 0) text += fmt::format(" · {} days deleted, {} retention notices", deleted_days, notices);
  if (blobs > 0) text += fmt::format(" · {} blobs", blobs);
  text += fmt::format(" · {} of {} signed", signed_size, size);
  if (unsigned_tail > 0) text += fmt::format(" · tail of {} records unsigned", unsigned_tail);
  if (!damage.empty()) text += fmt::format(" · DAMAGED in {} places", damage.size());
  return text;
}

VerifyReport verify_log(const VerifyRequest& request) { return Verification(request).run(); }

}  // namespace cordon::audit
