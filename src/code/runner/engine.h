// quickjs-ng as wasm2c compiled it: memory-safe towards this process, and its whole state is one linear memory.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "quickjs.h"

struct Z_env_instance_t {};

namespace cordon::code::runner {

/// `handler` is told "engine", "stack" or "memory" and must not return.
void prepare_traps(void (*handler)(const char* reason));
/// Of the linear memory of every engine from now on.
void limit_memory(std::uint64_t bytes);
bool memory_was_refused();

/// A value inside the engine, named by the address of its box there. 0 is none.
using Handle = std::uint32_t;

class Engine {
 public:
  /// What the code's console writes.
  using Print = std::function<void(int stream, std::string_view text)>;
  explicit Engine(Print print);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Console, timers, showing of values.
  bool install_prelude();

  Handle evaluate(std::string_view code, const char* name, bool as_program);
  Handle call(Handle function, const std::vector<Handle>& arguments);
  Handle string(std::string_view text);
  Handle property(Handle object, const char* name);
  Handle element(Handle array, std::uint32_t index);
  Handle take_exception();
  std::string text(Handle value);
  double number(Handle value);
  bool is_exception(Handle value);
  bool is_promise(Handle value);
  bool is_nothing(Handle value);      // undefined or null
  int promise_state(Handle promise);  // 0 pending, 1 kept, 2 broken
  Handle promise_result(Handle promise);
  std::uint32_t address_of(Handle value);
  bool job_pending();
  /// False when the job threw.
  bool run_job();

  Handle plain() const { return kept_.plain; }
  Handle tick() const { return kept_.tick; }
  Handle describe() const { return kept_.describe; }

  /// The state: everything but blocks of zeros.
  std::string snapshot();
  /// From hostile bytes: whatever they hold, only the linear memory is written. False when they make no sense.
  bool restore(std::string_view bytes);
  static std::string_view identity();

  // Called by the engine.
  std::uint32_t host_call(std::uint32_t name, std::uint32_t name_length, std::uint32_t count, std::uint32_t arguments);
  void rejection(Handle promise, Handle reason, bool handled);
  std::optional<std::string_view> bytes(std::uint32_t address, std::uint32_t length) const;
  bool store(std::uint32_t address, std::string_view value);

  struct Rejection {
    std::uint32_t promise;
    Handle reason;
  };
  std::vector<Rejection> rejections;
  /// Asked now and then while code runs: true ends it.
  std::function<bool()> interrupt;

 private:
  struct Kept {
    Handle plain = 0;
    Handle tick = 0;
    Handle describe = 0;
    std::uint32_t length_cell = 0;
    std::uint32_t stack = 0;
  };
  std::uint32_t place(std::string_view text);

  Z_env_instance_t environment_{};
  Z_quickjs_instance_t instance_{};
  Print print_;
  Kept kept_;
};

}  // namespace cordon::code::runner
