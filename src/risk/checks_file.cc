#include <algorithm>

#include "risk/checks.h"

namespace cordon::risk::checks {

namespace {

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '7'; });
}

/// Opens a file to everyone, or lets it run with its owner's rights.
bool lax_mode(std::string_view mode, bool& setid) {
  if (all_digits(mode)) {
    if (mode.size() >= 4 && (mode[mode.size() - 4] == '4' || mode[mode.size() - 4] == '2' ||
                             mode[mode.size() - 4] == '6' || mode[mode.size() - 4] == '7'))
      setid = true;
    const int others = mode.back() - '0';
    return (others & 2) != 0;
  }
  bool lax = false;
  std::size_t at = 0;
  while (at <= mode.size()) {
    const std::size_t end = std::min(mode.find(',', at), mode.size());
    const std::string_view part = mode.substr(at, end - at);
    at = end + 1;
    const std::size_t sign = part.find_first_of("+=");
    if (sign == std::string_view::npos) continue;
    const std::string_view who = part.substr(0, sign);
    const std::string_view what = part.substr(sign + 1);
    if (what.find('s') != std::string_view::npos) setid = true;
    const bool others = who.find('o') != std::string_view::npos || who.find('a') != std::string_view::npos;
    if (others && what.find('w') != std::string_view::npos) lax = true;
  }
  return lax;
}

void judge_places(Judge& judge, Run& run, std::size_t first, bool opens) {
  for (std::size_t i = first; i < run.sorted.operands.size(); ++i) {
    const Arg& arg = run.sorted.operands[i].arg;
    const Place place = judge.locate(run, arg.text);
    judge.effect(Effect::Kind::writes, place.path);
    if (place.guarded) judge.raise(run, "guard.touched", arg.where);
    if (run.frame.away) continue;
    if (place.credential && opens) judge.raise(run, "perm.credential", arg.where);
    if (place.vital && run.recursive)
      judge.raise(run, "perm.vital", arg.where);
    else if (place.area == Area::system || place.area == Area::kernel || place.area == Area::device)
      judge.raise(run, "perm.system", arg.where);
    else if (place.area == Area::outside || (place.area == Area::home && run.recursive))
      judge.raise(run, "perm.outside", arg.where);
  }
}

}  // namespace

void change_mode(Judge& judge, Run& run) {
  std::string_view mode;
  std::size_t first = 0;
  // chmod -x f, chmod -w,g-r f: a mode that looks like an option.
  for (const GivenOption& given : run.sorted.options) {
    if (!given.option && given.name.size() == 2 &&
        std::string_view("rwxXst").find(given.name[1]) != std::string_view::npos)
      mode = given.name;
  }
  if (mode.empty() && !run.sorted.operands.empty() && !run.sorted.has("--reference")) {
    mode = run.sorted.operands[0].arg.text;
    first = 1;
    if (!run.sorted.operands[0].arg.known) judge.raise(run, "perm.unknown", run.where);
  }
  // --reference=/bin/su: which rights those are is not known here.
  if (const GivenOption* like = run.sorted.find("--reference");
      like && like->has_value && judge.locate(run, like->value.text).area != Area::workspace)
    judge.raise(run, "perm.unknown", like->value.where);
  bool setid = false;
  const bool lax = lax_mode(mode, setid);
  if (setid) judge.raise(run, "perm.setid", run.where);
  if (lax) judge.raise(run, "perm.everyone", run.where);
  if (run.recursive && all_digits(mode) && mode.find_first_not_of('0') == std::string_view::npos)
    judge.raise(run, "perm.locked_out", run.where);
  const bool opens = mode != "600" && mode != "400" && mode != "700" && mode != "0600" && mode != "0400" &&
                     !mode.starts_with("go-") && !mode.starts_with("u=") && !mode.starts_with("og-") &&
                     !mode.starts_with('-');
  judge_places(judge, run, first, opens);
  run.judged = true;
}

void change_owner(Judge& judge, Run& run) {
  judge_places(judge, run, run.sorted.has("--reference") ? 0 : 1, false);
  run.judged = true;
}

