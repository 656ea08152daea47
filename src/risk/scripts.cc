// The scripts of sed and vim, and SQL.
#include <algorithm>

#include "risk/code.h"

namespace cordon::risk {

namespace {

/// Walks over one sed script. Only what leaves the stream matters: e, w, r, s///e, s///w.
class Sed {
 public:
  Sed(Judge& judge, Run& run, std::string_view text, const Arg& arg)
      : judge_(judge), run_(run), text_(text), arg_(arg) {}

  void walk() {
    while (at_ < text_.size()) {
      address();
      if (at_ < text_.size()) command(text_[at_++]);
    }
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == ';' || text_[at_] == '\n' ||
                                  text_[at_] == '{' || text_[at_] == '}' || text_[at_] == '!'))
      ++at_;
  }

  void delimited(char mark) {
    bool set = false;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '\\')
        ++at_;
      else if (c == '[' && mark != '[')
        set = true;
      else if (c == ']')
        set = false;
      else if (c == mark && !set)
        return;
      else if (c == mark && set && text_.find(']', at_) == std::string_view::npos)
        return;
    }
    at_ = std::min(at_, text_.size());
  }

  void address() {
    blanks();
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if ((c >= '0' && c <= '9') || c == '$' || c == ',' || c == '~' || c == '+' || c == ' ' || c == '\x01')
        ++at_;
      else if (c == '/') {
        ++at_;
        delimited('/');
        skip_flags("IM");
      } else if (c == '\\' && at_ + 1 < text_.size()) {
        const char mark = text_[at_ + 1];
        at_ += 2;
        delimited(mark);
        skip_flags("IM");
      } else
        break;
    }
    blanks();
  }

  void skip_flags(std::string_view flags) {
    while (at_ < text_.size() && flags.find(text_[at_]) != std::string_view::npos) ++at_;
  }

  std::string rest_of_line() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    std::string rest(text_.substr(at_, end - at_));
    at_ = end;
    return rest;
  }

  void runs(const std::string& command) {
    judge_.raise(run_, "exec.inline", arg_.where);
    if (command.empty()) return;
    Arg text = judge_.synthetic(command, arg_);
    text.known = true;
    judge_.shell_text(run_, text, {});
  }

  void file(bool written) {
    const std::string path = rest_of_line();
    if (path.empty()) return;
    Arg arg = judge_.synthetic(path, arg_);
    arg.known = path.find('\x01') == std::string::npos;
    if (written)
      judge_.writes(run_, arg);
    else
      judge_.reads(run_, arg, false);
  }

  void command(char name) {
    switch (name) {
      case 's':
        substitute();
        break;
      case 'y': {
        const char mark = peek();
        ++at_;
        delimited(mark);
        delimited(mark);
        break;
      }
      case 'e':
        runs(rest_of_line());
        break;
      case 'w':
      case 'W':
        file(true);
        break;
      case 'r':
      case 'R':
        file(false);
        break;
      case 'a':
      case 'i':
      case 'c':
      case ':':
      case 'b':
      case 't':
      case 'T':
      case '#':
        skip_text(name);
        break;
      default:
        break;
    }
  }

  void skip_text(char name) {
    if (name == 'b' || name == 't' || name == 'T' || name == ':') {
      const std::size_t end = std::min(text_.find_first_of(";\n}", at_), text_.size());
      at_ = end;
      return;
    }
    while (at_ < text_.size()) {
      const std::size_t end = std::min(text_.find('\n', at_), text_.size());
      const bool continues = end > at_ && text_[end - 1] == '\\';
      at_ = std::min(end + 1, text_.size());
      if (!continues) break;
    }
  }

  void substitute() {
    const char mark = peek();
    if (mark == '\0') return;
    ++at_;
    delimited(mark);
    delimited_plain(mark);
    while (at_ < text_.size()) {
      const char flag = text_[at_];
      if (flag == 'e') {
        judge_.raise(run_, "exec.inline", arg_.where);
        ++at_;
      } else if (flag == 'w') {
        ++at_;
        file(true);
        return;
      } else if (flag == 'g' || flag == 'p' || flag == 'i' || flag == 'I' || flag == 'm' || flag == 'M' ||
                 (flag >= '0' && flag <= '9')) {
        ++at_;
      } else {
        return;
      }
    }
  }

  void delimited_plain(char mark) {
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '\\')
        ++at_;
      else if (c == mark)
        return;
    }
    at_ = std::min(at_, text_.size());
  }

  Judge& judge_;
  Run& run_;
  std::string_view text_;
  const Arg& arg_;
  std::size_t at_ = 0;
};

