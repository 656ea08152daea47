#include "app/codex.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "app/child.h"
#include "base/json.h"
#include "sys/file.h"

namespace cordon::app {

namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds patience(20);
constexpr std::size_t longest_line = 16U << 20;
constexpr int id_of_list = 2;

/// One line of the conversation; nothing: it ended, or took too long.
std::optional<std::string> next_line(const sys::Fd& answers, std::string& rest,
                                     std::chrono::steady_clock::time_point until) {
  for (;;) {
    if (const std::size_t end = rest.find('\n'); end != std::string::npos) {
      std::string line = rest.substr(0, end);
      rest.erase(0, end + 1);
      return line;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    pollfd ready{answers.get(), POLLIN, 0};
    if (left.count() <= 0 || rest.size() > longest_line) return std::nullopt;
    if (::poll(&ready, 1, static_cast<int>(left.count())) <= 0) continue;
    char buffer[8192];
    const ssize_t count = ::read(answers.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    rest.append(buffer, static_cast<std::size_t>(count));
  }
}

bool is_text(const Json& object, const char* key, const std::string& value) {
  return object.contains(key) && object[key] == value;
}

CodexHook find(const Json& result, const std::string& file, const std::string& command) {
  std::error_code error;
  const std::string real = fs::weakly_canonical(file, error).string();
  for (const Json& place : result.value("data", Json::array())) {
    for (const Json& hook : place.value("hooks", Json::array())) {
      if (!is_text(hook, "command", command)) continue;
      if (!is_text(hook, "sourcePath", file) && !is_text(hook, "sourcePath", real)) continue;
      const std::string trust = hook.value("trustStatus", "");
      if (!hook.value("enabled", false)) return {.runs = false, .says = "disabled"};
      return {.runs = trust == "trusted" || trust == "managed", .says = trust};
    }
  }
  return {};
}

}  // namespace

Result<CodexHook> ask_codex(const std::string& directory, const std::string& file, const std::string& command) {
  const Child codex = TRY(Child::start("exec codex app-server 2>/dev/null"));
  const std::string said =
      Json{{"id", 1}, {"method", "initialize"}, {"params", {{"clientInfo", {{"name", "cordon"}, {"version", "1"}}}}}}
          .dump() +
      "\n" + Json{{"method", "initialized"}}.dump() + "\n" +
      Json{{"id", id_of_list}, {"method", "hooks/list"}, {"params", {{"cwds", {directory}}}}}.dump() + "\n";
  static_cast<void>(sys::write_all(codex.input(), "pipe", said));
  const auto until = std::chrono::steady_clock::now() + patience;
  std::string rest;
  // Its input stays open: at the end of it, it would go without an answer.
  while (const auto line = next_line(codex.output(), rest, until)) {
    const Json told = parse_json(*line);
    if (!told.is_object() || !told.contains("id") || told["id"] != id_of_list) continue;
    if (!told.contains("result") || !told["result"].is_object()) break;
    try {
      return find(told["result"], file, command);
    } catch (const Json::exception&) {
      break;
    }
  }
  return fail(Fault::unavailable, "codex does not tell (is it on PATH?)");
}

}  // namespace cordon::app
