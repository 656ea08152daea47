// What an operand or an option's value means by its role.
#include <algorithm>

#include "model/descriptor_name.h"
#include "risk/code.h"
#include "risk/judge.h"

namespace cordon::risk {

Place Judge::locate(const Run& run, std::string_view text) const {
  if (run.frame.away) {
    RiskContext there = context_;
    there.look_at_files = false;
    there.workspace = "/nowhere";
    there.home = "/home/there";
    return risk::locate(text, std::string("/nowhere"), there);
  }
  // Comparing a path with every pattern is most of the cost of judging it, and scripts name the same paths again.
  std::string key = run.frame.directory.value_or("?") + '\n' + std::string(text);
  if (auto known = places_.find(key); known != places_.end()) return known->second;
  if (places_.size() >= 1024) places_.clear();
  return places_.emplace(std::move(key), risk::locate(text, run.frame.directory, context_)).first->second;
}

void Judge::reads(Run& run, const Arg& arg, bool tree) {
  if (arg.text == "-" || arg.text.empty()) return;
  run.out |= Flow{.network = arg.flow.network, .secret = arg.flow.secret, .suspect = arg.flow.suspect};
  if (arg.flow.secret_names) {
    run.out.secret = true;
    raise(run, "secret.read", arg.where);
  }
  if ((arg.text == "/dev/zero" || arg.text == "/dev/urandom" || arg.text == "/dev/random") && run.sorted.node &&
      !run.sorted.marked(Mark::limits)) {
    run.out.endless = true;
    const std::string_view whole = run.words.empty() ? std::string_view{} : run.words[0].text;
    const std::string_view program = whole.substr(whole.rfind('/') + 1);
    // These keep all of it before they print anything.
    if (program == "tail" || program == "sort" || program == "tac" || program == "sponge")
      raise(run, "system.fill", arg.where);
  }
  if (arg.text.starts_with("/dev/tcp/") || arg.text.starts_with("/dev/udp/")) return;
  const Place place = locate(run, arg.text);
  effect(Effect::Kind::reads, place.path);
  run.out |= file_flow(place.path);
  if (place.suspect) run.out.suspect = true;
  if (place.credential) {
    run.out.secret = true;
    raise(run, "secret.read", arg.where);
  } else if (tree && place.holds_secrets) {
    run.out.secret = true;
    raise(run, "secret.tree", arg.where);
  }
  if (!place.credential && place.wildcard && could_be_credential(place.path, context_)) {
    run.out.secret = true;
    raise(run, "secret.read", arg.where);
  }
  const bool own_state = !context_.state.empty() && (place.path + "/").starts_with(context_.state + "/");
  if (place.guarded && !run.frame.away) raise(run, own_state ? "guard.touched" : "guard.read", arg.where);
  if ((place.area == Area::home || place.area == Area::outside) && !run.frame.away)
    need(Need::Kind::read_path, place.path);
}

void Judge::writes(Run& run, const Arg& arg, Text text) {
  if (arg.text == "-" || arg.text.empty()) return;
  if (arg.word && arg.word->has(Piece::Kind::process_out)) return;
  if (arg.text.starts_with('|') || arg.text.starts_with('!')) {
    raise(run, "exec.option", arg.where);
    return;
  }
  const Place place = locate(run, arg.text);
  if (!place.kept()) return;
  at_least(run, Risk::normal);
  effect(Effect::Kind::writes, place.path);
  // touch -- '--checkpoint-action=exec=sh x': waits for a tar *
  const std::string_view name = std::string_view(place.path).substr(place.path.rfind('/') + 1);
  if (listed("file_as_option", name)) raise(run, "fs.option_name", arg.where);
  whole_.erase(place.path);
  if (text == Text::unknown && file_text(place.path))
    may_hold(place.path, "$unknown");
  else if (text == Text::unknown && run.in.text && !run.words.empty() && !is_compiler(run.words[0].text))
    write_text(place.path, "$unknown\n", false);  // sort -o x <<< "$(…)"
  if (place.guarded) {
    raise(run, "guard.touched", arg.where);
    return;
  }
  if (place.persistent) {
    effect(Effect::Kind::persists, place.path);
    raise(run, "persist.startup", arg.where);
    return;
  }
  if (place.hook) raise(run, "persist.hook", arg.where);
  if (run.frame.away) return;
  switch (place.area) {
    case Area::device:
      raise(run, "disk.write", arg.where);
      break;
    case Area::kernel:
      raise(run,
            place.path.starts_with("/proc/sys/kernel/") || place.path.starts_with("/sys/fs/selinux/")
                ? "protection.kernel"
                : "system.kernel",
            arg.where);
      break;
    case Area::system:
      raise(run, "fs.write.system", arg.where);
      break;
    case Area::home:
    case Area::outside:
      raise(run, "fs.write.outside", arg.where);
      break;
    default:
      break;
  }
  if (place.area == Area::system || place.area == Area::home || place.area == Area::outside) {
    need(Need::Kind::write_path, place.path);
    if (run.uncoverable.empty()) run.uncoverable = "Writes outside the workspace";
  }
}

void Judge::deletes(Run& run, const Arg& arg) {
  if (arg.text.empty() && arg.known) return;
  const Place place = locate(run, arg.text);
  at_least(run, Risk::normal);
  effect(Effect::Kind::deletes, place.path);
  if (place.guarded) raise(run, "guard.touched", arg.where);
  if (place.vital && (run.recursive || place.wildcard)) raise(run, "fs.delete.vital", arg.where);
  if (run.recursive) raise(run, "fs.delete.recursive", arg.where);
  if (arg.wildcard) raise(run, "fs.delete.wildcard", arg.where);
  if (place.area == Area::workspace && place.workspace_root && run.recursive)
    raise(run, "fs.delete.workspace", arg.where);
  if (!arg.known && !arg.wildcard && !arg.flow.temporary) raise(run, "fs.delete.unknown", arg.where);
  if (arg.wildcard && arg.word && arg.word->has(Piece::Kind::unknown) && !arg.flow.temporary)
    raise(run, "fs.delete.unknown", arg.where);
  if (run.frame.away) return;
  if (place.area == Area::workspace &&
      (place.path.ends_with(".db") || place.path.ends_with(".sqlite") || place.path.ends_with(".sqlite3")))
    raise(run, "fs.delete.data", arg.where);
  if (place.path.find("/.git/") != std::string::npos || place.path.ends_with("/.git"))
    raise(run, "git.delete_repository", arg.where);
  if (place.persistent || place.path.ends_with("_history")) raise(run, "protection.history", arg.where);
  if (place.area == Area::system || place.area == Area::device || place.area == Area::kernel)
    raise(run, "fs.delete.system", arg.where);
  if (place.area == Area::home || place.area == Area::outside) {
    raise(run, "fs.delete.outside", arg.where);
    need(Need::Kind::write_path, place.path);
  }
}

namespace {

/// Where an address or its program says which port, and it is none of the web's: a host without one means the web.
std::string port_beyond_web(std::string_view text, std::string_view program) {
  struct Known {
    std::string_view name;
    const char* port;
  };
  std::string port;
  for (const Known& scheme : {Known{"ssh", "22"}, {"git+ssh", "22"}, {"sftp", "22"}, {"git", "9418"}, {"ftp", "21"}}) {
    if (text.starts_with(std::string(scheme.name) + "://")) port = scheme.port;
  }
  const std::size_t scheme = text.find("://");
  const bool remote_shell = program == "ssh" || program == "scp" || program == "sftp" || program == "rsync";
  if (scheme == std::string_view::npos && remote_shell) return "22";
  if (scheme != std::string_view::npos) text.remove_prefix(scheme + 3);
  text = text.substr(0, text.find_first_of("/?#$`"));
  const std::size_t colon = text.find(':', text.starts_with('[') ? text.find(']') : 0);
  if (colon != std::string_view::npos && text.find(':', colon + 1) == std::string_view::npos) {
    const std::string_view digits = text.substr(colon + 1);
    const bool number = !digits.empty() && digits.size() <= 5 &&
                        std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (number) port = digits;
  }
  return port == "80" || port == "443" ? "" : port;
}

}  // namespace

void Judge::reaches(Run& run, const Arg& arg, std::string_view host) {
  if (host.empty()) return;
  effect(Effect::Kind::reaches, host);
  if (is_metadata_host(host)) raise(run, "secret.metadata", arg.where);
  if (is_local_host(host)) {
    run.local_only = true;
    return;
  }
  run.local_only = false;
  at_least(run, Risk::normal);
  const std::string_view program = run.sorted.program ? run.sorted.program->name.view() : std::string_view();
  const std::string port = port_beyond_web(arg.text, program);
  const bool six = host.find(':') != std::string_view::npos;
  need(Need::Kind::host,
       port.empty() ? std::string(host) : fmt::format("{}{}{}:{}", six ? "[" : "", host, six ? "]" : "", port));
}

namespace {

template <typename Each>
void lines_of(const std::string& kept, Each each) {
  const std::string text = kept;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    each(std::string_view(text).substr(at, end - at));
    at = end + 1;
  }
}

/// pkg@https://…, git+ssh://…, http:, user/repo, ./local, file.tgz
std::string_view package_rule(std::string_view spec) {
  if (spec.starts_with("http://") || spec.find("@http://") != std::string_view::npos) return "supply.url";
  if (spec.find("git+") != std::string_view::npos || spec.starts_with("git:") || spec.starts_with("git@") ||
      spec.starts_with("github:") || spec.starts_with("gitlab:") || spec.starts_with("bitbucket:") ||
      spec.ends_with(".git") || spec.find("@github:") != std::string_view::npos) {
    return "supply.git";
  }
  if (spec.find("://") != std::string_view::npos) return "supply.url";
  return {};
}

}  // namespace

