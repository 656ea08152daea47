// Redirects: what they open, what a duplicate stands for, and what may fail.
#include <algorithm>

#include "model/descriptor_name.h"
#include "shell/evaluator.h"

namespace cordon::shell {

void Evaluator::take_redirects(const Seq<Redirection>& from, std::vector<Redirect>& to, const Flow& flow) {
  for (const Redirection& redirect : from) to.push_back(take_redirect(redirect, flow));
}

Redirect Evaluator::take_redirect(const Redirection& from, const Flow& flow) {
  using Kind = Redirection::Kind;
  Redirect to;
  to.where = from.where;
  bool input = from.kind == Kind::read || from.kind == Kind::read_write || from.kind == Kind::here ||
               from.kind == Kind::here_string || from.kind == Kind::duplicate_in;
  to.fd = from.has_variable ? -1 : from.fd >= 0 ? from.fd : input ? 0 : 1;
  if (from.has_variable) {
    run_subscripts(Field::literal(std::string(from.variable), from.where), flow);
    lose(from.variable.substr(0, from.variable.find('[')));
  }
  if (from.kind == Kind::here) {
    to.kind = Redirect::Kind::here_text;
    if (from.here->quoted) {
      to.target = Field::literal(std::string(from.here->text), from.where);
    } else {
      to.target = expand_one(from.here->body, Context::quoted, flow, from.where);
    }
    return to;
  }
  if (from.kind == Kind::here_string) {
    to.kind = Redirect::Kind::here_text;
    to.target = expand_one(from.target.parts, Context::assignment, flow, from.where);
    to.target.pieces.push_back({.kind = Piece::Kind::literal, .quoted = true, .text = "\n"});
    return to;
  }
  std::vector<Field> fields = expand(from.target, flow);
  if (fields.size() == 1) {
    to.target = std::move(fields[0]);
  } else {
    // bash calls it ambiguous and runs nothing.
    to.target.pieces.push_back({.kind = Piece::Kind::unknown, .text = "…"});
    for (Field& field : fields) {
      for (Piece& piece : field.pieces) to.target.pieces.push_back(std::move(piece));
    }
  }
  to.target.where = from.target.where;
  switch (from.kind) {
    case Kind::read:
      to.kind = Redirect::Kind::read;
      break;
    case Kind::write:
    case Kind::clobber:
      to.kind = Redirect::Kind::write;
      break;
    case Kind::append:
      to.kind = Redirect::Kind::append;
      break;
    case Kind::read_write:
      to.kind = Redirect::Kind::read_write;
      break;
    case Kind::both:
      to.kind = Redirect::Kind::write, to.also_stderr = true;
      break;
    case Kind::both_append:
      to.kind = Redirect::Kind::append, to.also_stderr = true;
      break;
    default: {
      std::string text = to.target.text();
      bool number = to.target.known() && !text.empty() && text.find_first_not_of("0123456789-") == std::string::npos &&
                    text.find('-') >= text.size() - 1;
      closed_ = closed_ || (to.fd >= 0 && to.fd <= 2 && (text.ends_with('-') || !to.target.known()));
      bool file = from.kind == Kind::duplicate_out && from.fd < 0 && !from.has_variable && !number;
      to.kind = file ? Redirect::Kind::write : Redirect::Kind::duplicate;
      to.also_stderr = file;
      break;
    }
  }
  return to;
}

/// Then bash does not do what they stand at.
bool Evaluator::may_fail(const std::vector<Redirect>& redirects) const {
  return std::ranges::any_of(redirects, [&](const Redirect& redirect) {
    if (redirect.kind == Redirect::Kind::here_text) return false;
    if (!redirect.target.known()) return true;
    const std::string target = redirect.target.text();
    if (redirect.kind != Redirect::Kind::duplicate)
      return target != "/dev/null" && (closed_ || (target != "/dev/stdout" && target != "/dev/stderr"));
    return target != "-" && (closed_ || (target != "0" && target != "1" && target != "2"));
  });
}

// `exec 4<<E` and later `bash <&4`: stdin is what 4 was opened for, for the first that reads it.
void Evaluator::follow_duplicates(Command& command, std::size_t own) {
  const std::size_t given = command.redirects.size();
  for (std::size_t i = 0; i < given; ++i) {
    const Redirect& redirect = command.redirects[i];
    if (redirect.kind != Redirect::Kind::duplicate || redirect.fd != 0 || !redirect.target.known()) continue;
    const std::string number = redirect.target.text();
    for (std::size_t j = 0; j < given; ++j) {
      const Redirect& opened = command.redirects[j];
      const bool source = opened.kind == Redirect::Kind::here_text || opened.kind == Redirect::Kind::read ||
                          opened.kind == Redirect::Kind::read_write;
      if (!source || opened.fd <= 0 || std::to_string(opened.fd) != number || (j < own && j > i)) continue;
      Redirect stdin_now = opened;
      stdin_now.fd = 0;
      if (j >= own) ++shared_inputs_[opened.fd];
      if (opened.kind == Redirect::Kind::here_text && stdin_now.target.known()) command.input = opened.target.text();
      command.redirects.push_back(std::move(stdin_now));
      return;
    }
    return;
  }
}

// `exec 3> x` and later `echo y >&3`: it goes into x.
void Evaluator::follow_output(Command& command) {
  const std::size_t given = command.redirects.size();
  for (std::size_t i = 0; i < given; ++i) {
    const Redirect& redirect = command.redirects[i];
    if (redirect.kind != Redirect::Kind::duplicate || redirect.fd != 1 || !redirect.target.known()) continue;
    const std::string number = redirect.target.text();
    for (std::size_t j = 0; j < given; ++j) {
      const Redirect& opened = command.redirects[j];
      const bool file = opened.kind == Redirect::Kind::write || opened.kind == Redirect::Kind::append ||
                        opened.kind == Redirect::Kind::read_write;
      if (!file || opened.fd <= 2 || std::to_string(opened.fd) != number) continue;
      Redirect stdout_now = opened;
      stdout_now.fd = 1;
      stdout_now.kind = Redirect::Kind::append;
      command.redirects.push_back(std::move(stdout_now));
      return;
    }
    return;
  }
}

/// Who reads from a descriptor takes from all that stand for the same.
void Evaluator::share_input(const std::vector<Redirect>& redirects, const Flow& flow) {
  if (flow.input == nullptr) return;
  for (const Redirect& redirect : redirects) {
    if (!names_descriptor(redirect)) continue;
    const bool closes =
        redirect.kind == Redirect::Kind::duplicate && redirect.target.known() && redirect.target.text() == "-";
    const bool plain = redirect.fd != 0 && redirect.target.known() &&
                       (redirect.target.text() == "1" || redirect.target.text() == "2" ||
                        redirect.target.text() == "/dev/stderr" || redirect.target.text() == "/dev/stdout");
    if (!closes && !plain) flow.input->text = std::nullopt;
  }
}

bool names_descriptor(const Redirect& redirect) {
  if (redirect.kind == Redirect::Kind::duplicate) return true;
  return redirect.kind != Redirect::Kind::here_text && redirect.target.known() &&
         descriptor_named(redirect.target.text()).has_value();
}

bool Evaluator::writes_elsewhere(const Command& command, const Flow& /*flow*/, bool& uncertain) const {
  bool elsewhere = false;
  for (const Redirect& redirect : command.redirects) {
    bool stdout_file = redirect.fd == 1 || redirect.also_stderr;
    if (!stdout_file) {
      if (redirect.fd == -1) uncertain = true;
      continue;
    }
    std::string target = redirect.target.text();
    bool file = redirect.kind == Redirect::Kind::write || redirect.kind == Redirect::Kind::append ||
                redirect.kind == Redirect::Kind::read_write;
    bool plain = redirect.target.known() &&
                 (target == "/dev/null" || (!target.starts_with("/dev/") && !target.starts_with("/proc/")));
    if (file && plain) {
      elsewhere = true;
    } else {
      uncertain = true;
    }
  }
  return elsewhere;
}

}  // namespace cordon::shell
