#include "runner/embedded.h"

#include "runner/embed.h"

EMBED(cordon_prelude, CORDON_PRELUDE)
EMBED(cordon_boot, CORDON_BOOT)
EMBED(cordon_identity, CORDON_IDENTITY)

namespace cordon::code::runner {

namespace {
std::string_view between(const char* start, const char* end) { return {start, static_cast<std::size_t>(end - start)}; }
}  // namespace

std::string_view prelude_source() { return between(cordon_prelude_start, cordon_prelude_end); }
std::string_view python_boot_source() { return between(cordon_boot_start, cordon_boot_end); }
std::string_view engine_identity() { return between(cordon_identity_start, cordon_identity_end); }

}  // namespace cordon::code::runner
