#include "shell/state.h"

#include <algorithm>
#include <set>

namespace cordon::shell {

namespace {

constexpr std::size_t max_bodies = 64;

}  // namespace

Value Value::unknown(std::string source, std::string variable) {
  Value value;
  value.known = false;
  value.pieces.push_back({.kind = Piece::Kind::unknown, .text = std::move(source), .variable = std::move(variable)});
  return value;
}

Value Value::number(std::string source, std::string variable) {
  Value value = unknown(std::move(source), std::move(variable));
  value.pieces.front().kind = Piece::Kind::number;
  return value;
}

std::size_t Value::size() const {
  std::size_t bytes = text.size();
  for (const Piece& piece : pieces) bytes += 64 + piece.text.size() + 4 * piece.from.size();
  return bytes;
}

std::size_t Variable::size() const {
  std::size_t bytes = value.size();
  for (const auto& [key, element] : elements) bytes += 64 + element.size();
  return bytes;
}

bool Variable::same_as(const Variable& other) const {
  return kind == other.kind && exported == other.exported && integer == other.integer && lower == other.lower &&
         upper == other.upper && readonly == other.readonly && reference == other.reference && value == other.value &&
         elements == other.elements && bodies == other.bodies && certain == other.certain &&
         more_bodies == other.more_bodies && defined == other.defined && anything == other.anything &&
         one_of == other.one_of;
}

const Variable* State::find(std::string_view name) const {
  if (names_.empty()) return nullptr;
  auto found = names_.find(name);
  return found == names_.end() ? nullptr : &found->second;
}

void State::set(std::string_view name, Variable variable) {
  variable.one_of.clear();  // only a join knows them
  variable.changed = ++clock_;
  if (variable.kind == Variable::Kind::function) {
    ++functions_;
    remember(name, variable.bodies);
  }
  auto last = last_set_.find(name);
  if (last == last_set_.end()) last = last_set_.emplace(std::string(name), 0).first;
  last->second = clock_;
  auto found = names_.find(name);
  if (found == names_.end()) {
    journal_.push_back({std::string(name), std::nullopt, made_++});
    names_.emplace(std::string(name), std::move(variable));
  } else {
    journal_.push_back({std::string(name), std::move(found->second), made_++});
    found->second = std::move(variable);
  }
}

const std::vector<const Node*>& State::bodies_of(std::string_view key) const {
  static const std::vector<const Node*> none;
  auto found = bodies_.find(key);
  return found == bodies_.end() ? none : found->second;
}

// eval makes the same text another tree every time.
static bool same_body(const Node* one, const Node* other) {
  if (one == other) return true;
  const bool plain = one->kind == Node::Kind::group && other->kind == Node::Kind::group && one->redirects.empty() &&
                     other->redirects.empty() && one->body != nullptr && other->body != nullptr;
  return plain && same(*one->body, *other->body);
}

void State::remember(std::string_view key, const std::vector<const Node*>& bodies) {
  if (bodies.empty()) return;
  auto found = bodies_.find(key);
  if (found == bodies_.end()) found = bodies_.emplace(std::string(key), std::vector<const Node*>{}).first;
  for (const Node* body : bodies) {
    if (found->second.size() > max_bodies) return;
    if (std::ranges::any_of(found->second, [&](const Node* known) { return same_body(known, body); })) continue;
    found->second.push_back(body);
    ++definitions_;
  }
}

State::Changes State::take_back(std::size_t mark) {
  Changes changes;
  while (journal_.size() > mark) {
    Undo undo = std::move(journal_.back());
    journal_.pop_back();
    auto found = names_.find(undo.name);
    if (found == names_.end()) continue;
    // The last change of a name comes off first and is the one that counts.
    bool seen = false;
    if (changes.size() < 8) {
      seen = std::any_of(changes.begin(), changes.end(), [&](const Change& c) { return c.name == undo.name; });
      if (!seen) changes.push_back({undo.name, found->second});
    } else {
      changes.push_back({undo.name, found->second});
    }
    if (undo.before) {
      found->second = std::move(*undo.before);
    } else {
      names_.erase(found);
    }
  }
  if (changes.size() > 8) {
    std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.name < b.name; });
    changes.erase(
        std::unique(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.name == b.name; }),
        changes.end());
  }
  return changes;
}