std::string upper(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return out;
}

/// The statements of an SQL text as lists of upper-case words; strings and comments are left out.
std::vector<std::vector<std::string>> sql_statements(std::string_view text, std::vector<std::string>& strings) {
  std::vector<std::vector<std::string>> all(1);
  std::size_t at = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '-' && text.substr(at, 2) == "--") {
      at = std::min(text.find('\n', at), text.size());
    } else if (c == '/' && text.substr(at, 2) == "/*" && text.substr(at, 3) != "/*!") {
      const std::size_t end = text.find("*/", at + 2);
      at = end == std::string_view::npos ? text.size() : end + 2;
    } else if (c == '\'' || c == '"' || c == '`') {
      std::string value;
      ++at;
      while (at < text.size() && !(text[at] == c && !(at + 1 < text.size() && text[at + 1] == c))) {
        if (text[at] == c || (text[at] == '\\' && at + 1 < text.size())) ++at;
        value += text[at++];
      }
      ++at;
      all.back().emplace_back("''");
      strings.push_back(std::move(value));
    } else if (c == ';') {
      all.emplace_back();
      ++at;
    } else if (c == '\n' && !all.back().empty() && (all.back()[0][0] == '\\' || all.back()[0][0] == '.')) {
      all.emplace_back();
      ++at;
    } else if (c == '_' || c == '\\' || c == '.' || c == '!' || c == '\x01' || (c >= '0' && c <= '9') ||
               (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      const std::size_t begin = at++;
      while (at < text.size() && (text[at] == '_' || text[at] == '.' || (text[at] >= '0' && text[at] <= '9') ||
                                  (text[at] >= 'a' && text[at] <= 'z') || (text[at] >= 'A' && text[at] <= 'Z')))
        ++at;
      all.back().push_back(upper(text.substr(begin, at - begin)));
    } else if (c == '=' || c == '|' || c == '/') {
      all.back().emplace_back(1, c);
      ++at;
    } else {
      ++at;
    }
  }
  return all;
}

bool holds_word(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_always_true(std::span<const std::string> words) {
  if (words.size() == 1) return words[0] == "TRUE" || words[0] == "1";
  return words.size() == 3 && words[1] == "=" && words[0] == words[2] && words[0] != "''";
}

/// WHERE 1=1 and WHERE a=2 OR TRUE choose everything.
bool chooses_rows(const std::vector<std::string>& words) {
  auto where = std::find(words.begin(), words.end(), "WHERE");
  if (where == words.end()) return holds_word(words, "LIMIT");
  for (auto begin = where + 1;;) {
    const auto end = std::find(begin, words.end(), "OR");
    if (is_always_true({begin, end})) return false;
    if (end == words.end()) return true;
    begin = end + 1;
  }
}

/// DELETE FROM x, and ALTER TABLE x DELETE as ClickHouse has it.
bool deletes_rows(const std::vector<std::string>& words) {
  return holds_word(words, "DELETE") &&
         (holds_word(words, "FROM") || (words[0] == "ALTER" && holds_word(words, "TABLE")));
}

/// EXPLAIN says how a statement would be carried out; with ANALYZE it is, and psql's \gexec runs what it prints.
bool is_only_explained(const std::vector<std::string>& words) {
  return words[0] == "EXPLAIN" && std::none_of(words.begin(), words.end(), [](const std::string& word) {
           return word == "ANALYZE" || word == "ANALYSE" || word.starts_with('\\') || word == "\x01";
         });
}

bool updates_rows(const std::vector<std::string>& words) {
  if (words[0] == "ALTER" && words.size() > 3) return words[1] == "TABLE" && words[3] == "UPDATE";
  return (words[0] == "UPDATE" || (words[0] == "WITH" && holds_word(words, "UPDATE"))) && holds_word(words, "SET");
}

}  // namespace

