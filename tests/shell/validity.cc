// Our parser against `bash -n`, and every tree against its own print, over the corpus and generated scripts.
// Usage: shell_validity CORPUS COUNT [SEED [--json]]
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <regex>

#include "explained.h"
#include "mutate.h"
#include "shell/parser.h"
#include "shell/printer.h"

extern char** environ;

namespace cordon::shell {
namespace {

struct Reading {
  bool valid = false;
  std::string trouble;
  std::string printed;
  bool round_trip = true;
};

struct Tree {
  Arena arena;
  Limits limits;
  Dialect dialect;
  List all;
  bool failed = false;
  bool late = false;  // a part that bash would refuse when it gets there
  std::string trouble;

  explicit Tree(std::string_view text) {
    limits.max_reread = 4 * text.size() + 65536;
    Parser parser(text, arena, limits, dialect);
    while (List* unit = parser.next_unit()) {
      for (const Item& item : unit->items) all.items.push(arena, item);
    }
    failed = parser.failed();
    late = parser.late_trouble() != nullptr;
    if (failed) trouble = parser.trouble().what;
  }
};

Reading read_by_us(const std::string& text) {
  Reading reading;
  Tree tree(text);
  reading.valid = !tree.failed;
  reading.trouble = tree.trouble;
  // What could not be read cannot be printed.
  if (tree.failed || tree.late) return reading;
  reading.printed = print(tree.all);
  Tree again(reading.printed);
  reading.round_trip = !again.failed && same(tree.all, again.all);
  return reading;
}

// bash -n ends with 0 after some mistakes inside [[ ]]: what it says on stderr counts too, unless it is a warning.
bool complains(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("/tmp/") && line.find("warning:") == std::string::npos) return true;
  }
  return false;
}

bool read_by_bash(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
  std::string path = file.string();
  std::string errors = path + ".errors";
  const char* arguments[] = {"bash", "--norc", "--noprofile", "-n", path.c_str(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t pid = 0;
  int error = posix_spawnp(&pid, "bash", &actions, nullptr, const_cast<char**>(arguments), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    std::cerr << "cannot start bash\n";
    std::exit(77);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 && !complains(errors);
}

/// By one cause, or by several together.
bool is_explained(const std::filesystem::path& file, const std::string& text) {
  const auto agreed = [&](const std::string& t) { return read_by_bash(file, t) == read_by_us(t).valid; };
  std::string without_any = text;
  for (const Explained& row : explained()) {
    if (!std::regex_search(text, row.cause)) continue;
    if (agreed(std::regex_replace(text, row.cause, row.rewrite))) return true;
    without_any = std::regex_replace(without_any, row.cause, row.rewrite);
    if (agreed(without_any)) return true;
  }
  return false;
}

// The smallest script found that still fails, so that a person can see why.
template <class F>
std::string shrink(std::string text, F fails) {
  for (std::size_t size = text.size() / 2; size > 0; size = size == 1 ? 0 : size / 2) {
    for (std::size_t at = 0; at + size <= text.size();) {
      std::string shorter = text.substr(0, at) + text.substr(at + size);
      if (fails(shorter)) {
        text = shorter;
      } else {
        at += size;
      }
    }
  }
  return text;
}

int compare(const std::vector<std::string>& scripts) {
  char directory[] = "/tmp/cordon-validity-XXXXXX";
  if (mkdtemp(directory) == nullptr) return 77;
  std::filesystem::path file = std::filesystem::path(directory) / "script";
  std::size_t valid = 0, explained_count = 0, failures = 0;
  for (const std::string& text : scripts) {
    Reading reading = read_by_us(text);
    if (!reading.round_trip) {
      ++failures;
      std::string small = shrink(text, [](const std::string& t) { return !read_by_us(t).round_trip; });
      std::cout << "ROUND TRIP\n" << small << "\n--- printed\n" << read_by_us(small).printed << "\n===\n";
    }
    bool bash = read_by_bash(file, text);
    valid += bash ? 1 : 0;
    if (bash == reading.valid) continue;
    if (is_explained(file, text)) {
      ++explained_count;
      continue;
    }
    ++failures;
    if (failures < 60) {
      auto differs = [&](const std::string& t) {
        return read_by_us(t).valid == reading.valid && read_by_bash(file, t) == bash && !is_explained(file, t);
      };
      std::string small = shrink(text, differs);
      std::cout << "bash says " << (bash ? "valid" : "invalid") << ", we say "
                << (reading.valid ? "valid" : read_by_us(small).trouble) << "\n"
                << small << "\n===\n";
    }
  }
  std::filesystem::remove_all(directory);
  std::cout << scripts.size() << " scripts, " << valid << " valid to bash, " << explained_count << " explained, "
            << failures << " failures\n";
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace cordon::shell

// One JSON object per script: what we make of it, for other programs to compare themselves with.
namespace cordon::shell {
namespace {

int write_readings(const std::vector<std::string>& scripts) {
  for (const std::string& text : scripts) {
    Reading reading = read_by_us(text);
    nlohmann::json line{{"text", text}, {"valid", reading.valid}, {"printed", reading.printed}};
    std::cout << line.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) << "\n";
  }
  return 0;
}

}  // namespace
}  // namespace cordon::shell

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  std::vector<std::string> scripts = cordon::shell::read_corpus(argv[1]);
  std::uint64_t seed = argc > 3 ? std::stoull(argv[3]) : 1;
  for (std::string& script : cordon::shell::make_scripts(scripts, seed, std::stoul(argv[2])))
    scripts.push_back(std::move(script));
  if (argc > 4 && std::string_view(argv[4]) == "--json") return cordon::shell::write_readings(scripts);
  return cordon::shell::compare(scripts);
}
