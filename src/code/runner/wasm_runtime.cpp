// What the C that wasm2c makes of the engine needs beneath it: linear memory, a function table, traps. Every address
// the engine can form (32 bits of base, 32 of offset) lies in one reservation, of which only the pages it has grown to
// can be touched: an access elsewhere is a fault, and a fault ends the process.
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdlib>
#include <cstring>

#include "runner/engine.h"
#include "wasm-rt.h"

namespace {

constexpr std::size_t page = 65536;
// Base and offset together reach just below 8 GiB; the widest access is 16 bytes.
constexpr std::size_t reservation = (std::size_t{1} << 33) + page;

std::uint32_t page_limit = 0;
bool refused_growth = false;
void (*trap_handler)(const char*) = nullptr;
const char* reserved = nullptr;

struct FunctionType {
  std::uint32_t parameters;
  std::uint32_t results;
  unsigned char types[30];
  bool operator==(const FunctionType&) const = default;
};
FunctionType function_types[256];
std::uint32_t function_type_count = 0;

[[noreturn]] void end_with(const char* reason) {
  if (trap_handler) trap_handler(reason);
  ::_exit(70);
}

void fault(int, siginfo_t* info, void*) {
  const char* address = static_cast<const char*>(info->si_addr);
  const bool inside = reserved && address >= reserved && address < reserved + reservation;
  // Anything else is the end of the native stack, which recursion inside the engine reaches first.
  end_with(inside ? "engine" : "stack");
}

}  // namespace

namespace cordon::code::runner {

void prepare_traps(void (*handler)(const char* reason)) {
  trap_handler = handler;
  constexpr std::size_t bytes = 65536;
  stack_t stack{};
  stack.ss_sp = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  stack.ss_size = bytes;
  ::sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_sigaction = fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigaction(SIGSEGV, &action, nullptr);
  ::sigaction(SIGBUS, &action, nullptr);
}

void limit_memory(std::uint64_t bytes) {
  page_limit = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes / page, 65535));
}

bool memory_was_refused() { return refused_growth; }

}  // namespace cordon::code::runner

extern "C" {

void wasm_rt_trap(wasm_rt_trap_t) { end_with("engine"); }

bool wasm_rt_is_initialized(void) { return true; }

uint32_t wasm_rt_register_func_type(uint32_t parameters, uint32_t results, ...) {
  FunctionType wanted{parameters, results, {}};
  if (parameters + results > sizeof wanted.types) end_with("engine");
  va_list list;
  va_start(list, results);
  for (uint32_t i = 0; i < parameters + results; ++i) wanted.types[i] = static_cast<unsigned char>(va_arg(list, int));
  va_end(list);
  for (uint32_t i = 0; i < function_type_count; ++i) {
    if (function_types[i] == wanted) return i + 1;
  }
  if (function_type_count == 256) end_with("engine");
  function_types[function_type_count++] = wanted;
  return function_type_count;
}

void wasm_rt_allocate_memory(wasm_rt_memory_t* memory, uint32_t initial_pages, uint32_t max_pages) {
  void* base = ::mmap(nullptr, reservation, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED || ::mprotect(base, initial_pages * page, PROT_READ | PROT_WRITE) != 0) end_with("memory");
  reserved = static_cast<const char*>(base);
  memory->data = static_cast<uint8_t*>(base);
  memory->pages = initial_pages;
  memory->max_pages = max_pages;
  memory->size = static_cast<uint32_t>(initial_pages * page);
}

uint32_t wasm_rt_grow_memory(wasm_rt_memory_t* memory, uint32_t delta) {
  const uint32_t old_pages = memory->pages;
  const uint64_t wanted = uint64_t{old_pages} + delta;
  if (wanted > page_limit || ::mprotect(memory->data + old_pages * page, delta * page, PROT_READ | PROT_WRITE) != 0) {
    refused_growth = true;
    return ~uint32_t{0};
  }
  memory->pages = static_cast<uint32_t>(wanted);
  memory->size = static_cast<uint32_t>(wanted * page);
  return old_pages;
}

void wasm_rt_free_memory(wasm_rt_memory_t* memory) { ::munmap(memory->data, reservation); }

void wasm_rt_allocate_funcref_table(wasm_rt_funcref_table_t* table, uint32_t elements, uint32_t) {
  table->size = elements;
  table->max_size = elements;
  table->data = static_cast<wasm_rt_funcref_t*>(std::calloc(elements, sizeof(wasm_rt_funcref_t)));
  if (!table->data) end_with("memory");
}

void wasm_rt_free_funcref_table(wasm_rt_funcref_table_t* table) { std::free(table->data); }
}
