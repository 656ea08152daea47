// Text inside commands: shell text, scripts that an interpreter is given, code in other languages.
#include <utility>

#include "model/descriptor_name.h"
#include "risk/code.h"
#include "risk/judge.h"

namespace cordon::risk {

namespace {

/// The text with every unknown part as a variable that nobody has set, so that what is known is still judged.
std::string with_unknowns(std::string_view marked) {
  std::string text;
  for (char c : marked) {
    if (c == '\x01')
      text += "${CORDON_UNKNOWN}";
    else
      text += c;
  }
  return text;
}

/// $0 & $0 &: the script starts itself, and does not wait.
bool starts_itself(std::string_view text) {
  for (std::size_t at = 0; (at = text.find("$0", at)) != std::string_view::npos; at += 2) {
    const std::size_t before = text.substr(0, at).find_last_not_of(" \t\"");
    const std::size_t after = std::min(text.find_first_not_of(" \t\"", at + 2), text.size());
    const bool command =
        before == std::string_view::npos || std::string_view("\n;&|({").find(text[before]) != std::string_view::npos;
    const bool goes_on = after < text.size() && (text[after] == '&' || text[after] == '|') &&
                         text.substr(after, 2) != "&&" && text.substr(after, 2) != "||";
    if (command && goes_on) return true;
  }
  return false;
}

}  // namespace

void Judge::shell_text(Run& run, const Arg& text, std::span<const Arg> positional, std::optional<Frame> given) {
  Frame frame = given.value_or(run.frame);
  frame.depth += 1;
  run.frame.depth = std::max(run.frame.depth, frame.depth);
  if (text.flow.network)
    raise(run, "net.run", text.where);
  else if (!text.known && !text.wildcard)
    raise(run, "dynamic.code", text.where);
  if (!read_) return;
  const bool deep = too_deep(run);
  run.frame.depth = frame.depth - 1;
  ShellState state;
  if (!context_.home.empty() && !frame.away) state.variables["HOME"] = context_.home;
  state.depth = frame.depth;
  for (const Arg& arg : positional) {
    state.positional.emplace_back(arg.text);
    state.positional_known &= arg.known;
  }
  const Flow outer = positional_flow(positional);
  const std::string whole = text.known ? std::string(text.text) : with_unknowns(marked_text(text));
  // Beyond the limit the words are only listed, for deny rules.
  if (deep) state.depth = ~0U;
  scripts_.push_back(read_(whole, state));
  nested_ += scripts_.back().work + whole.size();
  frame.where = frame.where.value_or(text.where);
  frame.carried = false;
  run.out |= script(scripts_.back(), frame, run.in);
  if (!positional.empty()) mark_positional(outer);
}

/// Which of $1, $2, $@ is used is not followed: what one of them carries, all do. Returns what they carried before.
Flow Judge::positional_flow(std::span<const Arg> positional) {
  if (positional.empty()) return {};
  const Flow before = variable_flow("@");
  Flow flow;
  for (const Arg& arg : positional) flow |= arg.flow;
  mark_positional(flow);
  return before;
}

void Judge::mark_positional(const Flow& flow) {
  for (std::string_view name : {"@", "*", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}) mark_variable(name, flow);
}

void Judge::shell_line(Run& run, std::span<const Arg> words, std::optional<Frame> frame) {
  if (words.empty()) return;
  if (words.size() == 1) {
    shell_text(run, words[0], {}, frame);
    return;
  }
  // watch -x sh -c TEXT, ssh host sh -c TEXT: whether the words are joined or not, the text was meant to run.
  if (words.size() > 2 && words[1].text.starts_with("-") && words[1].text.ends_with("c")) {
    const Node* shell = find_program(words[0].text);
    if (shell && shell->base.has(Mark::shell_out)) shell_text(run, words[2], words.subspan(3), frame);
  }
  std::string joined;
  Arg line;
  line.where = words[0].where;
  for (const Arg& word : words) {
    if (!joined.empty()) joined += ' ';
    // A glob that this shell leaves alone is expanded over there; only the unknown stays unknown.
    const std::string_view part = marked_text(word);
    joined += part;
    if (part.find('\x01') != std::string_view::npos) line.known = false;
    line.flow |= word.flow;
  }
  const bool unknown = !line.known;
  line.text = keep(unknown ? with_unknowns(joined) : std::move(joined));
  line.known = true;
  if (unknown && !line.flow.network) {
    // Unknown operands of a known program are the program's affair; an unknown program is found inside.
    shell_text(run, line, {}, frame);
    return;
  }
  shell_text(run, line, {}, frame);
}

void Judge::run_script_file(Run& run, const Arg& file, std::uint8_t language) {
  const std::optional<int> descriptor = file.known ? descriptor_named(file.text) : std::nullopt;
  const auto roles = run.sorted.node ? run.sorted.node->roles() : std::span<const rows::RoleRow>{};
  if (language == 0 && !roles.empty() && roles[0].kind() == Role::script) language = roles[0].language;
  if (file.text == "-" || descriptor == 0) {
    run_stdin(run, language != 0 || roles.empty() ? language : roles[0].language);
    return;
  }
  if (file.flow.network) {
    raise(run, "net.run", file.where);
    return;
  }
  if (descriptor || (file.word && file.word->has(Piece::Kind::process_in))) {
    raise(run, "dynamic.stdin", file.where);
    return;
  }
  const Place place = locate(run, file.text);
  const Flow carried = file_flow(place.path);
  at_least(run, Risk::normal);
  effect(Effect::Kind::reads, place.path);
  if (carried.network)
    raise(run, "net.download_run", file.where);
  else if (carried.fetched)
    raise(run, "exec.fetched", file.where);
  else if (carried.decoded && !file_text(place.path))
    raise(run, "dynamic.script", file.where);
  if (const std::string* text = file_text(place.path)) {
    const bool sourced = !run.words.empty() && (run.words[0].text == "." || run.words[0].text == "source");
    const std::string whole = sourced ? with_calls(*text) : *text;
    // sh x.sh a b; where the file is no operand, or is sourced, what it gets is somebody else's.
    std::optional<std::vector<Arg>> positional;
    const auto& operands = run.sorted.operands;
    if (!sourced && !operands.empty() && operands[0].arg.text.data() == file.text.data()) {
      positional.emplace();
      for (std::size_t i = 1; i < operands.size(); ++i) positional->push_back(operands[i].arg);
    }
    run_written(run, file.text, whole, language, file, std::move(positional));
  }
  if (file.text.starts_with("http://") || file.text.starts_with("https://")) {
    raise(run, "net.run", file.where);
    return;
  }
  if (!file.known && !file.wildcard && (place.area == Area::unknown)) {
    raise(run, "dynamic.script", file.where);
    return;
  }
  // find . -name '*.md' -exec sh {}: each file that fits is run, whatever it holds, and its name does not say script.
  if (!file.known && file.maybe_many && !listed("code_file", file.text)) raise(run, "dynamic.script", file.where);
  if (run.frame.away) return;
  if (place.credential) raise(run, "secret.read", file.where);
  if (place.area == Area::temporary && !is_whole(place.path)) raise(run, "exec.temporary", file.where);
  if (place.area == Area::outside || place.area == Area::home) {
    raise(run, "exec.outside", file.where);
    need(Need::Kind::read_path, place.path);
  }
  if (place.area == Area::kernel || place.area == Area::device) raise(run, "dynamic.script", file.where);
}

/// A script that was written a moment ago is as known as if it stood on the command line.
void Judge::run_written(Run& run, std::string_view name, const std::string& text, std::uint8_t language, const Arg& arg,
                        std::optional<std::vector<Arg>> positional) {
  if (too_deep(run)) return;
  if (const std::string path = locate(run, name).path; running_.insert(path).second) {
    for (const std::string& other : other_texts(path)) {
      if (other != text) run_written(run, name, other, language, arg, positional);
    }
    running_.erase(path);
  }
  if (!positional) {
    Arg any = synthetic("$argument", arg);
    any.known = false;
    any.maybe_many = true;
    positional = std::vector<Arg>{any};
  }
  positional->insert(positional->begin(), arg);
  if (starts_itself(text)) raise(run, "process.endless", arg.where);
  const std::string_view first = std::string_view(text).substr(0, text.find('\n'));
  if (language == 0 || language_name(language) == "data") {
    std::string_view wanted = "shell";
    for (auto [mark, spoken] : {std::pair<std::string_view, std::string_view>{"python", "python"},
                                {"node", "javascript"},
                                {"perl", "perl"},
                                {"ruby", "ruby"},
                                {"php", "php"},
                                {"lua", "lua"}}) {
      if (first.starts_with("#!") && first.find(mark) != std::string_view::npos) wanted = spoken;
    }
    for (auto [ending, spoken] : {std::pair<std::string_view, std::string_view>{".py", "python"},
                                  {".go", "go"},
                                  {".rs", "rust"},
                                  {".c", "c"},
                                  {".java", "java"}}) {
      if (name.ends_with(ending)) wanted = spoken;
    }
    language = language_named(wanted).value_or(0);
  }
  // Of a compiled program too, which functions run is open.
  const std::string_view spoken = language_name(language);
  const bool compiled = spoken == "c" || spoken == "go" || spoken == "rust";
  const bool own = std::exchange(run.own_code, run.own_code || compiled);
  const bool certain = std::exchange(run.only_certain, run.only_certain || compiled);
  Arg content;
  content.text = keep(text);
  content.where = arg.where;
  Stdin before = std::exchange(run.in, Stdin{});
  Frame frame = run.frame;
  run.frame.depth += 1;
  positional->swap(run.positional);
  run_code(run, language, content);
  positional->swap(run.positional);
  run.frame = frame;
  run.in = before;
  run.own_code = own;
  run.only_certain = certain;
}

/// Functions that a sourced file defines run when they are called, wherever that is.
std::string Judge::with_calls(std::string_view text) const {
  std::string all(text);
  for (std::size_t at = 0; (at = text.find("()", at)) != std::string_view::npos; at += 2) {
    std::size_t end = at;
    while (end > 0 && text[end - 1] == ' ') --end;
    std::size_t begin = end;
    while (begin > 0 &&
           (isalnum(static_cast<unsigned char>(text[begin - 1])) || text[begin - 1] == '_' || text[begin - 1] == '-'))
      --begin;
    const std::string_view name = text.substr(begin, end - begin);
    if (!name.empty() && called_.contains(name)) all += fmt::format("\n{}", name);
  }
  return all;
}

void Judge::run_stdin(Run& run, std::uint8_t language) {
  if (run.in.flow.network) {
    raise(run, "net.run", run.where);
    return;
  }
  at_least(run, Risk::normal);
  run.positional.clear();
  if (run.sorted.node && run.sorted.has("-s")) {  // sh -s a b
    run.positional.push_back(run.words[0]);
    for (const Operand& operand : run.sorted.operands) run.positional.push_back(operand.arg);
  }
  if (run.in.text) {
    Arg text;
    text.text = *run.in.text;
    text.where = run.where;
    Stdin before = std::exchange(run.in, Stdin{});
    run_code(run, language, text);
    run.in = before;
    return;
  }
  switch (run.in.from) {
    case Stdin::From::terminal:
      break;
    case Stdin::From::pipe:
      raise(run, "dynamic.stdin", run.where);
      break;
    case Stdin::From::text: {
      Arg text = run.in.file;
      Stdin before = std::exchange(run.in, Stdin{});
      run_code(run, language, text);
      run.in = before;
      break;
    }
    case Stdin::From::file:
      if (run.in.file.text.starts_with("/dev/tcp/")) break;
      if (run.in.file.text == "/dev/null") break;
      if (language_name(language) == "shell" && !file_text(locate(run, run.in.file.text).path) &&
          !run.in.file.text.ends_with(".sh") && !run.in.file.text.ends_with(".bash"))
        raise(run, "dynamic.stdin", run.where);
      // `< -` is a file of that name. A descriptor by name was looked up where the redirect is; what is left is
      // unknown.
      if (descriptor_named(run.in.file.text))
        raise(run, "dynamic.stdin", run.where);
      else if (run.in.file.text != "-")
        run_script_file(run, run.in.file, language);
      break;
  }
}

void Judge::run_code(Run& run, std::uint8_t language, const Arg& arg) {
  const std::string_view name = language_name(language);
  if (name == "shell") {
    shell_text(run, arg, std::vector<Arg>(run.positional));
    return;
  }
  if (arg.flow.network) {
    raise(run, "net.run", arg.where);
    return;
  }
  const std::string_view text = marked_text(arg);
  if (text == "\x01") {
    raise(run, "dynamic.code", arg.where);
    return;
  }
  if (name == "sql")
    sql(run, text, arg.where);
  else if (name == "sed")
    judge_sed(*this, run, text, arg);
  else if (name == "vim")
    judge_vim(*this, run, text, arg);
  else if (name == "gdb")
    judge_debugger(*this, run, text, arg);
  else
    judge_code(*this, run, language, text, arg);
  if (name == "tcl") judge_expect(*this, run, text, arg);
}

}  // namespace cordon::risk
