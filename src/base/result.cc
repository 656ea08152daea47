#include "base/result.h"

namespace cordon {

const char* name_of(Fault fault) {
  switch (fault) {
    case Fault::invalid_input:
      return "invalid_input";
    case Fault::denied:
      return "denied";
    case Fault::expired:
      return "expired";
    case Fault::conflict:
      return "conflict";
    case Fault::unavailable:
      return "unavailable";
    case Fault::corrupt:
      return "corrupt";
    case Fault::internal:
      return "internal";
  }
  return "internal";
}

}  // namespace cordon
