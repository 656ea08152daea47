// Inline code while it is being judged: what its names stand for, and what was seen in it so far.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "risk/arguments.h"
#include "risk/code.h"
#include "risk/functions.h"

namespace cordon::risk {

class CodeJudge {
 public:
  CodeJudge(Judge& judge, Run& run, std::uint8_t language, const Arg& arg)
      : judge_(judge), run_(run), language_(language), name_(language_name(language)), arg_(arg) {}

  void code(std::string_view text, int depth);
  void sum_up();

 private:
  using Tokens = std::vector<Token>;

  /// What was seen in the code as a whole; some dangers are only in the sum.
  struct Seen {
    bool network = false;
    bool socket = false;
    bool shell_io = false;
    bool shell_started = false;
    bool evaluates = false;
    bool environment = false;
    bool secret = false;
    bool forks = false;
    bool runs = false;
    bool unknown_run = false;
    bool endless_loop = false;
    bool many_loop = false;
    bool threads = false;
    bool memory = false;  // more than any machine has
    bool walks_home = false;
    bool reads = false;
    bool grows = false;   // something is added to again and again
    bool leaves = false;  // something may end a loop, or slow it down
    bool startup_file = false;
    bool computed_call = false;  // what is called, or loaded, is put together while it runs
    bool unhides = false;        // text is decoded
    bool start_place = false;    // where Python looks for what it runs first …
    bool start_name = false;     // … and a name that it looks for there
    bool asks_names = false;     // a name server, which may be anybody's
    bool token = false;          // a variable whose name says that it is a secret
    bool writes = false;
    std::vector<std::string> written;
  };

  static bool is(const Tokens& tokens, std::size_t at, std::string_view mark) { return is_token(tokens, at, mark); }

  // The walk: code.cc.
  void loops(const Tokens& tokens);
  void token(const Tokens& tokens, std::size_t i, int depth);
  void notice(const std::string& name, const Tokens& tokens, std::size_t i);

  // Names: code_names.cc.
  void aliases(const Tokens& tokens);
  void find_helpers(const Functions& functions, const Tokens& tokens);
  void other_name(const Tokens& tokens, std::size_t i);
  void names_in_braces(const Tokens& tokens, std::size_t close, std::string module);
  void import(const Tokens& tokens, std::size_t at);
  void from_import(const Tokens& tokens, std::size_t at);
  std::string full_name(const Tokens& tokens, std::size_t at) const;

  // Calls: code_calls.cc.
  void act(std::string_view what, const Tokens& tokens, std::size_t i, int depth);
  void delete_call(const Arguments& args, bool tree);
  void delete_by_options(const Tokens& tokens, Arguments args);
  void move_call(const Arguments& args);
  static bool stated(const Tokens& tokens, std::size_t at);
  void attribute(const Tokens& tokens, const Arguments& args, int depth);

  // What runs: code_runs.cc.
  void run_call(std::string_view what, const Tokens& tokens, std::size_t i, Arguments args);
  void run_pipeline(const Tokens& tokens, const Arguments& args);
  bool with_choices(const Tokens& tokens, const Arguments& args);
  void chain(const Tokens& tokens, Arguments args);
  void run_shell(const std::string& text, bool literal);
  void run_words(const Arguments& args);
  bool handed_on(std::string_view what, const Tokens& tokens, std::size_t i);
  bool module_call(const std::string& name, const Tokens& tokens, std::size_t i);
  void may_run(const Tokens& tokens, std::size_t i);
  void run_python_text(const Tokens& tokens, Arguments args);
  bool one_of(const Tokens& tokens, Arguments args);
  bool fetches(const Tokens& tokens, const Arguments& args) const;
  void evaluate(const Arguments& args, bool literal, int depth);

  // Strings: code_strings.cc.
  void called_by_value(const Tokens& tokens, std::size_t i);
  void member(const Tokens& tokens, std::size_t i, int depth);
  void string_token(const Tokens& tokens, std::size_t i, int depth);
  void awk_output(const Tokens& tokens, std::size_t i);

  // Files and hosts: code_places.cc.
  Arg path_arg(const std::string& text, bool literal);
  void literal_path(const std::string& written);
  void writes_to(const std::string& path);
  void bare_paths(std::string_view text);
  void walk(const Arguments& args, const Tokens& tokens, std::size_t i);
  void include(const std::string& path);
  void read_path(const std::string& path);
  void open(Arguments args);
  void network(const Arguments& args, bool sends);

  Judge& judge_;
  Run& run_;
  std::uint8_t language_;
  std::string_view name_;
  const Arg& arg_;
  Seen seen_;
  int evaluations_ = 0;
  std::map<std::string, std::string> alias_;
  std::map<std::string, std::string_view> helpers_;  // functions of the code that run what they are given
  std::set<std::size_t> inside_helper_;              // where they do
  std::map<std::string, std::vector<std::vector<std::string>>> choices_;
  std::vector<std::string> whole_modules_;  // from M import *
  std::set<std::string> told_;              // places of files of which it is known what the code writes there
};

}  // namespace cordon::risk
