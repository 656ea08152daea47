// Pipes for a program that runs in a container: our ends, and the ones that it is given.
#pragma once

#include "base/result.h"
#include "sandbox/container/layout.h"
#include "sandbox/native/launcher.h"
#include "sys/fd.h"

namespace cordon::sandbox::container {

/// stdin, stdout and stderr of the program. They close here once it has its own copies.
struct ProgramEnds {
  sys::Fd input;
  sys::Fd output;
  sys::Fd error;
};

/// Our ends go into `launched`. Made by root, they are `owner`'s: a program that opens /dev/stdout anew needs the right
/// to.
Result<ProgramEnds> make_pipes(native::InputKind input, const Identity& owner, native::Launched& launched);

}  // namespace cordon::sandbox::container
