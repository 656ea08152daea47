// Running JavaScript in the engine: until its promises are settled and its timers have run.
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>

#include "runner/embedded.h"
#include "runner/engine.h"
#include "runner/request.h"

namespace cordon::code::runner {

namespace {

using wire::Tag;

volatile sig_atomic_t deadline_passed = 0;
void on_deadline(int) { deadline_passed = 1; }

std::int64_t now_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

/// Console lines go out in pieces, but never later than somebody who watches would notice.
class Output {
 public:
  void write(int stream, std::string_view text) {
    std::string& pending = stream == 2 ? errors_ : lines_;
    pending.append(text);
    if (pending.size() > 32768) flush();
  }
  void flush() {
    write_fully(1, lines_);
    write_fully(2, errors_);
    lines_.clear();
    errors_.clear();
    flushed_ = now_ms();
  }
  void flush_if_late() {
    if ((!lines_.empty() || !errors_.empty()) && now_ms() - flushed_ > 20) flush();
  }

 private:
  std::string lines_;
  std::string errors_;
  std::int64_t flushed_ = 0;
};

Output output;
std::string current_token;

void end_trapped(const char* reason) {
  // On the signal's own stack, and nothing returns from here: what the engine left half done does not matter.
  output.flush();
  Reply reply(current_token);
  reply.add(Tag::ended, reason);
  reply.send();
  ::_exit(0);
}

void start_deadline(std::uint64_t milliseconds) {
  struct sigaction action {};
  action.sa_handler = on_deadline;
  ::sigaction(SIGALRM, &action, nullptr);
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(milliseconds / 1000);
  timer.it_value.tv_usec = static_cast<suseconds_t>(milliseconds % 1000 * 1000);
  // Again and again: a sleep may begin just after the first.
  timer.it_interval.tv_usec = 20'000;
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

/// The first line number that a stack names in the code itself.
std::string line_in(const std::string& stack, const std::string& name) {
  const std::size_t found = stack.find(name + ":");
  if (found == std::string::npos) return {};
  const std::size_t start = found + name.size() + 1;
  return stack.substr(start, stack.find_first_not_of("0123456789", start) - start);
}

class Run {
 public:
  Run(Engine& engine, const Request& request, Reply& reply) : engine_(engine), request_(request), reply_(reply) {}

  /// False when it did not end well.
  bool run(const std::string& code) {
    const Handle program = engine_.evaluate(code, request_.code_name.c_str(), true);
    if (engine_.is_exception(program)) return fail_with(engine_.take_exception());
    if (!settle()) return false;
    const int state = engine_.promise_state(program);
    std::erase_if(engine_.rejections, [&](auto& other) { return other.promise == engine_.address_of(program); });
    if (state == 2) return fail_with(engine_.promise_result(program));
    if (state == 0) return fail_as("Error", "unsettled top-level await: nothing is left that could settle it", "");
    if (!show(engine_.property(engine_.promise_result(program), "value"))) return false;
    if (!engine_.rejections.empty()) return fail_with(engine_.rejections.front().reason);
    return true;
  }

 private:
  bool interrupted() {
    if (deadline_passed == 0) return false;
    reply_.add(Tag::ended, "timeout");
    return true;
  }

  bool fail_as(const std::string& name, const std::string& message, const std::string& stack) {
    reply_.add(Tag::error_name, name);
    reply_.add(Tag::error_message, message);
    const std::string line = line_in(stack, request_.code_name);
    if (!line.empty()) reply_.add(Tag::error_line, line);
    std::string text = name.empty() ? message : name + ": " + message;
    if (!stack.empty()) text += "\n" + stack;
    if (text.back() != '\n') text += '\n';
    output.write(2, text);
    return false;
  }

  bool out_of_memory() {
    reply_.add(Tag::ended, "memory");
    return false;
  }

  bool fail_with(Handle exception) {
    if (interrupted()) return false;
    // After the memory ran out the exception may be nothing at all.
    if (exception == 0 || (memory_was_refused() && engine_.is_nothing(exception))) return out_of_memory();
    const Handle parts = engine_.call(engine_.describe(), {exception});
    if (interrupted()) return false;
    if (engine_.is_exception(parts)) {
      if (memory_was_refused()) return out_of_memory();
      return fail_as("Error", "an exception that cannot be shown", "");
    }
    const std::string name = engine_.text(engine_.element(parts, 0));
    const std::string message = engine_.text(engine_.element(parts, 1));
    const std::string stack = engine_.text(engine_.element(parts, 2));
    if (memory_was_refused() && name == "InternalError" && message == "out of memory") return out_of_memory();
    return fail_as(name, message, stack);
  }

  /// Jobs first, then the next timer, until there is neither.
  bool settle() {
    for (;;) {
      while (engine_.job_pending()) {
        if (!engine_.run_job()) return fail_with(engine_.take_exception());
        if (interrupted()) return false;
      }
      const Handle next = engine_.call(engine_.tick(), {});
      if (engine_.is_exception(next)) return fail_with(engine_.take_exception());
      if (interrupted()) return false;
      const double wait = engine_.number(next);
      if (wait < 0 && !engine_.job_pending()) return true;
      if (wait > 0) sleep_for(wait);
      if (interrupted()) return false;
    }
  }

  static void sleep_for(double milliseconds) {
    output.flush();
    const double seconds = std::floor(std::min(milliseconds, 1e9) / 1000);
    timespec span{static_cast<time_t>(seconds),
                  static_cast<long>((std::min(milliseconds, 1e9) - seconds * 1000) * 1e6)};
    ::nanosleep(&span, nullptr);
  }

  bool show(Handle value) {
    if (engine_.is_promise(value)) {
      const int state = engine_.promise_state(value);
      if (state == 0) {
        reply_.add(Tag::value, "Promise { <pending> }");
        return true;
      }
      std::erase_if(engine_.rejections, [&](auto& other) { return other.promise == engine_.address_of(value); });
      value = engine_.promise_result(value);
      if (state == 2) return fail_with(value);
    }
    if (engine_.is_nothing(value)) return true;
    const Handle shown = engine_.call(engine_.plain(), {value});
    if (engine_.is_exception(shown)) return fail_with(engine_.take_exception());
    if (interrupted()) return false;
    reply_.add(Tag::value, engine_.text(shown));
    return true;
  }

  Engine& engine_;
  const Request& request_;
  Reply& reply_;
};

std::unique_ptr<Engine> make_engine() {
  auto engine = std::make_unique<Engine>([](int stream, std::string_view text) { output.write(stream, text); });
  engine->interrupt = [] {
    output.flush_if_late();
    return deadline_passed != 0;
  };
  return engine;
}

/// Types out, line numbers as they were. False, with the reply filled, when the text cannot be read.
bool remove_types(const Request& request, std::string& code, Reply& reply) {
  auto engine = make_engine();
  if (!engine->restore(typescript_image())) {
    reply.add(Tag::ended, "engine");
    return false;
  }
  const Handle global = engine->evaluate("__removeTypes", "cordon", false);
  const Handle result = engine->call(global, {engine->string(request.code)});
  if (!engine->is_exception(result)) {
    code = engine->text(result);
    return true;
  }
  const Handle parts = engine->call(engine->describe(), {engine->take_exception()});
  if (deadline_passed != 0) {
    reply.add(Tag::ended, "timeout");
    return false;
  }
  std::string message = engine->text(engine->element(parts, 1));
  // "Error transforming main.ts: Unexpected token (3:5)"
  if (const auto colon = message.find(": "); message.starts_with("Error transforming") && colon != std::string::npos) {
    message.erase(0, colon + 2);
  }
  const std::size_t open = message.rfind('(');
  reply.add(Tag::error_name, "SyntaxError");
  reply.add(Tag::error_message, message);
  if (open != std::string::npos)
    reply.add(Tag::error_line, message.substr(open + 1, message.find(':', open) - open - 1));
  output.write(2, "SyntaxError: " + message + "\n");
  return false;
}

void grow_stack() {
  rlimit limit{};
  ::getrlimit(RLIMIT_STACK, &limit);
  // Deep recursion in the code is recursion in the engine. What lies above a stack is kept free for 128 MiB.
  const rlim_t wanted = 96 << 20;
  if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < wanted) return;
  limit.rlim_cur = wanted;
  ::setrlimit(RLIMIT_STACK, &limit);
}

constexpr std::uint64_t generous = 1ULL << 30;

}  // namespace

void run_javascript(bool ahead) {
  grow_stack();
  prepare_traps(end_trapped);
  limit_memory(generous);
  std::unique_ptr<Engine> engine = ahead ? make_engine() : nullptr;
  const bool ready = engine && engine->install_prelude();
  tell_ready();
  Request request;
  if (!read_request(request)) ::_exit(65);
  ::close(0);
  current_token = request.token;
  Reply reply(request.token);
  start_deadline(request.deadline_ms);
  bool good = ready;
  std::string code = std::move(request.code);
  request.code = code;
  if (good && request.code_name.ends_with(".ts")) {
    engine.reset();
    good = remove_types(request, code, reply);
    engine = make_engine();
    if (good && request.snapshot.empty()) good = engine->install_prelude();
  } else if (!ready) {
    reply.add(Tag::ended, "engine");
  }
  if (good && !request.snapshot.empty() && !engine->restore(request.snapshot)) {
    reply.add(Tag::ended, "snapshot");
    good = false;
  }
  limit_memory(request.memory_bytes);
  if (good) good = Run(*engine, request, reply).run(code);
  output.flush();
  if (good && request.keep) reply.add(Tag::snapshot, engine->snapshot());
  reply.add(Tag::status, good ? 0 : 1);
  reply.send();
  ::_exit(0);
}

int make_image(const char* script) {
  std::ifstream file(script);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  grow_stack();
  limit_memory(generous);
  auto engine = make_engine();
  if (!engine->install_prelude()) return 1;
  const Handle result = engine->evaluate(text, "image", false);
  if (engine->is_exception(result)) {
    const Handle parts = engine->call(engine->describe(), {engine->take_exception()});
    std::fprintf(stderr, "%s: %s\n%s\n", engine->text(engine->element(parts, 0)).c_str(),
                 engine->text(engine->element(parts, 1)).c_str(), engine->text(engine->element(parts, 2)).c_str());
    return 1;
  }
  output.flush();
  const std::string state = engine->snapshot();
  return std::fwrite(state.data(), 1, state.size(), stdout) == state.size() ? 0 : 1;
}

}  // namespace cordon::code::runner