void find_files(Judge& judge, Run& run) {
  std::vector<Arg> roots;
  for (const Operand& operand : run.sorted.operands) roots.push_back(operand.arg);
  std::string_view pattern;
  bool negated = false;
  for (const GivenOption& given : run.sorted.options) {
    const bool names = given.has_value && given.option &&
                       (given.option->name.view() == "-name" || given.option->name.view() == "-iname" ||
                        given.option->name.view() == "-path" || given.option->name.view() == "-wholename");
    if (names && !negated) {
      if (pattern.empty()) pattern = given.value.text;
      const std::string in_home = judge.context().home + "/.ssh/" + std::string(given.value.text);
      const std::string here = judge.context().workspace + "/" + std::string(given.value.text);
      const Place place = judge.locate(run, here);
      if (place.credential || could_be_credential(in_home, judge.context()) ||
          could_be_credential(here, judge.context())) {
        if (given.value.text != "*") {
          pattern = given.value.text;
          run.out.secret_names = true;
        }
      }
    }
    negated = given.name == "!" || given.name == "-not";
  }
  if (roots.empty()) {
    Arg here;
    here.text = ".";
    here.where = run.where;
    roots.push_back(here);
  }
  for (const Arg& root : roots) {
    const Place place = judge.locate(run, root.text);
    const bool stores = place.holds_secrets || listed("homes", place.path);
    const bool named = !pattern.empty() && judge.locate(run, judge.keep(std::string(pattern))).suspect;
    run.out.secret_names |= stores && (named || (pattern.empty() && place.holds_secrets));
    if (!pattern.empty() && run.out.secret_names && stores) judge.raise(run, "secret.search", root.where);
  }
  run.out.found = true;
  if (run.sorted.has("-delete")) {
    for (const Arg& root : roots) {
      const Place place = judge.locate(run, root.text);
      judge.effect(Effect::Kind::deletes, place.path);
      if (place.vital && pattern.empty()) judge.raise(run, "fs.delete.vital", root.where);
      if (place.guarded) judge.raise(run, "guard.touched", root.where);
    }
    judge.raise(run, "fs.delete.found", run.where);
  }
  for (std::span<const Arg> words : run.sorted.until) {
    std::vector<Arg> filled;
    for (const Arg& word : words) {
      Arg copy = word;
      if (word.text == "{}") {
        // Which file it will be is unknown; that it lies under the root and fits the pattern is not.
        copy = judge.synthetic(
            std::string(roots[0].text) + "/" + std::string(pattern.empty() ? std::string_view("{}") : pattern), word);
        copy.known = false;
        copy.maybe_many = true;
        copy.flow.secret_names = run.out.secret_names;
        copy.flow.found = true;
        if (pattern.empty()) copy.text = roots[0].text;
      } else if (const std::size_t hole = word.text.find("{}"); hole != std::string_view::npos) {
        if (word.text.find_first_of(" \n;$") == std::string_view::npos) {  // of={}
          std::string text(word.text);
          text.replace(hole, 2, std::string(roots[0].text) + "/" + std::string(pattern.empty() ? "{}" : pattern));
          copy = judge.synthetic(std::move(text), word);
          copy.maybe_many = true;
          copy.flow.found = true;
        }
        copy.known = false;
      }
      filled.push_back(copy);
    }
    Frame frame = run.frame;
    judge.carry(run, filled, frame);
  }
  run.sorted.until.clear();
}

void move(Judge& judge, Run& run) {
  std::vector<std::pair<std::string, std::string>> moved;
  const GivenOption* target = run.sorted.find("-t");
  const std::size_t count = run.sorted.operands.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Arg& arg = run.sorted.operands[i].arg;
    const bool last = i + 1 == count && !target && count > 1;
    if (last) {
      if (arg.text == "/dev/null") judge.raise(run, "fs.discard", arg.where);
      judge.writes(run, arg, Judge::Text::told);
      continue;
    }
    const Place place = judge.locate(run, arg.text);
    judge.effect(Effect::Kind::writes, place.path);
    if (place.guarded) judge.raise(run, "guard.touched", arg.where);
    if (run.frame.away) continue;
    // mv * /tmp: the workspace itself goes where things get lost.
    if ((arg.text == "*" || place.workspace_root) && count > 1 &&
        judge.locate(run, run.sorted.operands[count - 1].arg.text).area == Area::temporary)
      judge.raise(run, "fs.discard", arg.where);
    if (place.vital)
      judge.raise(run, "fs.delete.vital", arg.where);
    else if (place.area == Area::system || place.area == Area::outside || place.area == Area::home)
      judge.raise(run, "fs.move.outside", arg.where);
    if (place.credential) judge.raise(run, "secret.read", arg.where);
    if (count > 0) {
      const Place to = judge.locate(run, target ? target->value.text : run.sorted.operands[count - 1].arg.text);
      judge.mark_file(to.path, judge.file_flow(place.path));
      moved.emplace_back(place.path, to.path);
    }
  }
  if (target) judge.writes(run, target->value);
  const bool keeps = run.sorted.has("-b") || run.sorted.has("--backup");
  for (const auto& [from, to] : moved) {
    if (keeps) judge.copy_text(to, to + "~");
    judge.copy_text(from, to);
  }
  run.judged = true;
}

void copy_one(Judge& judge, const Run& run, const Arg& arg, const std::string& to) {
  const std::string from = judge.locate(run, arg.text).path;
  if (run.sorted.has("-b") || run.sorted.has("--backup")) judge.copy_text(to, to + "~");
  judge.copy_text(from, to);
  if (run.sorted.has("--parents")) judge.copy_text(from, to + "/" + std::string(arg.text));
  if (run.sorted.has("-l") || run.sorted.has("-s")) judge.link_names(from, to);
  if (arg.wildcard) judge.copy_all(from.substr(0, from.find_first_of("*?[")), to);
}

