// That a preview is being made for a request that waits: a file that its maker holds locked for as long as it lives, so
// that nobody waits for a maker that died.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "sys/fd.h"

namespace cordon::sandbox::preview {

class Making {
 public:
  /// `directory` is made when it is missing. Nothing: another process makes it.
  static Result<std::optional<Making>> begin(const std::string& directory, std::string_view approval);
  /// Goes on with what another process began and handed over as this descriptor.
  static Result<Making> adopt(const std::string& directory, std::string_view approval, sys::Fd file);

  /// To be handed on: the lock is held until its last copy is closed.
  const sys::Fd& file() const { return file_; }

  /// The preview is there.
  void done();
  /// There will be none; the reason stays for whoever asks.
  void failed(std::string_view why);

 private:
  Making(std::string path, sys::Fd file) : path_(std::move(path)), file_(std::move(file)) {}
  std::string path_;
  sys::Fd file_;
};

struct Progress {
  enum class State {
    none,
    being_made,
    cut_off,     // its maker died
    impossible,  // `why`
  };
  State state = State::none;
  std::string why;
};
Progress progress_of(const std::string& directory, std::string_view approval);

/// Drops what is known of it, unless it is being made.
void forget_making(const std::string& directory, std::string_view approval);
/// The same for everything older than `before`.
void forget_makings(const std::string& directory, Time before);

}  // namespace cordon::sandbox::preview
