// How errors travel: as values, from a closed set of faults, each with a sentence for a person.
#pragma once

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace cordon {

/// What the caller can do about it, not where it happened.
enum class Fault {
  invalid_input,  // correct the input and ask again
  denied,         // policy or permission says no
  expired,        // it was valid once; ask anew
  conflict,       // someone else changed it meanwhile
  unavailable,    // a part that is needed cannot be had now
  corrupt,        // stored data is damaged; nothing runs until it is looked at
  internal,       // a defect of ours or of the machine
};

const char* name_of(Fault fault);

/// The sentence says what, which, and what to do next. It never holds secrets or a command's output.
struct Error {
  Fault fault;
  std::string sentence;

  bool operator==(const Error&) const = default;
};

template <class T>
using Result = tl::expected<T, Error>;

template <class... Args>
tl::unexpected<Error> fail(Fault fault, fmt::format_string<Args...> format, Args&&... args) {
  return tl::make_unexpected(Error{fault, fmt::format(format, std::forward<Args>(args)...)});
}

}  // namespace cordon

// Each use gets a name of its own, so that one TRY may stand inside another.
#define CORDON_JOIN_(a, b) a##b
#define CORDON_JOIN(a, b) CORDON_JOIN_(a, b)
#define CORDON_TRY_(result, expression)                                   \
  __extension__({                                                         \
    auto result = (expression);                                           \
    if (!result) return ::tl::make_unexpected(std::move(result).error()); \
    *std::move(result);                                                   \
  })
#define CORDON_CHECK_(result, expression)                                 \
  do {                                                                    \
    auto result = (expression);                                           \
    if (!result) return ::tl::make_unexpected(std::move(result).error()); \
  } while (false)

/// Takes the value out of a Result, or returns its error from the enclosing function.
#define TRY(expression) CORDON_TRY_(CORDON_JOIN(try_result_, __COUNTER__), expression)

/// The same for a Result<void>, as a statement.
#define CHECK_OK(expression) CORDON_CHECK_(CORDON_JOIN(try_result_, __COUNTER__), expression)
