#include <algorithm>

#include "risk/checks.h"

namespace cordon::risk::checks {

namespace {

bool own_directory(std::string_view path) {
  return path.starts_with("$PWD") || path.starts_with("${PWD}") || path.starts_with("$(pwd)") ||
         path.starts_with("`pwd`") || path.starts_with("\"$PWD");
}

void mount_source(Judge& judge, Run& run, std::string_view path, const Arg& arg) {
  if (path.empty() || own_directory(path)) return;
  if (!path.starts_with('/') && !path.starts_with('.') && !path.starts_with('~') && !path.starts_with('$'))
    return;  // a named volume
  const Place place = judge.locate(run, path);
  if (place.path.ends_with("docker.sock") || place.path.ends_with("podman.sock") ||
      place.path.ends_with("containerd.sock") || place.path.ends_with("crio.sock"))
    judge.raise(run, "container.socket", arg.where);
  else if (place.credential || place.holds_secrets)
    judge.raise(run, "container.mount_secret", arg.where);
  else if (place.guarded)
    judge.raise(run, "guard.touched", arg.where);
  else if (place.area == Area::system || place.area == Area::kernel || place.area == Area::device || place.vital ||
           place.area == Area::outside)
    judge.raise(run, "container.mount_system", arg.where);
}

/// unix:///run/docker.sock, a context that is known to mean this machine. What tcp:// reaches may lie behind a tunnel.
bool is_local_engine(std::string_view value) {
  for (std::string_view socket : {"unix:", "fd:", "npipe:", "/"}) {
    if (value.starts_with(socket)) return true;
  }
  return value.find('/') == std::string_view::npos && listed("local_engine", value);
}

std::string_view part_of(std::string_view list, std::string_view key) {
  std::size_t at = 0;
  while (at < list.size()) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const std::string_view item = list.substr(at, end - at);
    if (item.starts_with(key) && item.size() > key.size() && item[key.size()] == '=')
      return item.substr(key.size() + 1);
    at = end + 1;
  }
  return {};
}

}  // namespace

void container(Judge& judge, Run& run) {
  for (const GivenOption& given : run.sorted.options) {
    if (!given.option || given.option->spec.takes() != Role::mount || !given.has_value) continue;
    std::string_view value = given.value.text;
    if (given.name == "--mount") {
      std::string_view source = part_of(value, "source");
      if (source.empty()) source = part_of(value, "src");
      mount_source(judge, run, source, given.value);
    } else {
      mount_source(judge, run, value.substr(0, value.find(':')), given.value);
    }
  }
  for (const Operand& operand : run.sorted.operands) {
    if (operand.arg.flow.secret) judge.raise(run, "secret.read", operand.arg.where);
  }
  if (run.sorted.carried.empty()) return;
  run.judged = true;
  Frame inside = run.frame;
  inside.away = true;
  judge.carry(run, run.sorted.carried, inside);
}

/// docker --context prod stop web: what only changes a container here is another machine's service there.
void remote_engine(Judge& judge, Run& run) {
  if (run.level < Risk::normal) return;
  const std::span<const Option> own = run.sorted.program->options();
  for (const GivenOption& given : run.sorted.options) {
    // docker run -c 512: an option of the subcommand, not of the engine.
    const bool engines = given.option >= own.data() && given.option < own.data() + own.size();
    if (!engines) continue;
    const bool remote = given.name == "-r";
    const bool chooses =
        given.name == "-H" || given.name == "-c" || given.name == "--connection" || given.name == "--url";
    if (remote || (chooses && (!given.value.known || !is_local_engine(given.value.text))))
      judge.raise(run, "cloud.change", given.has_value ? given.value.where : run.where);
  }
}

void engine_variable(Judge& judge, Run& run, const Arg& value) {
  if (!value.known || !is_local_engine(value.text)) judge.raise(run, "supply.index", value.where);
}

void service(Judge& judge, Run& run) {
  for (const Arg& word : run.words.subspan(1)) {
    std::string_view name = word.text;
    if (name.ends_with(".service")) name.remove_suffix(8);
    if (listed("protection", name) && run.level >= Risk::dangerous) judge.raise(run, "protection.service", word.where);
  }
}

