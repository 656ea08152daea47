#include "app/command_line.h"
#include "app/verbs.h"

namespace cordon::app {

namespace {

/// What agents start thousands of times a day. To define all verbs takes a millisecond.
struct Alone {
  std::string_view verb;
  void (*define)(CommandLine& line);
};
constexpr Alone often[] = {{"check", define_check}, {"exec", define_exec}, {"run", define_run},
                           {"hook", define_hook},   {"mass", define_mass}, {"version", define_version}};

}  // namespace

void define_for(CommandLine& line, std::string_view first) {
  for (const Alone& each : often) {
    if (each.verb == first) return each.define(line);
  }
  define_all(line);
}

void define_all(CommandLine& line) {
  define_check(line);
  define_exec(line);
  define_runs(line);
  define_preview(line);
  define_mass(line);
  define_run(line);
  define_serve(line);
  define_image(line);
  define_explain(line);
  define_audit(line);
  define_queue(line);
  define_allowlist(line);
  define_config(line);
  define_trust(line);
  define_init(line);
  define_doctor(line);
  define_approver(line);
  define_token(line);
  define_mcp(line);
  define_hook(line);
  define_install(line);
  define_version(line);
  define_manual(line);
  define_completion(line);
}

}  // namespace cordon::app
