#include "risk/call.h"

#include <algorithm>
#include <array>

namespace cordon::risk {

namespace {

using rows::RoleRow;

class Sorter {
 public:
  Sorter(const Node& program, std::span<const Arg> words) : words_(words) {
    sorted_.program = &program;
    enter(program, words.empty() ? std::string_view{} : words[0].text);
  }

  Sorted run() {
    std::size_t at = 1;
    if (style() == Style::tar && words_.size() > 1) at = old_cluster();
    while (at < words_.size()) at = take(at);
    assign_roles();
    return std::move(sorted_);
  }

 private:
  Style style() const { return sorted_.node->how(); }

  void enter(const Node& node, std::string_view written) {
    sorted_.node = &node;
    sorted_.chain_texts.push_back(written);
    sorted_.chain.push_back(&node);
    operands_at_ = sorted_.operands.size();
  }

  std::size_t take(std::size_t at) {
    const Arg& arg = words_[at];
    const std::string_view text = arg.text;
    if (only_operands_ || style() == Style::none || text.size() < 2 || !is_option(text)) return operand(at);
    if (text == "--" && style() != Style::find) {
      sorted_.dashes = true;
      only_operands_ = true;
      return after_dashes(at + 1);
    }
    if (style() == Style::find) return expression(at);
    if (style() == Style::single || style() == Style::windows) return single(at);
    if (text.starts_with("--")) return long_option(at);
    return cluster(at);
  }

  bool is_option(std::string_view text) const {
    if (text[0] == '-') return true;
    if (text[0] == '+') return lookup(text.substr(0, 1)) != nullptr;
    if (style() == Style::windows && text[0] == '/') return true;
    return style() == Style::find && (text == "(" || text == "!" || text == "\\(");
  }

  const Option* lookup(std::string_view name) const {
    for (auto node = sorted_.chain.rbegin(); node != sorted_.chain.rend(); ++node) {
      if (const Option* option = find_option(**node, name)) return option;
    }
    return nullptr;
  }

  /// GNU lets a long name be cut short. Where several fit, the gravest is meant: guessing low would be a way around.
  const Option* abbreviated(std::string_view name) const {
    if (name.size() < 3) return nullptr;
    const Option* best = nullptr;
    for (const Node* node : sorted_.chain) {
      for (const Option& option : node->options()) {
        if (!option.name.view().starts_with(name)) continue;
        if (!best || option.spec.level > best->spec.level) best = &option;
      }
    }
    return best;
  }

  void give(const Option* option, std::string_view written, const Arg* value) {
    GivenOption given;
    given.option = option;
    given.name = option ? option->canonical.view() : written;
    if (value) {
      given.value = *value;
      given.has_value = true;
    }
    sorted_.options.push_back(given);
  }

  /// Takes the value from the following words; returns where to go on.
  std::size_t give_with_value(const Option* option, std::string_view written, std::size_t next) {
    const Role role = option->spec.takes();
    if (role == Role::until) {
      std::size_t end = next;
      while (end < words_.size() && !ends_command(end, next)) ++end;
      sorted_.until.push_back(words_.subspan(next, end - next));
      give(option, written, nullptr);
      return std::min(end + 1, words_.size());
    }
    if (role == Role::argv || role == Role::line) {
      (role == Role::argv ? sorted_.carried : sorted_.line) = words_.subspan(std::min(next, words_.size()));
      give(option, written, nullptr);
      return words_.size();
    }
    if (role == Role::module) {
      const Arg* module = next < words_.size() ? &words_[next] : nullptr;
      give(option, written, module);
      sorted_.carried = words_.subspan(std::min(next, words_.size()));
      return words_.size();
    }
    if (next >= words_.size()) {
      give(option, written, nullptr);
      return next;
    }
    if (role == Role::pair || role == Role::pair_read) {
      give(option, written, &words_[std::min(next + 1, words_.size() - 1)]);
      return std::min(next + 2, words_.size());
    }
    give(option, written, &words_[next]);
    return next + 1;
  }

  bool ends_command(std::size_t at, std::size_t begin) const {
    const std::string_view text = words_[at].text;
    if (text == ";" || text == "\\;") return true;
    return text == "+" && at > begin && words_[at - 1].text == "{}";
  }

  static Arg rest_of(const Arg& arg, std::size_t skip) {
    Arg rest = arg;
    rest.text.remove_prefix(skip);
    return rest;
  }

  std::size_t long_option(std::size_t at) {
    const Arg& arg = words_[at];
    const std::size_t equals = arg.text.find('=');
    const std::string_view name = arg.text.substr(0, equals);
    const Option* option = lookup(name);
    if (!option && (arg.known || equals != std::string_view::npos)) option = abbreviated(name);
    if (equals != std::string_view::npos) {
      Arg value = rest_of(arg, equals + 1);
      give(option, name, &value);
      return carry_if_argv(option, at);
    }
    if (!option || option->spec.takes() == Role::none || option->spec.has(Mark::optional)) {
      give(option, name, nullptr);
      return at + 1;
    }
    return give_with_value(option, name, at + 1);
  }