void signal(Judge& judge, Run& run) {
  bool own = !run.sorted.operands.empty() || run.words.size() > 1;
  bool lists = false, any = false;
  for (const Arg& word : run.words.subspan(1)) {
    const std::string_view text = word.text;
    if (text == "-l" || text == "-L") lists = true;
    if (text.starts_with('-') && text != "-1") continue;
    any = true;
    if (text == "-1" && &word != &run.words.back()) continue;
    const bool child = text == "$!" || text == "${!}" || text.starts_with('%') || text == "$$" || text == "$BASHPID";
    const bool zero = text == "-0";
    // A pid kept by the script itself: PID=$!, echo $! > server.pid; any other $(cat server.pid) is another matter.
    bool kept = false;
    if (word.word) {
      for (const Piece& piece : word.word->pieces)
        kept |= piece.kind == Piece::Kind::number || piece.variable == "!" ||
                (piece.kind == Piece::Kind::unknown && !piece.variable.empty() && piece.from.empty());
    }
    own &= child || zero || kept || word.flow.child;
  }
  if (lists) return;
  const bool probes =
      std::any_of(run.words.begin(), run.words.end(), [](const Arg& word) { return word.text == "-0"; });
  if (probes) return;
  if (any && own) {
    judge.at_least(run, Risk::normal);
    return;
  }
  judge.raise(run, "process.kill", run.where);
}

/// seq 1000000: harmless alone; not where each line becomes a process.
/// docker cp FROM TO, where NAME: before a path means that it lies in the container.
void container_copy(Judge& judge, Run& run) {
  const auto& operands = run.sorted.operands;
  for (std::size_t i = 0; i < operands.size() && i < 2; ++i) {
    const std::size_t colon = operands[i].arg.text.find(':');
    const bool inside = colon != std::string_view::npos && operands[i].arg.text.find('/') > colon;
    if (inside) continue;
    if (i == 0)
      judge.reads(run, operands[i].arg, true);
    else
      judge.writes(run, operands[i].arg);
  }
}

void counting(Judge& judge, Run& run) {
  (void)judge;
  constexpr std::size_t digits_of_many = 6;
  for (const Operand& operand : run.sorted.operands) {
    const std::string_view text = operand.arg.text;
    run.out.many |= text.size() >= digits_of_many && text.find_first_not_of("0123456789") == std::string_view::npos;
  }
}

void database(Judge& judge, Run& run) {
  run.in.flow.suspect = false;  // *.sql is what a database is meant to be given
  const auto sql = language_named("sql");
  bool given_code = false;
  for (const GivenOption& given : run.sorted.options) {
    if (!given.option || !given.has_value) continue;
    if (given.option->spec.takes() == Role::code) {
      given_code = true;
    } else if (given.option->spec.takes() == Role::script && given.value.text != "-") {
      given_code = true;
      if (const std::string* text = judge.file_text(judge.locate(run, given.value.text).path))
        judge.sql(run, *text, given.value.where);
      else
        judge.raise(run, "db.script", given.value.where);
    }
  }
  const bool file_database =
      run.sorted.program->name.view() == "sqlite3" || run.sorted.program->name.view() == "duckdb";
  if (file_database) {
    if (!run.sorted.operands.empty() && run.sorted.operands[0].arg.text != ":memory:") {
      const Place place = judge.locate(run, run.sorted.operands[0].arg.text);
      judge.effect(Effect::Kind::reads, place.path);
      if (place.credential) judge.raise(run, "secret.read", run.sorted.operands[0].arg.where);
      if (place.guarded) judge.raise(run, "guard.touched", run.sorted.operands[0].arg.where);
    }
    for (std::size_t i = 1; i < run.sorted.operands.size(); ++i) {
      given_code = true;
      judge.run_code(run, sql.value_or(0), run.sorted.operands[i].arg);
    }
    run.sorted.operands.clear();
  }
  if (given_code) return;
  if (run.in.text) {
    judge.sql(run, *run.in.text, run.where);
  } else if (run.in.from == Stdin::From::text) {
    judge.sql(run, judge.marked_text(run.in.file), run.in.file.where);
  } else if (run.in.from == Stdin::From::pipe || run.in.from == Stdin::From::file) {
    judge.at_least(run, Risk::normal);
    const bool file = run.in.from == Stdin::From::file;
    const std::string* text = file ? judge.file_text(judge.locate(run, run.in.file.text).path) : nullptr;
    if (text)
      judge.sql(run, *text, run.where);
    else if (run.in.flow.network)
      judge.raise(run, "net.run", run.where);
    else if (!file_database)
      judge.raise(run, "db.script", run.where);
  } else if (!file_database || run.sorted.options.empty()) {
    judge.at_least(run, Risk::normal);
  }
}

