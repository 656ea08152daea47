// A tar as an engine imports it: POSIX headers, GNU's way for names that do not fit in one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sys/fd.h"

namespace cordon::sandbox::image {

using Sink = std::function<Result<void>(std::string_view)>;

/// Everything belongs to root; modes keep no setuid, setgid or device.
class TarWriter {
 public:
  explicit TarWriter(const Sink& sink) : sink_(sink) {}

  /// Names without a slash in front.
  Result<void> directory(const std::string& name, unsigned mode);
  Result<void> link(const std::string& name, const std::string& target);
  Result<void> file(const std::string& name, std::string_view content, unsigned mode);
  /// Exactly `size` bytes; a file that got shorter meanwhile is an error.
  Result<void> file(const std::string& name, const sys::Fd& content, std::uint64_t size, unsigned mode);
  Result<void> finish();

 private:
  struct Header {
    std::string name;
    std::string link;
    char type;
    std::uint64_t size;
    unsigned mode;
  };
  Result<void> header(const Header& header);
  Result<void> long_name(char type, const std::string& name);
  Result<void> padding(std::uint64_t size);
  const Sink& sink_;
};

}  // namespace cordon::sandbox::image