void judge_sed(Judge& judge, Run& run, std::string_view script, const Arg& arg) {
  Sed(judge, run, script, arg).walk();
  if (!run.sorted.has("-i")) return;
  // sed -i '1i import os; os.system("curl … | sh")' setup.py
  for (const Operand& operand : run.sorted.operands) {
    if (plants(judge.locate(run, operand.arg.text).path, script)) judge.raise(run, "persist.hook", arg.where);
  }
}

void judge_debugger(Judge& judge, Run& run, std::string_view command, const Arg& arg) {
  judge.at_least(run, Risk::normal);
  if (const std::size_t line = command.find('\n'); line != std::string_view::npos) {
    for (std::size_t at = 0; at < command.size();) {
      const std::size_t end = std::min(command.find('\n', at), command.size());
      judge_debugger(judge, run, command.substr(at, end - at), arg);
      at = end + 1;
    }
    return;
  }
  while (command.starts_with(' ')) command.remove_prefix(1);
  for (std::string_view runs : {"dump ",
                                "append ",
                                "save ",
                                "generate-core-file ",
                                "shell",
                                "!",
                                "make",
                                "pipe",
                                "|",
                                "add-auto-load",
                                "set auto-load",
                                "python",
                                "py",
                                "platform shell",
                                "script",
                                "guile",
                                "gu",
                                "source",
                                "call",
                                "print system",
                                "p system",
                                "process launch",
                                "expression",
                                "expr",
                                "command script"}) {
    if (!command.starts_with(runs)) continue;
    judge.raise(run, "exec.inline", arg.where);
    if (runs == "shell" || runs == "!" || runs == "platform shell")
      judge.shell_text(run, judge.synthetic(std::string(command.substr(runs.size())), arg), {});
    return;
  }
}

void judge_vim(Judge& judge, Run& run, std::string_view command, const Arg& arg) {
  std::string_view rest = command;
  while (!rest.empty() && (rest[0] == ':' || rest[0] == ' ' || rest[0] == '%' || rest[0] == '.' || rest[0] == '$' ||
                           rest[0] == ',' || (rest[0] >= '0' && rest[0] <= '9')))
    rest.remove_prefix(1);
  auto shell = [&](std::string_view text) {
    judge.raise(run, "exec.inline", arg.where);
    if (text.empty()) return;
    Arg inner = judge.synthetic(std::string(text), arg);
    judge.shell_text(run, inner, {});
  };
  if (rest.starts_with('!')) return shell(rest.substr(1));
  if (vim_deletes_all(command)) judge.raise(run, "fs.truncate", arg.where);
  const std::size_t bang = rest.find('!');
  const std::string_view word = rest.substr(0, rest.find_first_of(" !("));
  for (std::string_view runs : {"r", "read", "w", "write"}) {
    if (word == runs && bang != std::string_view::npos &&
        rest.substr(word.size()).find_first_not_of(' ') == bang - word.size() && bang > word.size())
      return shell(rest.substr(bang + 1));
  }
  // argdo %d | w: for each file, buffer or window.
  for (std::string_view each : {"argdo", "bufdo", "windo", "tabdo", "cdo", "cfdo", "ldo"}) {
    if (word == each && rest.size() > word.size()) return judge_vim(judge, run, rest.substr(word.size() + 1), arg);
  }
  for (std::string_view runs :
       {"py",    "py3", "python", "python3", "pyx",    "lua",     "ruby", "perl",    "tcl",  "term",   "terminal", "sh",
        "shell", "so",  "source", "luafile", "pyfile", "py3file", "exe",  "execute", "make", "silent", "sil"}) {
    if (word != runs) continue;
    if ((word == "silent" || word == "sil"))
      return judge_vim(judge, run, rest.substr(std::min(rest.size(), word.size() + (bang == word.size() ? 2 : 1))),
                       arg);
    judge.raise(run, "exec.inline", arg.where);
    return;
  }
  if (rest.find("system(") != std::string_view::npos || rest.find("delete(") != std::string_view::npos ||
      rest.find("libcall(") != std::string_view::npos || rest.find("| !") != std::string_view::npos ||
      rest.find("|!") != std::string_view::npos || rest.find("shell-command") != std::string_view::npos ||
      rest.find("os.execute") != std::string_view::npos || rest.find("job_start(") != std::string_view::npos ||
      rest.find("jobstart(") != std::string_view::npos || rest.find("termopen(") != std::string_view::npos ||
      rest.find("term_start(") != std::string_view::npos) {
    judge.raise(run, "exec.inline", arg.where);
    return;
  }
  for (std::string_view reads : {"r", "read", "e", "edit", "sp", "split", "vs", "vsplit", "tabe", "tabedit", "view"}) {
    if (word == reads && rest.size() > word.size() + 1 && rest[word.size()] == ' ')
      judge.reads(run, judge.synthetic(std::string(rest.substr(word.size() + 1)), arg), false);
  }
  for (std::string_view writes : {"w", "w!", "write", "sav", "saveas", "wq"}) {
    if (word == writes && rest.size() > word.size() + 1) {
      std::string path(rest.substr(rest.find(' ') == std::string_view::npos ? rest.size() : rest.find(' ') + 1));
      if (!path.empty()) judge.writes(run, judge.synthetic(path, arg));
    }
  }
  judge.at_least(run, Risk::normal);
}