/// aws s3 cp, gsutil cp, rclone, mc: what goes out and what it is.
void object_copy(Judge& judge, Run& run) {
  run.judged = true;
  const std::size_t count = run.sorted.operands.size();
  if (count < 2) return;
  const Arg& from = run.sorted.operands[0].arg;
  const Arg& to = run.sorted.operands[count - 1].arg;
  auto remote = [](std::string_view text) {
    const std::size_t colon = text.find(':');
    return colon != std::string_view::npos && colon > 1 && text.find('/') > colon;
  };
  // mc cp ~/.netrc store/bucket: its stores are named like folders.
  const std::string_view program = run.words[0].text;
  const bool store = (program == "mc" || program == "mcli") && !to.text.starts_with('.') && !to.text.starts_with('/') &&
                     to.text.find('/') != std::string_view::npos && judge.locate(run, from.text).credential;
  if (!remote(from.text)) {
    const Flow before = std::exchange(run.out, Flow{});
    if (from.text == "-")
      run.out |= run.in.flow;
    else
      judge.reads(run, from, true);
    const bool secret = run.out.secret || run.out.suspect;
    run.out = before;
    if (remote(to.text) || store) judge.raise(run, secret ? "net.exfiltrates" : "cloud.upload", to.where);
    return;
  }
  if (!remote(to.text)) {
    judge.at_least(run, Risk::normal);
    run.out.network = true;
    judge.writes(run, to);
    std::string file(to.text);
    if (file == "." || file.ends_with('/')) file += "/" + std::string(from.text.substr(from.text.rfind('/') + 1));
    judge.mark_file(judge.locate(run, file).path, Flow{.network = true});
  } else {
    judge.raise(run, "cloud.change", to.where);
  }
}

/// aws SERVICE VERB-thing: the verb says what happens.
void cloud_verb(Judge& judge, Run& run) {
  const auto& operands = run.sorted.operands;
  if (operands.size() < 2 || run.sorted.chain.size() > 1) return;
  const std::string_view verb = operands[1].arg.text;
  if (listed("secret_verb", verb)) {
    judge.raise(run, "secret.service", operands[1].arg.where);
    run.out.secret = true;
  } else if (listed("query_verb", verb)) {
    run.level = std::max(run.level, Risk::safe);
  } else if (verb_risk(verb) == Risk::dangerous) {
    judge.raise(run, "cloud.delete", operands[1].arg.where);
  } else {
    judge.raise(run, "cloud.change", operands[1].arg.where);
  }
}

/// gcloud and az GROUP SUBGROUP… VERB: the last plain word that is a verb decides.
void cloud_tree(Judge& judge, Run& run) {
  if (run.sorted.chain.size() > 1) return;
  Risk found = Risk::normal;
  bool query = false, secret = false, about_secrets = false, keys = false;
  std::size_t seen = 0;
  for (const Operand& operand : run.sorted.operands) {
    if (++seen > 5) break;
    const std::string_view word = operand.arg.text;
    if (word.find('/') != std::string_view::npos) break;
    query |= word == "emulators";  // gcloud's own, on this machine
    if (listed("secret_verb", word)) secret = true;
    if ((word == "secret" || word == "secrets" || word == "keyvault") && seen <= 2) about_secrets = true;
    keys |= word == "keys" || word == "keypair";
    secret |= keys && (word == "list" || word == "show");
    if (listed("query_verb", word))
      query = true;
    else if (listed("verb_dangerous", word))
      found = Risk::dangerous;
  }
  for (const Operand& operand : run.sorted.operands)
    secret |= about_secrets && (operand.arg.text == "show" || operand.arg.text == "access" ||
                                operand.arg.text == "download" || operand.arg.text == "get");
  if (secret) {
    judge.raise(run, "secret.service", run.where);
    run.out.secret = true;
  } else if (found == Risk::dangerous) {
    judge.raise(run, "cloud.delete", run.where);
  } else if (!query) {
    judge.raise(run, "cloud.change", run.where);
  }
}

}  // namespace cordon::risk::checks

