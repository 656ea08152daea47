#include <algorithm>

#include "risk/checks.h"

namespace cordon::risk::checks {

namespace {

bool looks_remote(std::string_view text) {
  if (text.find("://") != std::string_view::npos) return true;
  const std::size_t colon = text.find(':');
  const std::size_t slash = text.find('/');
  return colon != std::string_view::npos && colon > 0 && (slash == std::string_view::npos || colon < slash);
}

std::string_view remote_host(std::string_view text) {
  if (text.find("://") != std::string_view::npos) return host_of(text);
  text = text.substr(0, text.find(':'));
  const std::size_t at = text.rfind('@');
  return at == std::string_view::npos ? text : text.substr(at + 1);
}

/// --data-urlencode name@file: the name may come first, and an '=' before the '@' makes all of it text.
std::string_view encoded_file(std::string_view value) {
  const std::size_t mark = value.find_first_of("=@");
  return mark != std::string_view::npos && value[mark] == '@' ? value.substr(mark + 1) : std::string_view{};
}

/// The file that is sent in -d @file, -F name=@file, -F name=<file; empty when the data stands there itself.
std::string_view sent_file(const GivenOption& given) {
  const std::string_view value = given.value.text;
  const std::string_view name = given.option ? given.option->name.view() : given.name;
  if (name == "--data-urlencode" || name == "--url-query") return encoded_file(value);
  const bool form = given.name == "-F";
  if (!form) return value.starts_with('@') ? value.substr(1) : std::string_view{};
  const std::size_t equals = value.find('=');
  if (equals == std::string_view::npos || equals + 1 >= value.size()) return {};
  if (value[equals + 1] != '@' && value[equals + 1] != '<') return {};
  std::string_view file = value.substr(equals + 2);
  return file.substr(0, file.find(';'));
}

/// curl --connect-to localhost::evil.example, -x PROXY: the address says this machine, the bytes go elsewhere.
bool is_led_elsewhere(const Run& run) {
  return std::any_of(run.words.begin() + 1, run.words.end(), [](const Arg& word) {
    for (std::string_view option : {"--connect-to", "--resolve", "--proxy", "--preproxy", "--socks", "-x"}) {
      if (word.text.starts_with(option)) return true;
    }
    return false;
  });
}

}  // namespace

void fetch(Judge& judge, Run& run) {
  bool sends = false, changes = false, local = !is_led_elsewhere(run), any = false;
  std::vector<Arg> urls;
  for (const Operand& operand : run.sorted.operands) urls.push_back(operand.arg);
  for (const GivenOption& given : run.sorted.options) {
    if (given.option && given.option->spec.takes() == Role::url && given.has_value) urls.push_back(given.value);
  }
  for (const Arg& url : urls) {
    const std::string_view host = host_of(url.text);
    any = true;
    local &= is_local_host(host) && !url.text.starts_with('$');
    if (url.flow.token && url.text.find('?') != std::string_view::npos && !is_local_host(host))
      judge.raise(run, "net.sends", url.where);
  }
  if (run.sorted.has("-O")) {
    std::string directory;
    if (const GivenOption* into = run.sorted.find("--output-dir"); into && into->has_value)
      directory = std::string(into->value.text) + "/";
    for (const Arg& url : urls) {
      std::string_view path = url.text.substr(0, url.text.find_first_of("?#"));
      path = path.substr(path.rfind('/') + 1);
      if (!path.empty() && run.sorted.program->name.view() == "curl")
        judge.mark_file(judge.locate(run, directory + std::string(path)).path, Flow{.network = true});
    }
  }
  for (const GivenOption& given : run.sorted.options) {
    if (given.name == "-X" && given.has_value) {
      const std::string_view method = given.value.text;
      changes |= method != "GET" && method != "HEAD" && method != "OPTIONS";
      if (method == "DELETE") judge.raise(run, "net.deletes", given.value.where);
    }
    const bool header = given.name == "-H" && given.value.text.starts_with('@');
    if (given.has_value && (given.name == "-F" || given.name == "-d" || header)) {
      sends = true;
      if (given.value.flow.token && !local) judge.raise(run, "net.exfiltrates", given.value.where);
      if (given.value.text.ends_with("@-") && run.in.flow.token && !local)
        judge.raise(run, "net.exfiltrates", given.value.where);
      const std::string_view file = sent_file(given);
      if (!file.empty() && file != "-") {
        Arg path = given.value;
        path.text = file;
        const Flow before = std::exchange(run.out, Flow{});
        judge.reads(run, path, false);
        const bool secret = run.out.secret || run.out.suspect;
        run.out = before;
        const Area area = judge.locate(run, file).area;
        if (!local)
          judge.raise(run, secret || area == Area::system || area == Area::home ? "net.exfiltrates" : "net.upload",
                      given.value.where);
      }
    }
  }
  if (any && (sends || changes) && !local) judge.raise(run, "net.sends", run.where);
  run.local_only = any && local;
}

void remote_shell(Judge& judge, Run& run) {
  if (run.sorted.operands.empty() && run.sorted.line.empty()) return;
  if (!run.sorted.operands.empty())
    judge.reaches(run, run.sorted.operands[0].arg, remote_host(run.sorted.operands[0].arg.text));
  judge.at_least(run, Risk::normal);
  run.judged = true;
  if (!run.sorted.operands.empty() && run.sorted.operands[0].arg.text.starts_with("root@"))
    judge.raise(run, "privilege.root", run.where);
  if (run.sorted.line.empty()) {
    // A script on the input of a remote shell runs there.
    if (run.in.text || run.in.from == Stdin::From::text || run.in.from == Stdin::From::pipe) {
      Frame before = run.frame;
      run.frame.away = true;
      const auto shell = language_named("shell");
      if (shell) judge.run_stdin(run, *shell);
      run.frame = before;
    }
    return;
  }
  for (const Arg& word : run.sorted.line) {
    if (!word.known && word.word && word.word->pieces.size() == 1 && run.sorted.line.size() == 1)
      judge.raise(run, "dynamic.code", word.where);
  }
  Frame there = run.frame;
  there.away = true;
  judge.shell_line(run, run.sorted.line, there);
}

void remote_copy(Judge& judge, Run& run) {
  run.judged = true;
  const std::size_t count = run.sorted.operands.size();
  if (count == 0) return;
  const Arg& target = run.sorted.operands[count - 1].arg;
  const bool away = count > 1 && looks_remote(target.text);
  bool secret = false;
  for (std::size_t i = 0; i + 1 < count || (count == 1 && i < 1); ++i) {
    const Arg& arg = run.sorted.operands[i].arg;
    if (looks_remote(arg.text)) {
      judge.reaches(run, arg, remote_host(arg.text));
      judge.at_least(run, Risk::normal);
      run.out.network = true;
      continue;
    }
    const Flow before = std::exchange(run.out, Flow{});
    judge.reads(run, arg, true);
    secret |= run.out.secret || run.out.suspect || arg.flow.secret;
    run.out = before;
  }
  if (away) {
    judge.reaches(run, target, remote_host(target.text));
    judge.raise(run, secret ? "net.exfiltrates" : "net.copies_out", target.where);
    return;
  }
  if (count > 1) {
    judge.writes(run, target);
    if (run.out.network) {
      const std::string into = judge.locate(run, target.text).path;
      judge.mark_file(into, Flow{.network = true});
      for (std::size_t i = 0; i + 1 < count; ++i) {
        const std::string_view from = run.sorted.operands[i].arg.text;
        if (looks_remote(from))
          judge.mark_file(into + "/" + std::string(from.substr(from.find_last_of("/:") + 1)), Flow{.network = true});
      }
    }
  }
}

void socket_relay(Judge& judge, Run& run) {
  bool runs = false, net = false, listens = false;
  for (const Operand& operand : run.sorted.operands) {
    std::string text(operand.arg.text);
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
    for (std::string_view kind : {"EXEC:", "SYSTEM:", "SHELL:"}) runs |= text.starts_with(kind);
    for (std::string_view kind : {"TCP", "UDP", "OPENSSL", "SSL", "SCTP", "SOCKS", "PROXY", "IP", "VSOCK"})
      net |= text.starts_with(kind);
    listens |= text.find("-LISTEN") != std::string::npos || text.starts_with("TCP-L:") || text.starts_with("TCP4-L") ||
               text.starts_with("OPENSSL-L");
    if (text.starts_with("FILE:") || text.starts_with("OPEN:") || text.starts_with("GOPEN:") ||
        text.starts_with("CREATE:")) {
      std::string path(operand.arg.text.substr(operand.arg.text.find(':') + 1));
      path = path.substr(0, path.find(','));
      judge.reads(run, judge.synthetic(path, operand.arg), false);
    }
  }
  if (runs && net)
    judge.raise(run, "net.reverse_shell", run.where);
  else if (runs)
    judge.raise(run, "exec.option", run.where);
  else if (listens)
    judge.raise(run, "net.listens", run.where);
  if (net && run.out.secret) judge.raise(run, "net.exfiltrates", run.where);
}

void connect(Judge& judge, Run& run) {
  if (run.in.flow.shell) judge.raise(run, "net.reverse_shell", run.where);
  if (run.in.flow.token) judge.raise(run, "net.exfiltrates", run.where);
  // echo flush_all | nc cache 11211: plain text protocols.
  const std::string_view text = run.in.text                        ? std::string_view(*run.in.text)
                                : run.in.from == Stdin::From::text ? run.in.file.text
                                                                   : std::string_view{};
  for (std::string_view grave : {"flush_all", "FLUSHALL", "flushall", "FLUSHDB", "SHUTDOWN"}) {
    if (text.starts_with(grave)) judge.raise(run, "db.drop", run.where);
  }
  for (const Operand& operand : run.sorted.operands) {
    judge.reaches(run, operand.arg, host_of(operand.arg.text));
    break;
  }
}

}  // namespace cordon::risk::checks

