#include "sandbox/image/tar.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

namespace cordon::sandbox::image {

namespace {

constexpr std::size_t block = 512;
constexpr std::size_t name_room = 100;

// Offsets in a POSIX header.
constexpr std::size_t mode_at = 100;
constexpr std::size_t owner_at = 108;
constexpr std::size_t group_at = 116;
constexpr std::size_t size_at = 124;
constexpr std::size_t time_at = 136;
constexpr std::size_t checksum_at = 148;
constexpr std::size_t type_at = 156;
constexpr std::size_t link_at = 157;
constexpr std::size_t magic_at = 257;

using Block = std::array<char, block>;

void put(Block& header, std::size_t at, std::string_view text) {
  std::memcpy(header.data() + at, text.data(), text.size());
}

void put_octal(Block& header, std::size_t at, std::size_t width, std::uint64_t value) {
  put(header, at, fmt::format("{:0{}o}", value, width - 1));
}

}  // namespace

Result<void> TarWriter::long_name(char type, const std::string& name) {
  CHECK_OK(header({"././@LongLink", "", type, name.size() + 1, 0644}));
  CHECK_OK(sink_(name + std::string(1, '\0')));
  return padding(name.size() + 1);
}

Result<void> TarWriter::header(const Header& wanted) {
  if (wanted.name.size() > name_room) CHECK_OK(long_name('L', wanted.name));
  if (wanted.link.size() > name_room) CHECK_OK(long_name('K', wanted.link));
  constexpr std::uint64_t largest = 077777777777;
  if (wanted.size > largest) return fail(Fault::invalid_input, "{} is too large for an image", wanted.name);
  Block header{};
  put(header, 0, std::string_view(wanted.name).substr(0, name_room));
  put_octal(header, mode_at, 8, wanted.mode & 01777);
  put_octal(header, owner_at, 8, 0);
  put_octal(header, group_at, 8, 0);
  put_octal(header, size_at, 12, wanted.size);
  put_octal(header, time_at, 12, 0);
  put(header, checksum_at, "        ");
  header[type_at] = wanted.type;
  put(header, link_at, std::string_view(wanted.link).substr(0, name_room));
  put(header, magic_at, std::string_view("ustar\00000", 8));
  std::uint64_t sum = 0;
  for (const char byte : header) sum += static_cast<unsigned char>(byte);
  put(header, checksum_at, fmt::format("{:06o}", sum));
  header[checksum_at + 6] = '\0';
  return sink_({header.data(), header.size()});
}

Result<void> TarWriter::padding(std::uint64_t size) {
  const std::size_t over = size % block;
  if (over == 0) return {};
  return sink_(std::string(block - over, '\0'));
}

Result<void> TarWriter::directory(const std::string& name, unsigned mode) {
  return header({name + "/", "", '5', 0, mode});
}

Result<void> TarWriter::link(const std::string& name, const std::string& target) {
  return header({name, target, '2', 0, 0777});
}

Result<void> TarWriter::file(const std::string& name, std::string_view content, unsigned mode) {
  CHECK_OK(header({name, "", '0', content.size(), mode}));
  CHECK_OK(sink_(content));
  return padding(content.size());
}

Result<void> TarWriter::file(const std::string& name, const sys::Fd& content, std::uint64_t size, unsigned mode) {
  CHECK_OK(header({name, "", '0', size, mode}));
  std::vector<char> buffer(1U << 18);
  for (std::uint64_t left = size; left > 0;) {
    const ssize_t got = ::read(content.get(), buffer.data(), std::min<std::uint64_t>(left, buffer.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return fail(Fault::conflict, "{} changed while it was read", name);
    CHECK_OK(sink_({buffer.data(), static_cast<std::size_t>(got)}));
    left -= static_cast<std::uint64_t>(got);
  }
  return padding(size);
}

Result<void> TarWriter::finish() { return sink_(std::string(2 * block, '\0')); }

}  // namespace cordon::sandbox::image