namespace cordon::risk::checks {

void cluster_query(Judge& judge, Run& run) {
  bool secrets = false;
  for (const Operand& operand : run.sorted.operands) {
    secrets |= operand.arg.flow.secret_names;  // kubectl get $(kubectl get secrets -o name)
    const std::string_view kind = operand.arg.text.substr(0, operand.arg.text.find('/'));
    for (std::string_view part : {"secret", "secrets"}) {
      secrets |= kind == part || kind.starts_with("secret,") || kind.starts_with("secrets,") ||
                 kind.ends_with(",secret") || kind.ends_with(",secrets");
    }
    break;
  }
  if (!secrets) return;
  const GivenOption* output = run.sorted.find("-o");
  // Names and ages of secrets are no secret; their content is.
  if (!output || !output->has_value || output->value.text == "name" || output->value.text == "wide") {
    run.out.secret_names = true;
    return;
  }
  judge.raise(run, "secret.service", run.where);
  run.out.secret = true;
}

namespace {

/// One command of redis: its first two words say it all, but for which keys.
void redis_command(Judge& judge, Run& run, std::string first, std::string second, bool known) {
  for (std::string* word : {&first, &second}) {
    std::transform(word->begin(), word->end(), word->begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  }
  auto is = [&](std::initializer_list<std::string_view> names) {
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return name == first; });
  };
  if (is({"FLUSHALL", "FLUSHDB"}))
    judge.raise(run, "db.drop", run.where);
  else if (is({"DEL", "UNLINK", "EXPIRE", "PEXPIRE", "GETDEL", "SPOP", "LTRIM", "ZREMRANGEBYSCORE", "ZREMRANGEBYRANK",
               "HDEL"})) {
    judge.at_least(run, Risk::normal);
    if (!known) judge.raise(run, "db.delete_rows", run.where);
  } else if (is({"SHUTDOWN", "DEBUG", "SLAVEOF", "REPLICAOF", "FAILOVER", "RESET", "SWAPDB", "MIGRATE", "RESTORE"}))
    judge.raise(run, "db.admin", run.where);
  else if (is({"CONFIG"}) && second != "GET")
    judge.raise(run, "db.admin", run.where);
  else if (is({"ACL"}) && second != "LIST" && second != "WHOAMI" && second != "GETUSER")
    judge.raise(run, "db.privilege", run.where);
  else if (is({"CLIENT"}) && second == "KILL")
    judge.raise(run, "db.admin", run.where);
  else if (is({"SCRIPT", "FUNCTION"}) && (second == "FLUSH" || second == "DELETE"))
    judge.raise(run, "db.drop", run.where);
  else if (is({"CLUSTER"}) && second != "INFO" && second != "NODES" && second != "SLOTS")
    judge.raise(run, "db.admin", run.where);
  else if (is({"EVAL", "EVALSHA", "MODULE", "FCALL"}))
    judge.raise(run, "db.runs", run.where);
  else if (is({"SET",     "SETEX",  "HSET",  "LPUSH",   "RPUSH", "SADD",  "ZADD",   "INCR",
               "DECR",    "APPEND", "MSET",  "PUBLISH", "XADD",  "SAVE",  "BGSAVE", "RENAME",
               "PERSIST", "SETNX",  "HMSET", "LPOP",    "RPOP",  "SELECT"}))
    judge.at_least(run, Risk::normal);
}

/// redis-cli <<E: one command a line.
void redis_lines(Judge& judge, Run& run, std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    std::string words[2];
    std::size_t at = 0;
    for (std::string& word : words) {
      const std::size_t begin = std::min(line.find_first_not_of(" \t", at), line.size());
      at = std::min(line.find_first_of(" \t", begin), line.size());
      word = std::string(line.substr(begin, at - begin));
    }
    const bool known = line.find_first_of("\x01$*") == std::string_view::npos;
    if (words[0].find('\x01') != std::string::npos) judge.raise(run, "db.script", run.where);
    redis_command(judge, run, words[0], words[1], known);
  }
}

}  // namespace

void redis(Judge& judge, Run& run) {
  run.judged = true;
  const auto& operands = run.sorted.operands;
  if (!operands.empty()) {
    const bool known = std::all_of(operands.begin() + 1, operands.end(), [](const Operand& o) { return o.arg.known; });
    redis_command(judge, run, std::string(operands[0].arg.text),
                  operands.size() > 1 ? std::string(operands[1].arg.text) : std::string(), known);
    return;
  }
  if (run.in.text)
    redis_lines(judge, run, *run.in.text);
  else if (run.in.from == Stdin::From::text)
    redis_lines(judge, run, judge.marked_text(run.in.file));
  else if (run.in.from != Stdin::From::terminal)
    judge.raise(run, "db.script", run.where);
}

void device(Judge& judge, Run& run) {
  for (const Operand& operand : run.sorted.operands) {
    const Place place = judge.locate(run, operand.arg.text);
    if (place.area == Area::device) judge.effect(Effect::Kind::writes, place.path);
    if (place.path == "/dev/sda" || place.path == "/dev/nvme0n1" || place.path == "/dev/vda" ||
        place.path == "/dev/xvda")
      judge.raise(run, "disk.format", operand.arg.where);
  }
}

}  // namespace cordon::risk::checks

namespace cordon::risk::checks {

/// mongosh: code on the input.
void documents(Judge& judge, Run& run) {
  if (run.sorted.has("--eval")) return;
  const auto language = language_named("javascript");
  if (run.in.from != Stdin::From::terminal && language) judge.run_stdin(run, *language);
}

/// truncate -s 0 on what is not a log: the content is gone. Only + and > and % never take anything away.
void truncation(Judge& judge, Run& run) {
  const GivenOption* size = run.sorted.find("-s");
  const bool grows = size && size->has_value && size->value.text.find_first_of("+>%") == 0;
  const GivenOption* like = run.sorted.find("-r");
  const bool as_nothing = like && like->has_value && like->value.text == "/dev/null";
  if ((!size || grows) && !as_nothing) return;
  for (const Operand& operand : run.sorted.operands) judge.empties(run, operand.arg, Emptied::may_be_new);
}

}  // namespace cordon::risk::checks