/// vim -S x.vim, tmux -f x.conf, ssh -F x: settings that this script wrote may run something.
void Judge::settings_text(Run& run, const Arg& arg) {
  if (written_.empty() || !arg.known) return;
  const std::string path = locate(run, arg.text).path;
  const std::string_view program = run.sorted.program->name.view();
  const std::string* text = file_text(path);
  if (!text || program == "make" || !picks_up(path)) return;
  const bool code = program == "python" || program == "node" || program == "ruby" || program == "perl";
  if (program == "vi") {
    lines_of(*text, [&](std::string_view line) {
      if (!too_deep(run)) judge_vim(*this, run, line, arg);
    });
  } else if (program == "emacs") {
    if (const auto generic = language_named("generic")) run_written(run, path, std::string(*text), *generic, arg);
  } else if (code || listed("code_file", path)) {
    run_written(run, path, std::string(*text), 0, arg);
  } else {
    run_lines(run, std::string(*text), arg);
  }
}

void Judge::apply(Run& run, Role role, std::uint8_t language, const Arg& arg) {
  switch (role) {
    case Role::read:
      reads(run, arg, run.recursive);
      break;
    case Role::tree:
      reads(run, arg, true);
      break;
    case Role::list: {
      if (arg.text.empty() || arg.text == "-") break;
      const Place place = locate(run, arg.text);
      effect(Effect::Kind::reads, place.path);
      break;
    }
    case Role::write: {
      // touch leaves what is there.
      const std::string_view name = run.words.empty() ? "" : run.words[0].text;
      const bool told = (name == "tee" && run.in.text) || name == "touch";
      writes(run, arg, told ? Text::told : Text::unknown);
      // shuf -o x -e 'rm -rf ~'
      if (run.sorted.program && run.sorted.program->name.view() == "shuf" && run.sorted.has("-e"))
        write_text(locate(run, arg.text).path, "$unknown\n", false);
      Flow flow = run.out;
      flow.network |= run.sorted.marked(Mark::net);
      if (flow.network || flow.fetched || flow.secret || flow.suspect || flow.decoded)
        mark_file(locate(run, arg.text).path, flow);
      // tee src/*.c: whatever comes in, each of them holds only that afterwards.
      if (arg.wildcard && run.words[0].text == "tee" && !run.sorted.has("-a")) raise(run, "fs.truncate", arg.where);
      if (run.in.text && name == "tee") write_text(locate(run, arg.text).path, *run.in.text, run.sorted.has("-a"));
      break;
    }
    case Role::data:
      // Subscripts are evaluated by test, unset, printf -v and their like.
      if (run.sorted.marked(Mark::opaque) &&
          (arg.text.find("[$(") != std::string_view::npos || arg.text.find("[`") != std::string_view::npos))
        raise(run, "dynamic.eval", arg.where);
      break;
    case Role::remove:
      deletes(run, arg);
      break;
    case Role::shell:
      shell_text(run, arg, {});
      break;
    case Role::exec:
      if (arg.known && !arg.text.empty())
        shell_text(run, arg, {});
      else if (!arg.known)
        raise(run, arg.flow.network ? "net.run" : "dynamic.code", arg.where);
      break;
    case Role::upload: {
      Flow before = run.out;
      run.out = {};
      reads(run, arg, false);
      const bool secret = run.out.secret || run.out.suspect;
      run.out = before;
      if (arg.text != "-") raise(run, secret ? "net.exfiltrates" : "net.upload", arg.where);
      break;
    }
    case Role::url:
      if (arg.text.find("://") != std::string_view::npos || run.sorted.marked(Mark::net)) {
        if (arg.text.starts_with("file://"))
          reads(run, synthetic(std::string(arg.text.substr(7)), arg), false);
        else if (arg.text.starts_with('/') || arg.text.starts_with('~'))
          reads(run, arg, false);
        else
          reaches(run, arg, host_of(arg.text));
      } else {
        reads(run, arg, false);
      }
      break;
    case Role::host:
      reaches(run, arg, host_of(arg.text));
      break;
    case Role::package: {
      const std::string_view rule = package_rule(arg.text);
      if (!rule.empty())
        raise(run, rule, arg.where);
      else if (!arg.known && !arg.wildcard)
        raise(run, "dynamic.package", arg.where);
      else if (arg.text.starts_with('/') || arg.text.starts_with("~") || arg.text.starts_with("../")) {
        const Place place = locate(run, arg.text);
        if (place.area == Area::temporary || place.area == Area::outside) raise(run, "supply.outside", arg.where);
      }
      if (!files_.empty() || !trees_.empty()) {
        const std::string path = locate(run, arg.text).path;
        Flow from = file_flow(path);
        from |= file_flow(path + "/");
        if (from.network)
          raise(run, "net.download_run", arg.where);
        else if (from.fetched && arg.text.find('/') != std::string_view::npos)
          raise(run, "exec.fetched", arg.where);
      }
      break;
    }
    case Role::library:
    case Role::config:
    case Role::project: {
      const bool input = arg.text == "-" || (arg.known && descriptor_named(arg.text) == 0);
      if (arg.flow.network || (input && run.in.flow.network)) raise(run, "net.run", arg.where);
      if (arg.word && arg.word->has(Piece::Kind::process_in)) raise(run, "dynamic.stdin", arg.where);
      if (!arg.known && !arg.wildcard && arg.text.starts_with('$') && role == Role::library)
        raise(run, "dynamic.script", arg.where);
      if (arg.text.starts_with("data:")) {  // node --import 'data:text/javascript,…'
        raise(run, "exec.library", arg.where);
        break;
      }
      if (arg.text.starts_with("file://") || arg.text.starts_with("http")) {
        raise(run, arg.text.starts_with("http") ? "net.run" : "exec.library", arg.where);
        break;
      }
      if (role == Role::config && run.sorted.program->name.view() == "make") {
        if (input && run.in.from == Stdin::From::text) run_recipes(run, std::string(run.in.file.text), arg);
        const std::string* text = input ? run.in.text : file_text(locate(run, arg.text).path);
        if (text) run_recipes(run, *text, arg);
      }
      settings_text(run, arg);
      // vim -S x.vim, java -cp x.jar: a bare name may be a file that was just downloaded.
      if ((!files_.empty() || !trees_.empty()) && arg.known) {
        for (std::string_view ending : {"", ".rb", ".js", ".py", ".pm", ".lua"}) {
          if (was_fetched(run, std::string(arg.text) + std::string(ending))) raise(run, "net.download_run", arg.where);
        }
      }
      const bool pathlike =
          arg.text.find('/') != std::string_view::npos || arg.text.starts_with('~') || role != Role::library;
      if (!pathlike || arg.text == "/dev/null" || arg.text == "-") break;
      const Place place = locate(run, arg.text);
      const Flow carried = file_flow(place.path);
      if (carried.network) raise(run, "net.download_run", arg.where);
      if ((place.area == Area::temporary && !is_whole(place.path)) || place.area == Area::outside ||
          (place.area == Area::home && role == Role::library))
        raise(run, "exec.outside_code", arg.where);
      break;
    }
    case Role::code:
      if (arg.text == "-" && run.sorted.marked(Mark::stdin_code))
        run_stdin(run, language);
      else
        run_code(run, language, arg);
      break;
    case Role::script:
      run_script_file(run, arg, language);
      break;
    case Role::pair_read:
      reads(run, arg, false);
      break;
    case Role::setting: {
      if (!arg.known && arg.word && arg.word->prefix().empty()) raise(run, "exec.option", arg.where);
      const std::size_t equals = arg.text.find('=');
      git_setting(run, arg.text.substr(0, equals),
                  equals == std::string_view::npos ? std::string_view{} : arg.text.substr(equals + 1), arg);
      break;
    }
    case Role::assign: {
      const std::size_t equals = arg.text.find('=');
      if (equals == std::string_view::npos) break;
      Arg value = arg;
      value.text = arg.text.substr(equals + 1);
      environment(run, arg.text.substr(0, equals), value);
      break;
    }
    case Role::ssh_option: {
      const std::size_t split = arg.text.find_first_of("= ");
      std::string key(arg.text.substr(0, split));
      std::transform(key.begin(), key.end(), key.begin(),
                     [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
      if (key == "stricthostkeychecking" && (arg.text.ends_with("no") || arg.text.ends_with("off")))
        raise(run, "net.insecure", arg.where);
      for (std::string_view runs :
           {"proxycommand", "localcommand", "knownhostscommand", "permitlocalcommand", "remotecommand",
            "pkcs11provider", "securitykeyprovider", "xauthlocation", "proxyusefdpass"}) {
        if (key != runs) continue;
        if (key == "proxycommand" && arg.text.ends_with("none")) break;
        raise(run, "exec.option", arg.where);
        if (split != std::string_view::npos && key.ends_with("command")) {
          Arg inner = arg;
          inner.text = arg.text.substr(split + 1);
          shell_text(run, inner, {});
        }
      }
      break;
    }
    case Role::req: {
      if (arg.text.find("://") != std::string_view::npos) raise(run, "supply.url", arg.where);
      const Flow carried = file_flow(locate(run, arg.text).path);
      if (const std::string* text = file_text(locate(run, arg.text).path)) {
        for (std::string_view setting :
             {"--index-url", "-i http", "--extra-index-url", "--find-links", "--trusted-host", "http://"})
          if (text->find(setting) != std::string::npos) raise(run, "supply.index", arg.where);
      }
      const bool stdin_itself = arg.text == "-" || (arg.known && descriptor_named(arg.text) == 0);
      if (carried.network || arg.flow.network || (stdin_itself && run.in.flow.network))
        raise(run, "supply.url", arg.where);
      break;
    }
    case Role::variable: {
      Flow flow = run.in.flow;
      mark_variable(arg.text, flow);
      Arg value = arg;
      value.text = run.in.text ? std::string_view(*run.in.text) : std::string_view("$value");
      value.known = run.in.text != nullptr;
      environment(run, arg.text, value);
      if (arg.text.find("[$(") != std::string_view::npos || arg.text.find("[`") != std::string_view::npos)
        raise(run, "dynamic.eval", arg.where);
      break;
    }
    default:
      break;
  }
}

}  // namespace cordon::risk