/// .import FILE, .output FILE, \i FILE: lines of a database's own prompt that name files.
void Judge::prompt_files(Run& run, std::string_view text, Span where) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.size() < 3 || (line[0] != '.' && line[0] != '\\')) continue;
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos) continue;
    const std::string_view name = line.substr(0, blank);
    std::string_view path = line.substr(blank + 1);
    while (path.starts_with('-') && path.find(' ') != std::string_view::npos) path.remove_prefix(path.find(' ') + 1);
    path = path.substr(0, path.find(' '));
    Arg arg;
    arg.text = keep(std::string(path));
    arg.where = where;
    for (std::string_view reading : {".import", ".read", ".restore", "\\i", "\\ir"}) {
      if (name == reading) reads(run, arg, false);
    }
    for (std::string_view writing : {".output", ".once", ".save", ".backup", ".log", "\\o", "\\w"}) {
      if (name == writing && path != "stdout" && path != "off") writes(run, arg);
    }
  }
}

void Judge::sql(Run& run, std::string_view text, Span where) {
  prompt_files(run, text, where);
  std::vector<std::string> strings;
  for (const std::vector<std::string>& words : sql_statements(text, strings)) {
    if (words.empty() || is_only_explained(words)) continue;
    const std::string& first = words[0];
    auto any = [&](std::initializer_list<std::string_view> names) {
      return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return holds_word(words, name); });
    };
    auto is = [&](std::initializer_list<std::string_view> names) {
      return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return first == name; });
    };
    if (holds_word(words, "DROP")) raise(run, "db.drop", where);
    if (first == "TRUNCATE") raise(run, "db.truncate", where);
    if (deletes_rows(words) && !chooses_rows(words)) raise(run, "db.delete_rows", where);
    if (updates_rows(words) && !chooses_rows(words)) raise(run, "db.update_rows", where);
    // ALTER TABLE x TRUNCATE PARTITION, CLEAR COLUMN, DETACH … PERMANENTLY
    if (first == "ALTER" && any({"TRUNCATE", "CLEAR"})) raise(run, "db.truncate", where);
    if (holds_word(words, "PERMANENTLY")) raise(run, "db.drop", where);
    if (is({"GRANT", "REVOKE"}) ||
        (is({"CREATE", "ALTER"}) && any({"USER", "ROLE", "LOGIN"}) && !holds_word(words, "TABLE")))
      raise(run, "db.privilege", where);
    if (first == "ALTER" && any({"SYSTEM", "DATABASE"})) raise(run, "db.admin", where);
    if ((first == "SET" && any({"GLOBAL", "PERSIST"})) || is({"SHUTDOWN", "KILL", "RESET", "PURGE"}))
      raise(run, "db.admin", where);
    if (any({"PROGRAM", "XP_CMDSHELL", "LOAD_EXTENSION", "SYS_EXEC", "SYS_EVAL", "SP_OACREATE", "LO_EXPORT",
             "LO_IMPORT", "EDITOR", "EXECUTABLE"}) &&
        (first == "COPY" || first != "CREATE")) {
      if (first == "COPY" || first == "\\COPY" || !holds_word(words, "PROGRAM")) {
        raise(run, "db.runs", where);
        for (const std::string& command : strings) {
          Arg inner;
          inner.text = keep(command);
          inner.where = where;
          if (first == "COPY") shell_text(run, inner, {});
        }
      }
    }
    if (any({"\\!", "\\", "SYSTEM", ".SHELL", ".SYSTEM", "!"}) &&
        (first[0] == '\\' || first == ".SHELL" || first == ".SYSTEM" || first == "SYSTEM" || first == "!"))
      raise(run, "db.runs", where);
    if (any({"OUTFILE", "DUMPFILE", "INFILE", "PG_READ_FILE", "PG_LS_DIR", "PG_READ_BINARY_FILE", "LOAD_FILE",
             "READFILE", "WRITEFILE", "FTS3_TOKENIZER"}))
      raise(run, "db.files", where);
    if (first == "COPY" && !any({"STDIN", "STDOUT", "PROGRAM"})) raise(run, "db.files", where);
    if (first == "CREATE" && any({"EXTENSION"})) raise(run, "db.admin", where);
    if (first == "CREATE" && any({"FUNCTION", "PROCEDURE"}) &&
        any({"C", "PLPYTHONU", "PLPYTHON3U", "PLPERLU", "SONAME"}))
      raise(run, "db.runs", where);
    if (any({"PG_TERMINATE_BACKEND", "PG_CANCEL_BACKEND", "PG_SWITCH_WAL"})) raise(run, "db.admin", where);
    if (is({"\\O", "\\W", "\\G", "\\GX", ".OUTPUT", ".ONCE", ".IMPORT", ".READ"})) {
      const bool pipes =
          holds_word(words, "|") ||
          std::any_of(strings.begin(), strings.end(), [](const std::string& each) { return each.starts_with('|'); });
      if (pipes) raise(run, "db.runs", where);
    }
    if (is({"\\O", "\\W", ".OUTPUT", ".ONCE", ".SAVE", ".BACKUP", ".DUMP", ".EXCEL", ".LOG"}) && words.size() > 1)
      at_least(run, Risk::normal);
    if (is({"\\I", "\\IR", ".READ", ".LOAD", "SOURCE", "\\COPY", ".IMPORT", "\\G", ".RESTORE"}))
      at_least(run, Risk::normal);
    if (first == ".RESTORE") raise(run, "db.restore", where);
    if (first == ".LOAD" || first == "INSTALL" || first == "HOST" ||
        (first == "LOAD" && !any({"DATA", "XML", "INDEX", "TABLE"})))
      raise(run, "db.runs", where);
    if (is({"INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE", "CREATE",  "ALTER",   "VACUUM",  "REINDEX", "COPY",
            "CALL",   "DO",     "LOCK",   "BEGIN", "COMMIT",  "ANALYZE", "REFRESH", "CLUSTER", "COMMENT", "ATTACH"}))
      at_least(run, Risk::normal);
    if (holds_word(words, "\x01") && words.size() == 1) raise(run, "dynamic.code", where);
  }
  const bool attaches = text.find("ATTACH") != std::string_view::npos || text.find("attach") != std::string_view::npos;
  for (const std::string& each : strings) {
    // ATTACH '/etc/cron.d/x' AS x: a file that the database then writes.
    if (attaches && each.starts_with('/')) writes(run, synthetic(each, run.words[0]));
    if (each.find('/') == std::string::npos || each.find_first_of(" \n") != std::string::npos) continue;
    if (locate(run, each).credential) raise(run, "db.files", where);
  }
}

}  // namespace cordon::risk
