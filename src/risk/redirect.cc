// Where streams are sent: files, devices, and bash's /dev/tcp.
#include "risk/judge.h"

namespace cordon::risk {

void Judge::redirects(Run& run, const Command& command) {
  for (const Redirect& each : command.redirects) redirect(run, each, command);
}

void Judge::redirect(Run& run, const Redirect& redirect, const Command& command) {
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
  writes(run, target);
  if (redirect.fd == 1 || redirect.also_stderr || redirect.fd == -1) {
    const Place place = locate(run, target.text);
    // `> app.db` with nothing to put there empties it.
    const bool empties =
        redirect.kind == Redirect::Kind::write && place.area == Area::workspace &&
        (command.words.empty() ||
         (command.words.size() == 1 && (command.words[0].text() == ":" || command.words[0].text() == "true"))) &&
        command.piped_from.empty() && command.kind != Command::Kind::compound;
    if (empties && (place.path.ends_with(".db") || place.path.ends_with(".sqlite") || place.path.ends_with(".sqlite3")))
      raise(run, "fs.truncate", target.where);
    mark_file(place.path, run.out);
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