std::vector<std::string> State::changed_since(std::uint64_t moment) const {
  std::set<std::string> names;
  for (auto undo = journal_.rbegin(); undo != journal_.rend() && undo->when >= moment; ++undo) names.insert(undo->name);
  return {names.begin(), names.end()};
}

std::size_t State::changes_since(std::uint64_t moment) const {
  std::size_t changes = 0;
  for (auto undo = journal_.rbegin(); undo != journal_.rend() && undo->when >= moment; ++undo) ++changes;
  return changes;
}

std::vector<std::string> State::news_since(std::uint64_t moment) const {
  std::map<std::string_view, const Variable*> before;
  for (auto undo = journal_.rbegin(); undo != journal_.rend() && undo->when >= moment; ++undo)
    before[undo->name] = undo->before ? &*undo->before : nullptr;
  std::vector<std::string> names;
  for (const auto& [name, then] : before) {
    const Variable* now = find(name);
    if (then != nullptr && now != nullptr) {
      const bool unknown = then->kind == Variable::Kind::unknown && then->one_of.empty() && !now->reference;
      const bool one_of_them = then->kind == Variable::Kind::function && !then->certain &&
                               std::ranges::all_of(now->bodies, [&](const Node* body) {
                                 return std::ranges::find(then->bodies, body) != then->bodies.end();
                               });
      if (unknown || one_of_them || then->same_as(*now)) continue;
    }
    names.emplace_back(name);
  }
  return names;
}

std::vector<std::string> State::set_after(std::uint64_t when) const {
  std::vector<std::string> names;
  for (const auto& [name, last] : last_set_) {
    if (last > when) names.push_back(name);
  }
  return names;
}

std::vector<std::string> State::changing_functions() const {
  std::vector<std::string> names;
  for (const auto& [key, bodies] : bodies_) {
    const Variable* now = find(key);
    if (bodies.size() > 1 || now == nullptr || now->kind != Variable::Kind::function) names.push_back(key);
  }
  return names;
}

