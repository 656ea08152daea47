#include "runner/engine.h"

#include <sys/random.h>
#include <time.h>

#include <cstring>

#include "runner/embedded.h"

namespace {

using cordon::code::runner::Engine;

// One at a time; the second pointer that wasm2c hands to imports is not needed.
Engine* current = nullptr;

constexpr std::uint32_t refused = 8;  // WASI's EBADF: there are no files
constexpr std::size_t page = 65536;
constexpr std::size_t block = 4096;
constexpr std::uint32_t stack_bytes = 4 << 20;
constexpr char magic[4] = {'C', 'J', 'S', '1'};

struct SnapshotHeader {
  char magic[4];
  std::uint32_t pages;
  char identity[32];
  std::uint32_t stack_pointer;
  std::uint32_t handles[5];
};

}  // namespace

extern "C" {

struct Z_wasi_snapshot_preview1_instance_t;

u32 Z_envZ_host_call(struct Z_env_instance_t*, u32 name, u32 name_length, u32, u32 count, u32 arguments) {
  return current->host_call(name, name_length, count, arguments);
}
u32 Z_envZ_host_get_timezone_offset(struct Z_env_instance_t*, u32, u32) { return 0; }
u32 Z_envZ_host_interrupt(struct Z_env_instance_t*) { return current->interrupt && current->interrupt() ? 1 : 0; }
u32 Z_envZ_host_module_load(struct Z_env_instance_t*, u32, u32) { return 0; }
u32 Z_envZ_host_module_normalize(struct Z_env_instance_t*, u32, u32) { return 0; }
void Z_envZ_host_promise_rejection(struct Z_env_instance_t*, u32 promise, u32 reason, u32 handled) {
  current->rejection(promise, reason, handled != 0);
}

u32 Z_wasi_snapshot_preview1Z_clock_time_get(struct Z_wasi_snapshot_preview1_instance_t*, u32 clock, u64, u32 result) {
  timespec now{};
  ::clock_gettime(clock == 1 ? CLOCK_MONOTONIC : CLOCK_REALTIME, &now);
  // Microseconds are enough for code, and too coarse for most timing attacks on its neighbours.
  const u64 value = static_cast<u64>(now.tv_sec) * 1'000'000'000 + static_cast<u64>(now.tv_nsec) / 1000 * 1000;
  return current->store(result, {reinterpret_cast<const char*>(&value), sizeof value}) ? 0 : refused;
}
u32 Z_wasi_snapshot_preview1Z_fd_close(struct Z_wasi_snapshot_preview1_instance_t*, u32) { return refused; }
u32 Z_wasi_snapshot_preview1Z_fd_fdstat_get(struct Z_wasi_snapshot_preview1_instance_t*, u32, u32) { return refused; }
u32 Z_wasi_snapshot_preview1Z_fd_seek(struct Z_wasi_snapshot_preview1_instance_t*, u32, u64, u32, u32) {
  return refused;
}
u32 Z_wasi_snapshot_preview1Z_fd_write(struct Z_wasi_snapshot_preview1_instance_t*, u32, u32, u32, u32) {
  return refused;
}
u32 Z_wasi_snapshot_preview1Z_random_get(struct Z_wasi_snapshot_preview1_instance_t*, u32 address, u32 length) {
  char bytes[256];
  if (length > sizeof bytes || ::getrandom(bytes, length, 0) != static_cast<ssize_t>(length)) return refused;
  return current->store(address, {bytes, length}) ? 0 : refused;
}
}

