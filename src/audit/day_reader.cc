#include "audit/day_reader.h"

#include <algorithm>

#include "audit/line.h"
#include "audit/store.h"
#include "audit/tail.h"

namespace cordon::audit {

namespace {
constexpr std::size_t chunk_size = 1 << 20;
}

Result<std::optional<DayReader>> DayReader::open(const sys::Directory& directory, const std::string& day) {
  auto file = TRY(directory.open_read(day_file(day)));
  if (!file) return std::nullopt;
  std::uint64_t size = TRY(sys::size_of(*file, day));
  // Whole lines only.
  while (size > 0) {
    const std::uint64_t begin = size > line_limit + 1 ? size - line_limit - 1 : 0;
    const std::string end = TRY(sys::pread_all(*file, begin, static_cast<std::size_t>(size - begin), day));
    const auto newline = end.rfind('\n');
    size = newline == std::string::npos ? begin : begin + newline + 1;
    if (newline != std::string::npos) break;
  }
  return DayReader(day, *std::move(file), size);
}

Result<void> DayReader::forwards(std::uint64_t offset, const LineVisitor& visit) const {
  while (offset < size_) {
    const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(chunk_size, size_ - offset));
    const std::string chunk = TRY(sys::pread_all(file_, offset, length, day_));
    std::size_t done = 0;
    for (auto end = chunk.find('\n'); end != std::string::npos; end = chunk.find('\n', done)) {
      if (visit(std::string_view(chunk).substr(done, end - done), offset + done) == Continue::no) return {};
      done = end + 1;
    }
    if (done == 0) return fail(Fault::corrupt, "{}: the line at byte {} is too long", day_file(day_), offset);
    offset += done;
  }
  return {};
}

Result<void> DayReader::backwards_from(std::uint64_t end, const LineVisitor& visit) const {
  // Grows: who wants the last few lines reads little, who wants many does not read them in crumbs.
  std::size_t want = 16 << 10;
  while (end > 0) {
    const std::uint64_t begin = end > want ? end - want : 0;
    const std::string chunk = TRY(sys::pread_all(file_, begin, static_cast<std::size_t>(end - begin), day_));
    std::string_view rest = chunk;
    while (!rest.empty()) {
      rest.remove_suffix(1);
      const auto before = rest.rfind('\n');
      if (before == std::string_view::npos && begin > 0) break;
      const std::size_t start = before == std::string_view::npos ? 0 : before + 1;
      if (visit(rest.substr(start), begin + start) == Continue::no) return {};
      rest = rest.substr(0, start);
      end = begin + start;
    }
    if (want >= chunk_size && end == begin + chunk.size()) {
      return fail(Fault::corrupt, "{}: the line before byte {} is too long", day_file(day_), end);
    }
    want = std::min(want * 4, chunk_size);
  }
  return {};
}

Result<std::string> DayReader::line_at(std::uint64_t offset) const {
  std::string bytes = TRY(sys::pread_all(file_, offset, line_limit + 1, day_));
  bytes.resize(std::min(bytes.size(), bytes.find('\n')));
  return bytes;
}

Result<std::uint64_t> DayReader::line_start(std::uint64_t offset) const {
  if (offset == 0) return 0;
  const std::string bytes = TRY(sys::pread_all(file_, offset - 1, line_limit + 2, day_));
  const auto newline = bytes.find('\n');
  return newline == std::string::npos ? size_ : std::min(size_, offset + newline);
}

Result<std::uint64_t> DayReader::bisect(const std::function<Result<bool>(std::string_view)>& is_before) const {
  std::uint64_t low = 0;
  std::uint64_t high = size_;
  while (low < high) {
    const std::uint64_t middle = TRY(line_start(low + (high - low) / 2));
    // No line begins in the upper half: what is left is read one by one from below.
    const std::uint64_t probe = middle < high ? middle : low;
    const std::string line = TRY(line_at(probe));
    if (TRY(is_before(line))) {
      low = probe + line.size() + 1;
    } else if (probe == low) {
      return low;
    } else {
      high = probe;
    }
  }
  return low;
}

Result<std::uint64_t> DayReader::offset_of_seq(std::uint64_t seq) const {
  return bisect([&](std::string_view line) -> Result<bool> {
    const auto ends = line_ends(line);
    if (!ends) return fail(Fault::corrupt, "{} holds a line that is no record", day_file(day_));
    return ends->seq < seq;
  });
}

Result<std::uint64_t> DayReader::offset_of_time(Time time) const {
  return bisect([&](std::string_view line) -> Result<bool> {
    const auto ends = line_ends(line);
    if (!ends) return fail(Fault::corrupt, "{} holds a line that is no record", day_file(day_));
    return ends->time < time;
  });
}

Result<std::uint64_t> DayReader::first_seq() const {
  const auto ends = line_ends(TRY(line_at(0)));
  if (!ends) return fail(Fault::corrupt, "{}, line 1 is no record", day_file(day_));
  return ends->seq;
}

}  // namespace cordon::audit
