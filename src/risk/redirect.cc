// Where streams are sent: files, devices, and bash's /dev/tcp.
#include <algorithm>

#include "risk/judge.h"

namespace cordon::risk {

void Judge::redirects(Run& run, const Command& command) {
  if (command.redirects.empty()) return;
  const Streams streams = streams_of(run, command);
  for (const Redirect& each : command.redirects) redirect(run, each, command, streams);
}

Judge::Streams Judge::streams_of(const Run& run, const Command& command) const {
  Streams streams;
  streams.command = command.where;
  bool writes = false;
  for (const Redirect& each : command.redirects) {
    const bool file = each.kind == Redirect::Kind::write || each.kind == Redirect::Kind::append;
    if (file && (each.fd == 1 || each.also_stderr || each.fd == -1)) streams.output = &each;
    writes |= each.kind == Redirect::Kind::write;
    streams.joined |= each.kind == Redirect::Kind::duplicate && each.fd == 2 && each.target.text() == "1";
  }
  const Node* program = command.words.empty() ? nullptr : find_program(command.words[0].text());
  const bool reads = program && std::any_of(program->roles().begin(), program->roles().end(),
                                            [](const auto& role) { return role.kind() == Role::read; });
  streams.silent = writes && says_nothing(run, command);
  streams.own_text = streams.output != nullptr && uses_own_text(run, command);
  if (!writes || !reads) return streams;
  for (std::size_t i = 1; i < command.words.size(); ++i) {
    if (command.words[i].known()) streams.read.insert(command.words[i].text());
  }
  return streams;
}

void Judge::redirect(Run& run, const Redirect& redirect, const Command& command, const Streams& streams) {
  if (redirect.kind == Redirect::Kind::duplicate && redirect.target.text().find("COPROC") != std::string::npos) {
    const Node* program = command.words.empty() ? nullptr : find_program(command.words[0].text());
    if (program && program->base.has(Mark::net)) raise(run, "net.reverse_shell", redirect.where);
  }
  if (redirect.kind == Redirect::Kind::duplicate || redirect.kind == Redirect::Kind::here_text) return;
  Arg target = arg_of(redirect.target);
  target.where = redirect.where;
  if (target.text.starts_with("/dev/tcp/") || target.text.starts_with("/dev/udp/")) {
    socket_redirect(run, target, command);
    return;
  }
  if (redirect.kind == Redirect::Kind::read) {
    reads(run, target, false);
    return;
  }
  const bool to_process = redirect.target.has(Piece::Kind::process_out);
  if (to_process) return;
  if (!target.known && !target.flow.temporary && target.text.starts_with('$')) at_least(run, Risk::normal);
  const bool was_whole = is_whole(locate(run, target.text).path);
  writes(run, target, Text::told);
  if (redirect.kind == Redirect::Kind::write) redirect_empties(run, target, redirect, streams);
  // What bash and programs complain of, in words that the script may have chosen.
  const bool complaints = redirect.fd == 2 || redirect.also_stderr || streams.joined;
  if (complaints) {
    const std::string path = locate(run, target.text).path;
    mark_file(path, Flow{.decoded = true});
    if (file_text(path)) may_hold(path, "$unknown");
  }
  if (redirect.fd == 1 || redirect.also_stderr || redirect.fd == -1) {
    const Place place = locate(run, target.text);
    mark_file(place.path, run.out);
    // cat /bin/rm > x
    if (run.words.size() == 2 && run.words[0].text == "cat") rename_program(run, run.words[1], target);
    if (run.out.endless && place.kept()) raise(run, "system.fill", target.where);
    if (std::optional<std::string> text = output_text(run, command)) {
      const std::string* before = file_text(place.path);
      const std::string held = before ? *before : "";
      const bool append = redirect.kind == Redirect::Kind::append;
      std::vector<std::string> others;
      if (const auto earlier = earlier_.find(place.path); earlier != earlier_.end() && append && command.conditional)
        others = earlier->second;
      write_text(place.path, *text, append);
      if (before ? !append || command.conditional : append && command.conditional) may_hold(place.path, held);
      for (const std::string& other : others) may_hold(place.path, other);
      if (complaints) may_hold(place.path, "$unknown");
      if (run.words.size() == 2 && run.words[0].text == "cat")
        may_hold_same(locate(run, run.words[1].text).path, place.path);
      const bool exact = command.output || copies_exactly(run, command);
      if (target.known && exact && (was_whole || redirect.kind == Redirect::Kind::write)) whole_.insert(place.path);
      package_settings(run, place, *text, target.where);
      // A hook is as grave as what it will run.
      if (place.hook && !run.frame.away && &redirect == streams.output) run_written(run, place.path, *text, 0, target);
    } else if (file_text(place.path)) {
      may_hold(place.path, "$unknown");
    } else if (streams.own_text) {
      write_text(place.path, "$unknown\n", redirect.kind == Redirect::Kind::append);
    }
  }
}

/// rev a > b: does it make something of what this script wrote, that only it knows?
bool Judge::uses_own_text(const Run& run, const Command& command) const {
  if (run.in.text) return true;
  // What the script gave the shell, and the shell says again.
  for (std::string_view says : {"type", "declare", "typeset", "compgen", "alias", "trap", "set", "export"}) {
    if (!command.words.empty() && command.words[0].text() == says) return true;
  }
  if (written_.empty()) return false;
  return std::any_of(
      command.words.begin() + (command.words.empty() ? 0 : 1), command.words.end(),
      [&](const Word& word) { return word.known() && written_.contains(locate(run, word.text()).path); });
}

/// cat <<E, cat a: are the bytes known that come out, each of them?
bool Judge::copies_exactly(const Run& run, const Command& command) const {
  if (command.words.empty() || command.words[0].text() != "cat") return false;
  if (command.words.size() == 1) return run.in.text || (run.in.from == Stdin::From::text && run.in.file.known);
  return std::all_of(command.words.begin() + 1, command.words.end(),
                     [&](const Word& word) { return is_whole(locate(run, word.text()).path); });
}

/// What a command prints, for the few that print only what they were given.
std::optional<std::string> Judge::output_text(const Run& run, const Command& command) {
  if (command.output) return command.output;
  if (command.words.empty() || !command.words[0].known()) return std::nullopt;
  const std::string name = command.words[0].text();
  if (name == "cat" && command.words.size() == 1 && run.in.text) return *run.in.text;
  if (name == "cat" && command.words.size() == 1 && run.in.from == Stdin::From::text)
    return std::string(run.in.file.text);
  if (name == "cat" && command.words.size() > 1) {  // cat a b > c, where this script wrote a and b
    std::string all;
    for (std::size_t i = 1; i < command.words.size() && i < 16; ++i) {
      const std::string* part = file_text(locate(run, command.words[i].text()).path);
      if (!part || !may_copy(part->size())) return std::nullopt;
      all += *part;
    }
    return all;
  }
  if (!printed_.empty()) return printed_;
  if (name != "echo" && name != "printf") return std::nullopt;
  std::string text;
  std::size_t next = 1;
  if (name == "printf" && command.words.size() > 1) {
    // The format with each %s filled in order; repeated formats put one argument on each line.
    const std::string format = command.words[1].text();
    next = 2;
    for (std::size_t i = 0; i < format.size(); ++i) {
      if (format[i] == '%' && i + 1 < format.size() && format[i + 1] == 's') {
        if (next < command.words.size()) text += command.words[next++].text();
        ++i;
      } else if (format[i] == '\\' && i + 1 < format.size() && (format[i + 1] == 'n' || format[i + 1] == 't')) {
        text += format[i + 1] == 'n' ? '\n' : '\t';
        ++i;
      } else {
        text += format[i];
      }
    }
  }
  for (; next < command.words.size(); ++next) {
    if (name == "echo" && command.words[next].text() == "-e") continue;
    if (!text.empty()) text += name == "echo" ? ' ' : '\n';
    text += command.words[next].text();
  }
  return text + "\n";
}

/// Settings of package managers decide where code comes from and what runs it.
void Judge::package_settings(Run& run, const Place& place, std::string_view text, Span where) {
  const std::string_view name = std::string_view(place.path).substr(place.path.rfind('/') + 1);
  if (name != ".npmrc" && name != ".yarnrc" && name != ".yarnrc.yml" && name != "pip.conf" && name != ".pypirc" &&
      name != "nuget.config" && name != "NuGet.Config" && name != "settings.xml" && name != ".condarc")
    return;
  for (std::string_view key : {"registry", "script-shell", "node-options", "index-url", "trusted-host", "strict-ssl",
                               "npmRegistryServer", "yarnPath", "packageSources", "mirror", "channel"}) {
    if (text.find(key) != std::string_view::npos) {
      raise(run, "supply.setting", where);
      return;
    }
  }
}

void Judge::socket_redirect(Run& run, const Arg& target, const Command& command) {
  std::string_view rest = target.text.substr(9);
  const std::string_view host = rest.substr(0, rest.find('/'));
  reaches(run, target, host);
  if (run.out.secret || run.out.suspect) raise(run, "net.exfiltrates", target.where);
  const Node* program = command.words.empty() ? nullptr : find_program(command.words[0].text());
  const bool shell = program && (program->base.has(Mark::shell_out) || program->base.has(Mark::stdin_code));
  const bool opens = !command.words.empty() && command.words[0].text() == "exec";
  if (shell || run.out.shell || (opens && !is_local_host(host)))
    raise(run, "net.reverse_shell", target.where);
  else if (!is_local_host(host))
    raise(run, "net.socket", target.where);
}

}  // namespace cordon::risk