namespace cordon::code::runner {

Engine::Engine(Print print) : print_(std::move(print)) {
  current = this;
  static bool module_ready = false;
  if (!module_ready) Z_quickjs_init_module();
  module_ready = true;
  Z_quickjs_instantiate(&instance_, &environment_, nullptr);
  Z_quickjsZ__initialize(&instance_);
}

Engine::~Engine() {
  Z_quickjs_free(&instance_);
  current = nullptr;
}

std::optional<std::string_view> Engine::bytes(std::uint32_t address, std::uint32_t length) const {
  if (std::uint64_t{address} + length > instance_.w2c_memory.size) return std::nullopt;
  return std::string_view(reinterpret_cast<const char*>(instance_.w2c_memory.data) + address, length);
}

bool Engine::store(std::uint32_t address, std::string_view value) {
  if (std::uint64_t{address} + value.size() > instance_.w2c_memory.size) return false;
  std::memcpy(instance_.w2c_memory.data + address, value.data(), value.size());
  return true;
}

std::uint32_t Engine::place(std::string_view text) {
  const std::uint32_t address = Z_quickjsZ_wasm_malloc(&instance_, static_cast<std::uint32_t>(text.size() + 1));
  if (address == 0 || !store(address, text) || !store(static_cast<std::uint32_t>(address + text.size()), {"\0", 1}))
    return 0;
  return address;
}

bool Engine::install_prelude() {
  // The module's own stack of 1 MiB is too small for recursion that people are used to.
  kept_.stack = Z_quickjsZ_wasm_malloc(&instance_, stack_bytes);
  if (kept_.stack == 0) return false;
  instance_.w2c___stack_pointer = (kept_.stack + stack_bytes) & ~15u;
  if (Z_quickjsZ_qjs_init(&instance_) != 0) return false;
  // A quarter of a MiB is left for what the engine does on top when it says that the stack is full.
  Z_quickjsZ_qjs_set_max_stack_size(&instance_, stack_bytes - 256 * 1024);
  Z_quickjsZ_qjs_set_interrupt_handler(&instance_, 1);
  Z_quickjsZ_qjs_set_promise_rejection_handler(&instance_, 1);
  kept_.length_cell = Z_quickjsZ_wasm_malloc(&instance_, 8);
  const std::uint32_t name = place("print");
  const Handle print = Z_quickjsZ_qjs_new_host_function(&instance_, name, 5, 2);
  const Handle prelude = evaluate(prelude_source(), "cordon", false);
  if (is_exception(prelude)) return false;
  const Handle parts = call(prelude, {print});
  if (is_exception(parts)) return false;
  kept_.plain = property(parts, "plain");
  kept_.tick = property(parts, "tick");
  kept_.describe = property(parts, "describe");
  return true;
}

Handle Engine::evaluate(std::string_view code, const char* name, bool as_program) {
  constexpr std::uint32_t asynchronous = 1u << 7;  // JS_EVAL_FLAG_ASYNC: top-level await; gives a promise
  const std::uint32_t text = place(code);
  const std::uint32_t label = place(name);
  if (text == 0 || label == 0) return 0;
  const Handle result = Z_quickjsZ_qjs_eval(&instance_, text, static_cast<std::uint32_t>(code.size()), label,
                                            as_program ? asynchronous : 0);
  Z_quickjsZ_wasm_free(&instance_, text);
  Z_quickjsZ_wasm_free(&instance_, label);
  return result;
}

Handle Engine::call(Handle function, const std::vector<Handle>& arguments) {
  const Handle undefined = Z_quickjsZ_qjs_get_undefined(&instance_);
  const std::uint32_t list =
      place({reinterpret_cast<const char*>(arguments.data()), arguments.size() * sizeof(Handle)});
  if (list == 0) return 0;
  const Handle result =
      Z_quickjsZ_qjs_call(&instance_, function, undefined, static_cast<std::uint32_t>(arguments.size()), list);
  Z_quickjsZ_wasm_free(&instance_, list);
  return result;
}

Handle Engine::string(std::string_view text) {
  const std::uint32_t placed = place(text);
  if (placed == 0) return 0;
  const Handle result = Z_quickjsZ_qjs_new_string(&instance_, placed, static_cast<std::uint32_t>(text.size()));
  Z_quickjsZ_wasm_free(&instance_, placed);
  return result;
}

Handle Engine::property(Handle object, const char* name) {
  const std::uint32_t placed = place(name);
  if (placed == 0) return 0;
  const Handle result = Z_quickjsZ_qjs_get_prop_string(&instance_, object, placed);
  Z_quickjsZ_wasm_free(&instance_, placed);
  return result;
}

Handle Engine::element(Handle array, std::uint32_t index) {
  return Z_quickjsZ_qjs_get_prop_uint32(&instance_, array, index);
}

Handle Engine::take_exception() { return Z_quickjsZ_qjs_get_exception(&instance_); }

std::string Engine::text(Handle value) {
  const std::uint32_t address = Z_quickjsZ_qjs_get_string_len(&instance_, value, kept_.length_cell);
  const auto cell = bytes(kept_.length_cell, 4);
  if (address == 0 || !cell) return {};
  std::uint32_t length = 0;
  std::memcpy(&length, cell->data(), 4);
  const auto found = bytes(address, length);
  std::string copy = found ? std::string(*found) : std::string();
  Z_quickjsZ_qjs_free_cstring(&instance_, address);
  return copy;
}

double Engine::number(Handle value) { return Z_quickjsZ_qjs_get_float64(&instance_, value); }
// 0 stands for "no memory for a box", which is an exception too.
bool Engine::is_exception(Handle value) { return value == 0 || Z_quickjsZ_qjs_is_exception(&instance_, value) != 0; }
bool Engine::is_promise(Handle value) { return Z_quickjsZ_qjs_is_promise(&instance_, value) != 0; }
bool Engine::is_nothing(Handle value) {
  return Z_quickjsZ_qjs_is_undefined(&instance_, value) != 0 || Z_quickjsZ_qjs_is_null(&instance_, value) != 0;
}
int Engine::promise_state(Handle promise) {
  return static_cast<int>(Z_quickjsZ_qjs_promise_state(&instance_, promise));
}
Handle Engine::promise_result(Handle promise) { return Z_quickjsZ_qjs_promise_result(&instance_, promise); }
std::uint32_t Engine::address_of(Handle value) { return Z_quickjsZ_qjs_get_value_ptr(&instance_, value); }
bool Engine::job_pending() { return Z_quickjsZ_qjs_is_job_pending(&instance_) != 0; }
bool Engine::run_job() { return static_cast<std::int32_t>(Z_quickjsZ_qjs_execute_pending_job(&instance_)) >= 0; }

std::uint32_t Engine::host_call(std::uint32_t name, std::uint32_t name_length, std::uint32_t count,
                                std::uint32_t arguments) {
  const auto wanted = bytes(name, name_length);
  const auto list = bytes(arguments, count < 2 ? 0 : 8);
  if (wanted && *wanted == "print" && count >= 2 && list) {
    Handle values[2];
    std::memcpy(values, list->data(), sizeof values);
    const int stream = number(values[0]) == 2 ? 2 : 1;
    print_(stream, text(values[1]));
  }
  return Z_quickjsZ_qjs_get_undefined(&instance_);
}

void Engine::rejection(Handle promise, Handle reason, bool handled) {
  const std::uint32_t address = address_of(promise);
  if (!handled) {
    // Kept alive by its box, so that the address stays its own.
    if (rejections.size() < 100) rejections.push_back({address, reason});
    return;
  }
  std::erase_if(rejections, [&](const Rejection& other) { return other.promise == address; });
  Z_quickjsZ_qjs_free_value(&instance_, promise);
  Z_quickjsZ_qjs_free_value(&instance_, reason);
}

std::string_view Engine::identity() { return engine_identity(); }

std::string Engine::snapshot() {
  const wasm_rt_memory_t& memory = instance_.w2c_memory;
  // What returned calls left behind is not state.
  const std::uint32_t top = instance_.w2c___stack_pointer;
  if (kept_.stack < top && top <= memory.size) std::memset(memory.data + kept_.stack, 0, top - kept_.stack);
  SnapshotHeader header{};
  std::memcpy(header.magic, magic, sizeof magic);
  std::memcpy(header.identity, identity().data(), sizeof header.identity);
  header.pages = memory.pages;
  header.stack_pointer = instance_.w2c___stack_pointer;
  const Handle handles[5] = {kept_.plain, kept_.tick, kept_.describe, kept_.length_cell, kept_.stack};
  std::memcpy(header.handles, handles, sizeof handles);
  std::string result(reinterpret_cast<const char*>(&header), sizeof header);
  static const char zeros[block] = {};
  const std::uint32_t blocks = static_cast<std::uint32_t>(memory.pages * (page / block));
  for (std::uint32_t i = 0; i < blocks; ++i) {
    const char* start = reinterpret_cast<const char*>(memory.data) + std::size_t{i} * block;
    if (std::memcmp(start, zeros, block) == 0) continue;
    result.append(reinterpret_cast<const char*>(&i), sizeof i);
    result.append(start, block);
  }
  return result;
}

bool Engine::restore(std::string_view bytes) {
  SnapshotHeader header{};
  if (bytes.size() < sizeof header) return false;
  std::memcpy(&header, bytes.data(), sizeof header);
  bytes.remove_prefix(sizeof header);
  wasm_rt_memory_t& memory = instance_.w2c_memory;
  if (std::memcmp(header.magic, magic, sizeof magic) != 0 ||
      std::memcmp(header.identity, identity().data(), sizeof header.identity) != 0 || header.pages < memory.pages) {
    return false;
  }
  if (header.pages > memory.pages && wasm_rt_grow_memory(&memory, header.pages - memory.pages) == ~std::uint32_t{0}) {
    return false;
  }
  std::memset(memory.data, 0, memory.size);
  const std::size_t blocks = std::size_t{memory.pages} * (page / block);
  while (!bytes.empty()) {
    std::uint32_t index = 0;
    if (bytes.size() < sizeof index + block) return false;
    std::memcpy(&index, bytes.data(), sizeof index);
    if (index >= blocks) return false;
    std::memcpy(memory.data + std::size_t{index} * block, bytes.data() + sizeof index, block);
    bytes.remove_prefix(sizeof index + block);
  }
  // Addresses inside the linear memory: a wrong one leads the engine astray, never out of it.
  instance_.w2c___stack_pointer = header.stack_pointer;
  kept_ = {header.handles[0], header.handles[1], header.handles[2], header.handles[3], header.handles[4]};
  return true;
}

}  // namespace cordon::code::runner
