#include "sandbox/container/pipes.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace cordon::sandbox::container {

namespace {

struct Pipe {
  sys::Fd reading{-1};
  sys::Fd writing{-1};
};

Result<Pipe> make_pipe(const Identity& owner) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(Fault::unavailable, "pipe2: {}", std::strerror(errno));
  Pipe pipe{sys::Fd(ends[0]), sys::Fd(ends[1])};
  if (::geteuid() == 0 && ::fchown(ends[0], owner.uid, owner.gid) != 0) {
    return fail(Fault::unavailable, "fchown: {}", std::strerror(errno));
  }
  return pipe;
}

void never_block(const sys::Fd& fd) { ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK); }

}  // namespace

Result<ProgramEnds> make_pipes(native::InputKind input, const Identity& owner, native::Launched& launched) {
  Pipe output = TRY(make_pipe(owner));
  Pipe error = TRY(make_pipe(owner));
  Pipe given;
  if (input == native::InputKind::pipe) {
    given = TRY(make_pipe(owner));
    never_block(given.writing);
    launched.pipes.input = std::move(given.writing);
  } else {
    given.reading = sys::Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  }
  never_block(output.reading);
  never_block(error.reading);
  launched.pipes.output = std::move(output.reading);
  launched.pipes.error = std::move(error.reading);
  return ProgramEnds{std::move(given.reading), std::move(output.writing), std::move(error.writing)};
}

}  // namespace cordon::sandbox::container
