// Reading what comes out of a sandbox: the program's output, the token, then the runner's records. All of it may be
// forged by the program, whose result it is; so it is bounded, and believed only about that program.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "code/result.h"
#include "code/wire.h"

namespace cordon::code {

/// What the records said.
struct Reply {
  std::string value;
  bool has_value = false;
  std::string error_name;
  std::string error_message;
  bool has_error = false;
  std::optional<std::uint32_t> error_line;
  std::vector<std::string> ended;
  std::optional<int> status;
  std::string snapshot;
  std::vector<Artifact> artifacts;
  std::vector<LeftOut> left_out;
  bool done = false;

  bool ended_by(std::string_view reason) const;
};

class ReplyReader {
 public:
  /// `limit` is for all records together; what goes beyond it is an end without `done`. The first byte of a runner's
  /// output says that it is ready.
  enum class Start { with_ready_byte, at_once };
  ReplyReader(std::string token, std::size_t limit, Start start)
      : token_(std::move(token)), limit_(limit), ready_byte_due_(start == Start::with_ready_byte) {}

  /// Gives the program's own output to `raw`, as soon as it can not be the start of the token.
  void feed(std::string_view bytes, const std::function<void(std::string_view)>& raw);
  /// No more will come.
  void finish(const std::function<void(std::string_view)>& raw);
  bool in_records() const { return in_records_; }
  Reply& reply() { return reply_; }

 private:
  void feed_records(std::string_view bytes);
  void take(wire::Tag tag, std::string_view value);

  std::string token_;
  std::size_t limit_;
  bool ready_byte_due_;
  std::string held_;
  bool in_records_ = false;
  bool broken_ = false;
  Reply reply_;
};

}  // namespace cordon::code