std::vector<std::string> values_of(const std::vector<const Variable*>& courses) {
  constexpr std::size_t most = 8, longest = 128;
  std::vector<std::string> all;
  for (const Variable* each : courses) {
    const bool plain = !each->integer && !each->lower && !each->upper && !each->reference;
    const bool known = each->kind == Variable::Kind::scalar && each->value.known;
    const bool few = each->kind == Variable::Kind::unknown && !each->one_of.empty();
    if (!plain || (!known && !few)) return {};
    if (known) all.push_back(each->value.text);
    all.insert(all.end(), each->one_of.begin(), each->one_of.end());
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  // Only what no expansion would change: names, options, paths, with single blanks between them.
  constexpr std::string_view marks = "_./+@:=- ";
  const bool good = std::all_of(all.begin(), all.end(), [&](const std::string& text) {
    return !text.empty() && text.size() <= longest && std::all_of(text.begin(), text.end(), [&](char c) {
      return isalnum(static_cast<unsigned char>(c)) || marks.find(c) != std::string_view::npos;
    });
  });
  return good && all.size() <= most ? all : std::vector<std::string>{};
}

void State::join(const std::vector<Changes>& courses) {
  std::map<std::string_view, std::vector<const Variable*>> touched;
  for (std::size_t i = 0; i < courses.size(); ++i) {
    for (const Change& change : courses[i]) {
      auto& values = touched[change.name];
      values.resize(courses.size(), nullptr);
      values[i] = &change.value;
    }
  }
  for (auto& [name, values] : touched) {
    const Variable* base = find(name);
    Variable unset;
    if (base == nullptr) base = &unset;
    bool was_there = base != &unset;
    const Variable* first = nullptr;
    bool agree = true, exported = false, function = false;
    for (const Variable* value : values) {
      // A course that did not touch a name we know nothing of leaves it unknown.
      if (value == nullptr && !was_there) agree = false;
      const Variable* actual = value == nullptr ? base : value;
      exported = exported || actual->exported;
      function = function || actual->kind == Variable::Kind::function;
      if (first == nullptr) first = actual;
      agree = agree && first->same_as(*actual);
    }
    if (agree) {
      set(name, Variable(*first));
      continue;
    }
    Variable either;
    either.certain = false;
    for (const Variable* value : values) {
      for (const Node* body : (value == nullptr ? base : value)->bodies) {
        bool there = std::find(either.bodies.begin(), either.bodies.end(), body) != either.bodies.end();
        if (!there && either.bodies.size() >= max_bodies) either.more_bodies = true;
        if (!there && either.bodies.size() < max_bodies) either.bodies.push_back(body);
      }
      const Variable& actual = value == nullptr ? *base : *value;
      either.more_bodies |= actual.more_bodies;
      either.anything |= actual.anything;
      either.readonly |= actual.readonly;
      either.defined &= actual.kind == Variable::Kind::function && actual.defined;
    }
    either.kind = function ? Variable::Kind::function : Variable::Kind::unknown;
    either.exported = exported;
    for (const Variable*& value : values) value = value == nullptr ? base : value;
    // declare -u under a condition: what a later assignment stores is open.
    either.reference = std::any_of(values.begin(), values.end(), [&](const Variable* value) {
      return value->integer != first->integer || value->lower != first->lower || value->upper != first->upper ||
             value->reference;
    });
    std::vector<std::string> few = function ? std::vector<std::string>{} : values_of(values);
    set(name, std::move(either));
    names_.find(name)->second.one_of = std::move(few);
  }
}

void State::make_unknown(std::string_view name) {
  const Variable* old = find(name);
  Variable unknown;
  unknown.kind = Variable::Kind::unknown;
  if (old != nullptr) {
    unknown.exported = old->exported;
    // What an assignment to it does is as it was.
    unknown.integer = old->integer;
    unknown.lower = old->lower;
    unknown.upper = old->upper;
    unknown.readonly = old->readonly;
    unknown.reference = old->reference;
    unknown.anything = old->anything;
  }
  const std::vector<const Node*>& bodies = bodies_of(name);
  if (!bodies.empty()) {
    unknown.kind = Variable::Kind::function;
    unknown.certain = false;
    unknown.defined = false;
    unknown.more_bodies = bodies.size() > max_bodies;
    unknown.bodies = bodies;
  }
  set(name, std::move(unknown));
}

void State::may_become(std::string_view function, const std::vector<const Node*>& bodies) {
  const std::string key = function_key(function);
  remember(key, bodies);
  make_unknown(key);
}

void State::make_all_unknown() {
  std::vector<std::string> names;
  for (const auto& [name, variable] : names_) {
    bool already = (variable.kind == Variable::Kind::unknown && variable.one_of.empty()) ||
                   (variable.kind == Variable::Kind::function && variable.anything);
    if (!already) names.push_back(name);
  }
  for (const std::string& name : names) {
    const Variable before = *find(name);
    make_unknown(name);
    Variable& after = names_.find(name)->second;
    after.defined = before.kind == Variable::Kind::function && before.defined;
    after.anything = after.kind == Variable::Kind::function;
  }
  around.environment_unknown = true;
  around.positional = nullptr;
  around.directory = std::nullopt;
  around.options_unknown = true;
  around.lastpipe = true;
  around.zero = Value::unknown("$0");
}

}  // namespace cordon::shell
