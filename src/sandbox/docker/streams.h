// stdin, stdout and stderr of a container over one connection, told apart again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <thread>

#include "base/result.h"
#include "sandbox/docker/http.h"
#include "sandbox/native/launcher.h"
#include "sandbox/sandbox.h"
#include "sys/fd.h"

namespace cordon::sandbox::docker {

/// Takes frames apart: a byte for the stream, three zeros, four bytes of length (big endian), the bytes themselves.
class FrameReader {
 public:
  using Take = std::function<void(Stream, std::string_view)>;
  Result<void> feed(std::string_view bytes, const Take& take);

 private:
  std::string head_;
  Stream stream_ = Stream::out;
  std::uint32_t left_ = 0;
};

/// Carries bytes between the connection and a pipe for each stream, in a thread of its own, until both sides are done.
class StreamPump {
 public:
  /// Fills in the launcher's ends.
  static Result<std::unique_ptr<StreamPump>> start(Hijacked connection, native::InputKind input,
                                                   native::Launched& launched);
  /// Ends it whatever is still under way.
  ~StreamPump();
  /// Readable once the container's streams are at their end.
  int ended() const { return ended_reading_.get(); }

 private:
  StreamPump(Hijacked connection, sys::Fd input, sys::Fd output, sys::Fd error, sys::Fd ended_reading,
             sys::Fd ended_writing);
  void work();
  bool send_input();
  bool take_output();
  void deliver(Stream stream, std::string_view bytes);

  Hijacked connection_;
  sys::Fd input_;
  sys::Fd output_;
  sys::Fd error_;
  sys::Fd ended_reading_;
  sys::Fd ended_writing_;
  FrameReader frames_;
  std::jthread thread_;
};

}  // namespace cordon::sandbox::docker