  std::size_t carry_if_argv(const Option* option, std::size_t at) {
    if (option && option->spec.takes() == Role::module) {
      sorted_.carried = words_.subspan(at);
      return words_.size();
    }
    return at + 1;
  }

  std::size_t single(std::size_t at) {
    const Arg& arg = words_[at];
    std::size_t equals = arg.text.find('=');
    if (style() == Style::windows && equals == std::string_view::npos) equals = arg.text.find(':');
    std::string_view name = arg.text.substr(0, equals);
    const Option* option = lookup(name);
    if (!option && name.starts_with("--")) option = lookup(name.substr(1));
    if (!option && !name.starts_with("--")) {
      std::string doubled = "-" + std::string(name);
      option = lookup(doubled);
    }
    // -agentlib:jdwp=server=y: the colon comes first.
    if (const std::size_t colon = name.find(':');
        !option && colon != std::string_view::npos && lookup(name.substr(0, colon)))
      equals = std::string_view::npos;
    if (equals != std::string_view::npos) {
      Arg value = rest_of(arg, equals + 1);
      give(option, name, &value);
      return at + 1;
    }
    if (!option && equals == std::string_view::npos) {
      const std::size_t colon = name.find(':');
      const Option* before = colon == std::string_view::npos ? nullptr : lookup(name.substr(0, colon));
      if (before && before->spec.takes() != Role::none) {
        Arg value = rest_of(arg, colon + 1);
        give(before, name, &value);
        return at + 1;
      }
    }
    // -p5432, -DNAME: a one-letter option with its value glued on.
    if (!option && name.size() > 2 && name[1] != '-') {
      const Option* letter = lookup(name.substr(0, 2));
      if (letter && letter->spec.takes() != Role::none) {
        Arg value = rest_of(arg, 2);
        give(letter, name, &value);
        return at + 1;
      }
    }
    if (!option || option->spec.takes() == Role::none || option->spec.has(Mark::optional)) {
      give(option, name, nullptr);
      return at + 1;
    }
    return give_with_value(option, name, at + 1);
  }

  std::size_t expression(std::size_t at) {
    const Option* option = lookup(words_[at].text);
    in_expression_ = true;
    if (!option || option->spec.takes() == Role::none) {
      give(option, words_[at].text, nullptr);
      return at + 1;
    }
    return give_with_value(option, words_[at].text, at + 1);
  }

  std::size_t cluster(std::size_t at) { return letters(words_[at], 1, at + 1); }

  std::size_t letters(const Arg& arg, std::size_t from, std::size_t next) {
    if (const Option* whole = arg.text[0] == '-' || arg.text[0] == '+' ? lookup(arg.text) : nullptr) {
      if (whole->spec.takes() == Role::none || whole->spec.has(Mark::optional)) {
        give(whole, arg.text, nullptr);
        return next;
      }
      return give_with_value(whole, arg.text, next);
    }
    // -std=c99, -Wl,x, -Dfoo=bar: a known word before "=" is meant as a word.
    const std::size_t equals = arg.text.find('=');
    if (equals != std::string_view::npos && equals > 2 && lookup(arg.text.substr(0, equals))) {
      Arg value = rest_of(arg, equals + 1);
      give(lookup(arg.text.substr(0, equals)), arg.text, &value);
      return next;
    }
    for (std::size_t i = from; i < arg.text.size(); ++i) {
      char name[2] = {arg.text[0] == '+' ? '+' : '-', arg.text[i]};
      const Option* option = arg.text[0] == '+' ? lookup("+") : lookup({name, 2});
      if (arg.text[0] == '+' && option) {
        Arg value = rest_of(arg, 1);
        give(option, arg.text, &value);
        return next;
      }
      if (!option || option->spec.takes() == Role::none) {
        give(option, letter_name(arg.text[i]), nullptr);
        continue;
      }
      if (i + 1 < arg.text.size()) {
        Arg value = rest_of(arg, i + 1);
        if (value.text.starts_with('=') && value.text.size() > 1) value = rest_of(value, 1);
        give(option, {}, &value);
        if (option->spec.takes() == Role::module) {
          sorted_.carried = words_.subspan(std::min(next, words_.size()));
          return words_.size();
        }
        return next;
      }
      if (option->spec.has(Mark::optional)) {
        give(option, {}, nullptr);
        return next;
      }
      return give_with_value(option, {}, next);
    }
    return next;
  }

  /// "-x" for a letter that no table knows; static so that it outlives the call.
  static std::string_view letter_name(char letter) {
    static const auto names = [] {
      std::array<char, 512> all{};
      for (std::size_t i = 0; i < 256; ++i) {
        all[i * 2] = '-';
        all[i * 2 + 1] = static_cast<char>(i);
      }
      return all;
    }();
    return {names.data() + static_cast<unsigned char>(letter) * 2, 2};
  }

