#include "config/source_file.h"

#include "base/text.h"
#include "sys/file.h"

namespace cordon::config {
namespace {

/// "3:14" for a byte offset; columns in characters.
std::string place_of(std::string_view text, std::size_t offset) {
  int line = 1;
  std::size_t start = 0;
  for (std::size_t at = 0; at < offset; ++at) {
    const bool ends = text[at] == '\n' || (text[at] == '\r' && at + 1 < text.size() && text[at + 1] != '\n');
    if (!ends) continue;
    ++line;
    start = at + 1;
  }
  int column = 1;
  for (std::size_t at = start; at < offset; ++at) column += (static_cast<unsigned char>(text[at]) & 0xC0) != 0x80;
  return fmt::format("{}:{}", line, column);
}

}  // namespace

Result<void> check_source_text(std::string_view text, std::string_view name) {
  if (text.size() > largest_source) {
    return fail(Fault::invalid_input, "{}: {} bytes are more than the {} allowed", name, text.size(), largest_source);
  }
  for (std::size_t at = 0; at < text.size();) {
    const auto decoded = decode_utf8(text, at);
    if (!decoded) {
      return fail(Fault::invalid_input, "{}:{}: not valid UTF-8 (byte 0x{:02X})", name, place_of(text, at),
                  static_cast<unsigned char>(text[at]));
    }
    if (decoded->character == 0) return fail(Fault::invalid_input, "{}:{}: a NUL byte", name, place_of(text, at));
    at += decoded->length;
  }
  return {};
}

Result<std::optional<std::string>> read_source(const std::string& path, std::string_view name) {
  auto text = sys::read_file_if_exists(path, largest_source);
  if (!text) return fail(Fault::invalid_input, "{}: {}", name, text.error().sentence);
  if (!*text) return std::nullopt;
  CHECK_OK(check_source_text(**text, name));
  return *std::move(text);
}

}  // namespace cordon::config
