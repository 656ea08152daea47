#include "base/clock.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace cordon {

using namespace std::chrono;

Time SystemClock::now() const { return time_point_cast<microseconds>(system_clock::now()); }

namespace {

/// Takes exactly `count` digits off the front.
std::optional<int> take_digits(std::string_view& text, std::size_t count) {
  if (text.size() < count) return std::nullopt;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + count, value);
  if (error != std::errc() || end != text.data() + count || text[0] == '-') return std::nullopt;
  text.remove_prefix(count);
  return value;
}

bool take(std::string_view& text, char expected) {
  if (text.empty() || text[0] != expected) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<microseconds> take_fraction(std::string_view& text) {
  std::int64_t value = 0;
  std::size_t digits = 0;
  for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
    if (digits < 6) value = value * 10 + (text[digits] - '0');
  }
  if (digits == 0) return std::nullopt;
  for (std::size_t i = digits; i < 6; ++i) value *= 10;
  text.remove_prefix(digits);
  return microseconds(value);
}

std::optional<minutes> take_offset(std::string_view& text) {
  if (take(text, 'Z') || take(text, 'z')) return minutes(0);
  if (text.empty() || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  const int sign = text[0] == '-' ? -1 : 1;
  text.remove_prefix(1);
  const auto hour = take_digits(text, 2);
  if (!hour || !take(text, ':')) return std::nullopt;
  const auto minute = take_digits(text, 2);
  if (!minute || *hour > 23 || *minute > 59) return std::nullopt;
  return minutes(sign * (*hour * 60 + *minute));
}

std::optional<Time> take_date(std::string_view& text) {
  const auto y = take_digits(text, 4);
  if (!y || !take(text, '-')) return std::nullopt;
  const auto m = take_digits(text, 2);
  if (!m || !take(text, '-')) return std::nullopt;
  const auto d = take_digits(text, 2);
  if (!d || *y < 1970) return std::nullopt;
  const year_month_day date{year(*y), month(static_cast<unsigned>(*m)), day(static_cast<unsigned>(*d))};
  if (!date.ok()) return std::nullopt;
  return Time(sys_days(date).time_since_epoch());
}

struct Unit {
  std::string_view name;
  Duration length;
};
constexpr std::array units = {
    Unit{"ms", milliseconds(1)},  Unit{"milliseconds", milliseconds(1)},
    Unit{"s", seconds(1)},        Unit{"sec", seconds(1)},
    Unit{"second", seconds(1)},   Unit{"seconds", seconds(1)},
    Unit{"m", minutes(1)},        Unit{"min", minutes(1)},
    Unit{"minute", minutes(1)},   Unit{"minutes", minutes(1)},
    Unit{"h", hours(1)},          Unit{"hour", hours(1)},
    Unit{"hours", hours(1)},      Unit{"d", hours(24)},
    Unit{"day", hours(24)},       Unit{"days", hours(24)},
    Unit{"w", hours(24 * 7)},     Unit{"week", hours(24 * 7)},
    Unit{"weeks", hours(24 * 7)},
};

void skip_blanks(std::string_view& text) {
  while (!text.empty() && text[0] == ' ') text.remove_prefix(1);
}

}  // namespace

std::string to_rfc3339(Time time) {
  const auto midnight = floor<days>(time);
  const year_month_day date(midnight);
  const hh_mm_ss clock(time - midnight);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count(), clock.subseconds().count());
}

std::string day_of(Time time) { return to_rfc3339(time).substr(0, 10); }

std::optional<Time> from_rfc3339(std::string_view text) {
  const auto date = take_date(text);
  if (!date) return std::nullopt;
  if (text.empty()) return date;
  if (!take(text, 'T') && !take(text, 't') && !take(text, ' ')) return std::nullopt;
  const auto hour = take_digits(text, 2);
  if (!hour || !take(text, ':')) return std::nullopt;
  const auto minute = take_digits(text, 2);
  if (!minute || !take(text, ':')) return std::nullopt;
  const auto second = take_digits(text, 2);
  if (!second || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  microseconds fraction(0);
  if (take(text, '.')) {
    const auto taken = take_fraction(text);
    if (!taken) return std::nullopt;
    fraction = *taken;
  }
  const auto offset = take_offset(text);
  if (!offset || !text.empty()) return std::nullopt;
  return *date + hours(*hour) + minutes(*minute) + seconds(*second) + fraction - *offset;
}

std::optional<Duration> parse_duration(std::string_view text) {
  Duration total(0);
  bool any = false;
  for (skip_blanks(text); !text.empty(); skip_blanks(text)) {
    std::int64_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc() || count < 0) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    skip_blanks(text);
    std::size_t length = 0;
    while (length < text.size() && text[length] >= 'a' && text[length] <= 'z') ++length;
    const std::string_view name = text.substr(0, length);
    text.remove_prefix(length);
    const Unit* unit = nullptr;
    for (const Unit& candidate : units) {
      if (candidate.name == name) unit = &candidate;
    }
    // A century is longer than anything here may last, and keeps the arithmetic far from overflow.
    constexpr Duration most = hours(24 * 36525);
    if (unit == nullptr || count > most / unit->length) return std::nullopt;
    total += count * unit->length;
    if (total > most) return std::nullopt;
    any = true;
  }
  if (!any) return std::nullopt;
  return total;
}

std::string to_text(Duration duration) {
  static constexpr std::array shown = {Unit{"d", hours(24)}, Unit{"h", hours(1)}, Unit{"m", minutes(1)},
                                       Unit{"s", seconds(1)}, Unit{"ms", milliseconds(1)}};
  std::string text;
  for (const Unit& unit : shown) {
    const auto count = duration / unit.length;
    if (count == 0) continue;
    text += fmt::format("{}{}", count, unit.name);
    duration -= count * unit.length;
  }
  return text.empty() ? "0s" : text;
}

}  // namespace cordon