namespace cordon::risk::checks {

void wget(Judge& judge, Run& run) {
  fetch(judge, run);
  const GivenOption* to = run.sorted.find("-O");
  const bool prints = to && to->has_value && (to->value.text == "-" || to->value.text == "/dev/stdout");
  if (const GivenOption* method = run.sorted.find("--method");
      method && method->has_value && method->value.text != "GET" && method->value.text != "HEAD" && !run.local_only)
    judge.raise(run, "net.sends", run.where);
  if (to || run.sorted.has("--spider") || prints) return;
  // Without -O the last part of the address becomes a file here.
  std::string directory;
  if (const GivenOption* into = run.sorted.find("-P"); into && into->has_value)
    directory = std::string(into->value.text) + "/";
  for (const Operand& operand : run.sorted.operands) {
    std::string_view url = operand.arg.text;
    url = url.substr(0, url.find_first_of("?#"));
    const std::string_view name = url.substr(url.rfind('/') + 1);
    if (!name.empty()) judge.mark_file(judge.locate(run, directory + std::string(name)).path, Flow{.network = true});
  }
}

/// http POST host a=b file@path
void request_items(Judge& judge, Run& run) {
  run.judged = true;
  bool local = false, sends = false, deletes = false, first = true;
  for (const Operand& operand : run.sorted.operands) {
    std::string method(operand.arg.text);  // xh takes it in any case
    std::transform(method.begin(), method.end(), method.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
    const std::string_view text = first ? std::string_view(method) : operand.arg.text;
    if (first && (text == "GET" || text == "HEAD" || text == "OPTIONS")) continue;
    if (first && (text == "POST" || text == "PUT" || text == "PATCH" || text == "DELETE")) {
      sends = true;
      deletes = text == "DELETE";
      continue;
    }
    if (first) {
      first = false;
      const std::string_view address = operand.arg.text;
      const std::string_view host = address.starts_with(':') ? std::string_view("localhost") : host_of(address);
      judge.reaches(run, operand.arg, host);
      local = is_local_host(host);
      const bool saves = run.sorted.has("--download") || run.sorted.has("-d");
      const std::string_view name = address.substr(address.rfind('/') + 1);
      if (saves && !local && !name.empty()) judge.mark_file(judge.locate(run, name).path, Flow{.network = true});
      continue;
    }
    const std::size_t at = text.find('@');
    if (at != std::string_view::npos && at > 0 && text.find('=') == std::string_view::npos) {
      judge.apply(run, Role::upload, 0, judge.synthetic(std::string(text.substr(at + 1)), operand.arg));
      sends = true;
    } else if (text.find('=') != std::string_view::npos && text.find("==") == std::string_view::npos) {
      sends = true;
    }
  }
  run.local_only = local;
  if (sends && !local) judge.raise(run, deletes ? "net.deletes" : "net.sends", run.where);
}

void scan_scripts(Judge& judge, Run& run) {
  bool local = !run.sorted.operands.empty();
  for (const Operand& operand : run.sorted.operands)
    local &= is_local_host(host_of(operand.arg.text)) ||
             ((operand.arg.text.starts_with("192.168.") || operand.arg.text.starts_with("10.")) &&
              operand.arg.text.find_first_of("/-*") == std::string_view::npos);
  if (!local) judge.raise(run, "net.scan", run.where);
  for (const GivenOption& given : run.sorted.options) {
    if (given.name == "--script" && given.has_value &&
        (given.value.text.find_first_of("/(") != std::string_view::npos || given.value.text.ends_with(".nse")))
      judge.raise(run, "exec.option", given.value.where);
  }
}

}  // namespace cordon::risk::checks
