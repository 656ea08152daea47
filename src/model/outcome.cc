#include "model/outcome.h"

namespace cordon {

const char* name_of(Contact::Stage stage) {
  switch (stage) {
    case Contact::Stage::refused:
      return "refused";
    case Contact::Stage::failed:
      return "failed";
    case Contact::Stage::opened:
      return "opened";
    case Contact::Stage::closed:
      return "closed";
  }
  return "refused";
}

const char* name_of(Why why) {
  switch (why) {
    case Why::timeout:
      return "timeout";
    case Why::memory:
      return "memory";
    case Why::pids:
      return "pids";
    case Why::disk:
      return "disk";
    case Why::output:
      return "output";
    case Why::signal:
      return "signal";
    case Why::policy:
      return "policy";
  }
  return "signal";
}

}  // namespace cordon
