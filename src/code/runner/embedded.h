// Texts that are part of the runner; the build puts them in.
#pragma once

#include <string_view>

namespace cordon::code::runner {

std::string_view prelude_source();
std::string_view python_boot_source();
/// State of an engine that has read the remover of TypeScript's types; empty while the runner that makes it is built.
std::string_view typescript_image();
/// 32 bytes: of the engine and the prelude, so that snapshots of others are told apart.
std::string_view engine_identity();

}  // namespace cordon::code::runner
