#include "runner/embed.h"
#include "runner/embedded.h"

EMBED(cordon_typescript, CORDON_TYPESCRIPT)

namespace cordon::code::runner {

std::string_view typescript_image() {
  return {cordon_typescript_start, static_cast<std::size_t>(cordon_typescript_end - cordon_typescript_start)};
}

}  // namespace cordon::code::runner
