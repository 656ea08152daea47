// Secrets that can be told by their shape: keys of well-known services, private key blocks, tokens, passwords in
// options and addresses.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace cordon::audit {

struct SecretSpan {
  std::string_view kind;
  std::size_t begin;
  std::size_t end;
};

/// The first secret that begins at or after `from`. One pass over the text: matchers look at each byte a bounded number
/// of times.
std::optional<SecretSpan> next_secret(std::string_view text, std::size_t from);

}  // namespace cordon::audit