void copy(Judge& judge, Run& run) {
  if (const GivenOption* mode = run.sorted.find("-m"); mode && mode->has_value) {
    bool setid = false;
    if (lax_mode(mode->value.text, setid)) judge.raise(run, "perm.everyone", mode->value.where);
    if (setid) judge.raise(run, "perm.setid", mode->value.where);
  }
  const GivenOption* target = run.sorted.find("-t");
  const std::size_t count = run.sorted.operands.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Arg& arg = run.sorted.operands[i].arg;
    if (i + 1 == count && !target && count > 1) {
      judge.writes(run, arg, Judge::Text::told);
      const Place to = judge.locate(run, arg.text);
      const Arg& from = run.sorted.operands[0].arg;
      judge.rename_program(run, from, arg);
      Flow carried = judge.file_flow(judge.locate(run, from.text).path);
      carried |= run.out;
      judge.mark_file(to.path, carried);
      for (std::size_t k = 0; k + 1 < count; ++k) copy_one(judge, run, run.sorted.operands[k].arg, to.path);
      if (from.text == "/dev/stdin" && run.in.text) judge.write_text(to.path, *run.in.text, false);
    } else {
      judge.reads(run, arg, run.recursive);
    }
  }
  if (target) {
    judge.writes(run, target->value);
    const std::string to = judge.locate(run, target->value.text).path;
    for (const auto& from : run.sorted.operands) copy_one(judge, run, from.arg, to);
  }
  run.judged = true;
}

void make_link(Judge& judge, Run& run) {
  const auto& operands = run.sorted.operands;
  if (const GivenOption* target = run.sorted.find("-t")) {
    for (const auto& from : operands) copy_one(judge, run, from.arg, judge.locate(run, target->value.text).path);
    return;
  }
  if (operands.size() != 2) return;
  judge.rename_program(run, operands[0].arg, operands[1].arg);
  const std::string from = judge.locate(run, operands[0].arg.text).path;
  const std::string to = judge.locate(run, operands[1].arg.text).path;
  judge.copy_text(from, to);
  judge.link_names(from, to);
}

void archive(Judge& judge, Run& run) {
  const bool makes = run.sorted.has("-c") && !run.sorted.marked(Mark::extract);
  if (makes) {
    // A whole workspace on its way out is as good as its secrets.
    for (const Operand& operand : run.sorted.operands) {
      run.out.suspect |= judge.locate(run, operand.arg.text).workspace_root;
      judge.reads(run, operand.arg, true);
    }
    run.sorted.operands.clear();
  }
  if (run.sorted.marked(Mark::list_only)) {
    for (GivenOption& given : run.sorted.options) {
      if (given.name != "-f" || !given.has_value) continue;
      judge.reads(run, given.value, false);
      given.has_value = false;
    }
  }
  if (!run.sorted.marked(Mark::extract) || run.sorted.marked(Mark::list_only)) return;
  Arg destination;
  destination.text = ".";
  destination.where = run.where;
  if (const GivenOption* given = run.sorted.find("-C"); given && given->has_value) destination = given->value;
  // unrar x a.rar there/
  if (run.sorted.operands.size() > 1 && run.sorted.operands.back().arg.text.ends_with('/'))
    destination = run.sorted.operands.back().arg;
  for (std::string_view into : {"-d", "-D", "-o"}) {
    if (const GivenOption* given = run.sorted.find(into); given && given->has_value) destination = given->value;
  }
  if (const GivenOption* given = run.sorted.find("-P"); given && !given->has_value)
    judge.raise(run, "fs.archive.absolute", run.where);
  judge.at_least(run, Risk::normal);
  const Place place = judge.locate(run, destination.text);
  judge.effect(Effect::Kind::writes, place.path);
  if (!run.frame.away) {
    if (place.area == Area::system || place.path == "/")
      judge.raise(run, "fs.archive.system", destination.where);
    else if (place.area == Area::home || place.area == Area::outside)
      judge.raise(run, "fs.write.outside", destination.where);
  }
  Flow from = run.in.flow;
  for (const GivenOption& given : run.sorted.options) {
    if (given.has_value && given.name == "-f") from |= judge.file_flow(judge.locate(run, given.value.text).path);
  }
  for (const Operand& operand : run.sorted.operands) from |= judge.file_flow(judge.locate(run, operand.arg.text).path);
  if (from.network) judge.mark_file(place.path == "/" ? "/" : place.path + "/", Flow{.network = true});
  for (GivenOption& given : run.sorted.options) {
    // -f names the archive: read here, written when one is made.
    if (given.name == "-f" && given.has_value) {
      judge.reads(run, given.value, false);
      given.has_value = false;
    }
  }
  run.sorted.operands.clear();
}

/// gzip -c, xz -dc, zstd -t: the operands are only read.
void to_stdout(Judge& judge, Run& run) {
  (void)judge;
  if (!run.sorted.has("-c") && !run.sorted.has("-l") && !run.sorted.has("-t")) return;
  for (Operand& operand : run.sorted.operands) operand.role.role = static_cast<std::uint8_t>(Role::read);
}

}  // namespace cordon::risk::checks
