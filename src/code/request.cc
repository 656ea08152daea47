#include "code/request.h"

namespace cordon::code {

Result<const Language*> check(const CodeRequest& request) {
  if (request.language.empty()) return fail(Fault::invalid_input, "Language is required and must be a string");
  if (request.code.empty()) return fail(Fault::invalid_input, "Code is required and must be a string");
  const Language* language = language_named(request.language);
  if (!language) return fail(Fault::invalid_input, "Unsupported language: {}", request.language);
  if (request.timeout_ms == 0 || request.timeout_ms > longest_timeout_ms) {
    return fail(Fault::invalid_input, "timeout must be between 1 and {} ms", longest_timeout_ms);
  }
  if (auto lacking = missing(*language)) return tl::make_unexpected(*lacking);
  return language;
}

}  // namespace cordon::code