  /// tar's and ps's old way: the first word is a cluster without a dash, values follow in order.
  std::size_t old_cluster() {
    const std::string_view text = words_[1].text;
    if (text.empty() || text[0] == '-' || !words_[1].known) return 1;
    std::size_t next = 2;
    for (char letter : text) {
      char name[2] = {'-', letter};
      const Option* option = lookup({name, 2});
      if (option && option->spec.takes() != Role::none && next < words_.size()) {
        give(option, {}, &words_[next++]);
      } else {
        give(option, letter_name(letter), nullptr);
      }
    }
    return next;
  }

  /// The role that the next operand has, as far as that is certain before all operands are seen.
  const RoleRow* next_role() const {
    const std::size_t index = sorted_.operands.size() - operands_at_;
    auto roles = sorted_.node->roles();
    for (std::size_t i = 0; i < roles.size(); ++i) {
      if (i == index || roles[i].repeats) return &roles[i];
    }
    return nullptr;
  }

  std::size_t operand(std::size_t at) {
    const Arg& arg = words_[at];
    if (const std::size_t equals = arg.text.find('='); equals != std::string_view::npos) {
      if (const Option* option = lookup(arg.text.substr(0, equals + 1))) {
        Arg value = rest_of(arg, equals + 1);
        give(option, {}, &value);
        return at + 1;
      }
    }
    const bool expects_sub = sorted_.node->subs_exact + sorted_.node->subs_globs > 0;
    if (expects_sub && sorted_.operands.size() == operands_at_) {
      const Node* sub = arg.known ? find_subcommand(*sorted_.node, arg.text) : nullptr;
      if (sub) {
        if (sub->roles().size() && sub->roles()[0].kind() == Role::module) {
          sorted_.carried = words_.subspan(at);
          enter(*sub, arg.text);
          return words_.size();
        }
        enter(*sub, arg.text);
        return at + 1;
      }
      sorted_.unknown_sub = arg.text;
    }
    const RoleRow* role = next_role();
    if (role && !in_expression_) {
      if (role->kind() == Role::argv && arg.text == "--") return at + 1;
      if (role->kind() == Role::argv) {
        sorted_.carried = words_.subspan(at);
        return words_.size();
      }
      if (role->kind() == Role::line) {
        sorted_.line = words_.subspan(at);
        return words_.size();
      }
    }
    if (role && role->kind() == Role::assign && arg.text == "-" && sorted_.operands.size() == operands_at_)
      return at + 1;
    if (role && role->kind() == Role::assign && sorted_.node->base.has(Mark::wrapper) &&
        arg.text.find('=') == std::string_view::npos)
      return past_assignments(at);
    if (style() == Style::posix) only_operands_ = true;
    sorted_.operands.push_back({arg, {}});
    return at + 1;
  }

  /// env's operands: NAME=value as long as there are any, then the command.
  std::size_t past_assignments(std::size_t at) {
    sorted_.carried = words_.subspan(at);
    return words_.size();
  }

  std::size_t after_dashes(std::size_t at) {
    // kubectl exec POD -- cmd, npm exec -- cmd: what follows "--" is the command whatever came before.
    for (const RoleRow& role : sorted_.node->roles()) {
      if (role.kind() == Role::argv && at < words_.size()) {
        const bool first = sorted_.operands.size() == operands_at_ && sorted_.node->roles()[0].kind() != Role::argv;
        if (first && sorted_.node->roles().size() > 1 && !role.repeats) return at;
        if (sorted_.operands.size() - operands_at_ + 1 < sorted_.node->roles().size() && first) return at;
        sorted_.carried = words_.subspan(at);
        return words_.size();
      }
    }
    return at;
  }

  void assign_roles() {
    auto roles = sorted_.node->roles();
    std::span<Operand> operands{sorted_.operands.data() + operands_at_, sorted_.operands.size() - operands_at_};
    const std::size_t repeat = static_cast<std::size_t>(
        std::find_if(roles.begin(), roles.end(), [](const RoleRow& role) { return role.repeats != 0; }) -
        roles.begin());
    const std::size_t tail = repeat < roles.size() ? roles.size() - repeat - 1 : 0;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const std::size_t from_end = operands.size() - 1 - i;
      if (i < repeat) {
        if (i < roles.size()) operands[i].role = roles[i];
      } else if (from_end < tail && operands.size() > repeat + 1) {
        operands[i].role = roles[roles.size() - 1 - from_end];
      } else if (repeat < roles.size()) {
        operands[i].role = roles[repeat];
      }
    }
  }

  std::span<const Arg> words_;
  Sorted sorted_;
  std::size_t operands_at_ = 0;
  bool only_operands_ = false;
  bool in_expression_ = false;
};

}  // namespace

const GivenOption* Sorted::find(std::string_view option) const {
  for (const GivenOption& given : options) {
    if (given.name == option || (given.option && given.option->name.view() == option)) return &given;
  }
  return nullptr;
}

bool Sorted::marked(Mark mark) const {
  if (node && node->base.has(mark)) return true;
  return std::any_of(options.begin(), options.end(),
                     [mark](const GivenOption& given) { return given.option && given.option->spec.has(mark); });
}

Sorted sort_words(const Node& program, std::span<const Arg> words) { return Sorter(program, words).run(); }

}  // namespace cordon::risk
