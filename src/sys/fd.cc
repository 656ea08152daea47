#include "sys/fd.h"

#include <unistd.h>

namespace cordon::sys {

void Fd::close() {
  // EINTR is not retried: on Linux the descriptor is gone either way, and its number may already be someone else's.
  if (number_ >= 0) ::close(number_);
  number_ = -1;
}

}  // namespace cordon::sys
