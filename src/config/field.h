// Every setting as a row: its name in the files, what it takes, which way it loosens, and where it is stored.
// The readers, the trust rule and `config show` all work from these rows.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/settings.h"

namespace cordon::config {

/// Where a change lands: the settings as a whole and one agent's part of them.
struct Target {
  Settings& settings;
  AgentSettings& agent;
};

/// What a value looks like in a file.
enum class Form {
  choice,         // one of `choices`
  boolean,        // true or false
  duration,       // "60s", "15 minutes", "30 days"; in JSON5 also a number of milliseconds
  size,           // "1 GiB", "512M"; in JSON5 also a number of bytes
  count,          // a whole number
  processors,     // a number such as 1.5; kept in thousandths
  text,           // any one line
  address,        // http://… or https://…
  file,           // an absolute path, or ~/…
  commands,       // a list of command patterns
  network,        // a list of hosts and presets
  paths,          // a list of `path: ro|rw|none`
  binds,          // a list of "host:sandbox:mode"
  allowed_tools,  // a list of tool names, each known
  denied_tools,   // a list of tool names
  environment,    // a list of NAME=value; in JSON5 an object
  words,          // the words of one command, the first an absolute path
  events,         // a list of kinds of alerts
  names,          // a list of names of agents
};
bool is_list(Form form);

/// In which direction a scalar loosens.
enum class Looser {
  larger,  // later choices and larger numbers
  smaller,
  any_change,   // neither way is surely tighter
  fewer_tools,  // a profile: only what both have counts
};

/// What an entry of a list does.
enum class Adding { loosens, tightens, depends_on_path };

struct Item {
  std::variant<Entry, NetworkRule, PathRule, BindSetting> value;

  std::string text() const;
  const Origin& origin() const;
};

using Scalar = std::variant<std::int64_t, std::string>;

struct Field {
  std::string_view key;      // as JSON5 and `config show` name it, within an agent's part where it is one of those
  std::string_view section;  // heading in SANDBOX.md; empty: only in JSON5
  std::string_view label;    // key under that heading; empty for lists
  bool per_agent;
  Form form;
  std::span<const std::string_view> choices;
  double least;
  double most;  // of a list: how many entries
  Looser looser;
  Adding adding;
  bool joined;          // a later list adds to the earlier ones instead of replacing them
  bool only_from_user;  // a loosening, or any list, that no workspace file and no --config may make

  Setting<Scalar> (*get)(const Target&);
  void (*set)(const Target&, const Scalar&, const Origin&);
  std::vector<Item> (*items)(const Target&);
  void (*assign)(const Target&, const std::vector<Item>&, const Origin&);
};

std::span<const Field> fields();
const Field* field_named(std::string_view key);
/// A field that stands under this heading of SANDBOX.md, the label in any case and with blanks for dashes.
const Field* field_labelled(std::string_view section, std::string_view label);
/// The headings that SANDBOX.md may have.
std::span<const std::string_view> sections();

/// A scalar as a person would write it: "rw", "1 GiB", "15m".
std::string shown(const Field& field, const Scalar& value);

/// One thing that one file says.
struct Change {
  const Field* field;
  std::string agent;  // empty: for all
  Scalar scalar;
  std::vector<Item> items;  // for lists: what was listed
  bool replaces = false;    // for lists: nothing else counts
  Origin origin;
};

}  // namespace cordon::config
