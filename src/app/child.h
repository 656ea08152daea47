// A program that is talked to over its standard input and output.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/result.h"
#include "sys/fd.h"

namespace cordon::app {

class Child {
 public:
  /// By a shell, as agents start their hooks. It is ended by a signal when it takes longer than a minute.
  static Result<Child> start(const std::string& command);
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  /// Kills it where nobody has waited for it.
  ~Child();

  const sys::Fd& input() const { return input_; }
  const sys::Fd& output() const { return output_; }
  void end_input() { input_ = sys::Fd(-1); }
  /// Its exit code; 128 where a signal ended it.
  int wait();

 private:
  Child(pid_t number, sys::Fd input, sys::Fd output)
      : number_(number), input_(std::move(input)), output_(std::move(output)) {}
  pid_t number_;
  sys::Fd input_;
  sys::Fd output_;
};

struct Ended {
  std::string out;
  int code = -1;
};

/// Gives it `input` and waits for its end.
Result<Ended> run_with(const std::string& command, std::string_view input);

}  // namespace cordon::app
