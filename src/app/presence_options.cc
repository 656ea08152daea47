#include "app/presence_options.h"

namespace cordon::app {

void add_presence_options(const Verb& verb, PresenceOptions& options) {
  verb.add_option("--token-file", options.token_file, "File with the approver's token (else CORDON_APPROVER_TOKEN)")
      .type_name("FILE");
}

}  // namespace cordon::app
