#include "code/reply.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace cordon::code {

namespace {

constexpr std::size_t most_items = 1024;
constexpr std::size_t longest_name = 1024;

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// How much of the end of `text` is a beginning of `token`.
std::size_t overlap(std::string_view text, std::string_view token) {
  for (std::size_t length = std::min(text.size(), token.size() - 1); length > 0; --length) {
    if (token.starts_with(text.substr(text.size() - length))) return length;
  }
  return 0;
}

}  // namespace

bool Reply::ended_by(std::string_view reason) const { return std::ranges::find(ended, reason) != ended.end(); }

void ReplyReader::feed(std::string_view bytes, const std::function<void(std::string_view)>& raw) {
  if (bytes.empty()) return;
  if (in_records_) return feed_records(bytes);
  if (ready_byte_due_) {
    ready_byte_due_ = false;
    bytes.remove_prefix(1);
  }
  std::string joined;
  if (!held_.empty()) {
    joined = std::move(held_);
    held_.clear();
    joined.append(bytes);
    bytes = joined;
  }
  const std::size_t found = bytes.find(token_);
  if (found != std::string_view::npos) {
    if (found > 0) raw(bytes.substr(0, found));
    in_records_ = true;
    return feed_records(bytes.substr(found + token_.size()));
  }
  const std::size_t keep = overlap(bytes, token_);
  if (bytes.size() > keep) raw(bytes.substr(0, bytes.size() - keep));
  held_ = bytes.substr(bytes.size() - keep);
}

void ReplyReader::finish(const std::function<void(std::string_view)>& raw) {
  if (!in_records_ && !held_.empty()) raw(held_);
  held_.clear();
}

void ReplyReader::feed_records(std::string_view bytes) {
  if (broken_ || reply_.done) return;
  held_.append(bytes);
  std::size_t used = 0;
  while (held_.size() - used >= wire::header_length) {
    const std::size_t length = wire::length_at(held_.data() + used + 1);
    if (length > limit_) {
      broken_ = true;
      break;
    }
    if (held_.size() - used < wire::header_length + length) break;
    limit_ -= length;
    take(static_cast<wire::Tag>(held_[used]), std::string_view(held_).substr(used + wire::header_length, length));
    used += wire::header_length + length;
    if (reply_.done) break;
  }
  if (broken_ || reply_.done) {
    held_.clear();
    held_.shrink_to_fit();
  } else {
    held_.erase(0, used);
  }
}

void ReplyReader::take(wire::Tag tag, std::string_view value) {
  using wire::Tag;
  const std::size_t end = value.find('\0');
  switch (tag) {
    case Tag::value:
      reply_.value = value;
      reply_.has_value = true;
      break;
    case Tag::error_name:
      reply_.error_name = value;
      reply_.has_error = true;
      break;
    case Tag::error_message:
      reply_.error_message = value;
      reply_.has_error = true;
      break;
    case Tag::error_line:
      reply_.error_line = number_in<std::uint32_t>(value);
      break;
    case Tag::ended:
      if (reply_.ended.size() < 8) reply_.ended.emplace_back(value.substr(0, 32));
      break;
    case Tag::status:
      reply_.status = number_in<int>(value);
      break;
    case Tag::snapshot:
      reply_.snapshot = value;
      break;
    case Tag::artifact:
      if (end == std::string_view::npos || end > longest_name || reply_.artifacts.size() >= most_items) break;
      reply_.artifacts.push_back({visible(value.substr(0, end), Lines::escape),
                                  mime_of(value.substr(0, end), value.substr(end + 1)),
                                  std::string(value.substr(end + 1))});
      break;
    case Tag::left_out:
      if (end == std::string_view::npos || end > longest_name || reply_.left_out.size() >= most_items) break;
      reply_.left_out.push_back(
          {visible(value.substr(0, end), Lines::escape), visible(value.substr(end + 1, 128), Lines::escape)});
      break;
    case Tag::done:
      reply_.done = true;
      break;
    default:
      break;
  }
}

}  // namespace cordon::code
