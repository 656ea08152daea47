// What is known about programs: static rows made from data/programs/*.json5 by generate.py.
// The format of the data is described in data/programs/README.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "model/analysis.h"

namespace cordon::risk {

/// What an operand or an option's value is to the program. The order is the one in generate.py.
enum class Role : std::uint8_t {
  none,
  data,
  pair,
  read,
  tree,
  list,
  write,
  remove,
  argv,
  until,
  shell,
  line,
  exec,
  upload,
  url,
  host,
  package,
  library,
  config,
  code,
  script,
  setting,
  mount,
  assign,
  variable,
  module,
  project,
  req,
  ssh_option,
  pair_read,
};

/// Facts about a program or option, as bits. The order is the one in generate.py.
enum class Mark : std::uint32_t {
  net,
  recursive,
  wrapper,
  elevate,
  optional,
  opaque,
  environment,
  shell_out,
  stdin_code,
  stdin_args,
  secret_out,
  container,
  away,
  output,
  extract,
  quiet_stdin,
  background,
  target_first,
  temporary,
  list_only,
  endless,
  limits,
  patches,
  decodes,
  names,
  rehearses,
};

enum class Style : std::uint8_t { gnu, posix, single, find, tar, none, windows };

namespace rows {

extern const char all_text[];

struct TextRow {
  std::uint32_t at;
  std::uint32_t size;
  std::string_view view() const { return {all_text + at, size}; }
};

struct Spec {
  std::int8_t level;  // −1: says nothing about risk
  std::uint8_t replaces;
  std::uint8_t role;
  std::uint8_t language;
  std::uint16_t rule;  // 0: none
  std::uint32_t marks;

  bool has(Mark mark) const { return (marks >> static_cast<unsigned>(mark)) & 1u; }
  Role takes() const { return static_cast<Role>(role); }
};

struct RuleRow {
  TextRow name;
  std::uint8_t risk;
  std::uint8_t uncoverable;
  TextRow reason;
  TextRow safer;
};

struct OptionRow {
  TextRow name;
  TextRow canonical;
  Spec spec;
};

struct WhenRow {
  TextRow condition;
  Spec spec;
};

struct RoleRow {
  std::uint8_t role;
  std::uint8_t language;
  std::uint8_t repeats;
  Role kind() const { return static_cast<Role>(role); }
};

struct NodeRow {
  TextRow name;
  Spec base;
  std::uint8_t style;
  std::uint8_t check;
  std::uint32_t options_at, options_size;
  std::uint32_t whens_at, whens_size;
  std::uint32_t roles_at, roles_size;
  std::uint32_t subs_at, subs_exact, subs_globs;

  std::span<const OptionRow> options() const;
  std::span<const WhenRow> whens() const;
  std::span<const RoleRow> roles() const;
  Style how() const { return static_cast<Style>(style); }
};

struct NameRow {
  TextRow name;
  std::uint32_t node;
};

struct CallRow {
  std::uint32_t language;
  TextRow name;
  TextRow what;
};

struct PlaceRow {
  TextRow kind;
  TextRow entry;
};

extern const RuleRow rule_rows[];
extern const std::uint32_t rule_rows_size;
extern const std::uint16_t rules_by_name[];
extern const std::uint32_t rules_by_name_size;
extern const OptionRow option_rows[];
extern const std::uint32_t option_rows_size;
extern const WhenRow when_rows[];
extern const std::uint32_t when_rows_size;
extern const RoleRow role_rows[];
extern const std::uint32_t role_rows_size;
extern const NodeRow node_rows[];
extern const std::uint32_t node_rows_size;
extern const NameRow sub_rows[];
extern const std::uint32_t sub_rows_size;
extern const NameRow program_rows[];
extern const std::uint32_t program_rows_size;
extern const TextRow check_names[];
extern const std::uint32_t check_names_size;
extern const TextRow language_names[];
extern const std::uint32_t language_names_size;
extern const CallRow call_rows[];
extern const std::uint32_t call_rows_size;
extern const PlaceRow place_rows[];
extern const std::uint32_t place_rows_size;
extern const PlaceRow environment_rows[];
extern const std::uint32_t environment_rows_size;

}  // namespace rows

using Node = rows::NodeRow;
using Option = rows::OptionRow;
using Rule = rows::RuleRow;

/// The program of that name (no directory), also when a version is glued on: python3.11, gcc-12, clang++-16.
const Node* find_program(std::string_view name);

/// The subcommand of that name, by exact name first, then by the patterns in the order they are written.
const Node* find_subcommand(const Node& parent, std::string_view name);

const Option* find_option(const Node& node, std::string_view name);

/// A rule by its name. A name that is not in the data is a defect: the rule "internal.unnamed" (dangerous) answers.
const Rule& rule_named(std::string_view name);

std::string_view language_name(std::uint8_t language);
std::optional<std::uint8_t> language_named(std::string_view name);

/// What a call by this dotted name does in a language: exact name first, then ".last".
std::string_view find_call(std::uint8_t language, std::string_view dotted);

/// How an environment variable is judged; empty when it is of no interest.
std::string_view find_environment(std::string_view name);

/// Is the text in a list of data/programs/places.json5? A pattern without '/' is matched with what follows the last
/// '/'.
bool listed(std::string_view kind, std::string_view text);

/// Shell-like match: '*' any run of characters, '?' one. Nothing else is special.
bool matches(std::string_view pattern, std::string_view text);

}  // namespace cordon::risk
