#include "guard/detached.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>

#include "base/digest.h"
#include "base/text.h"
#include "sys/file.h"
#include "sys/liveness.h"

namespace cordon::guard {

namespace {

constexpr std::size_t largest_note = 8U << 20;

Result<std::string> new_id() {
  static constexpr std::string_view alphabet = "abcdefghijkmnpqrstuvwxyz23456789";
  std::string id = "run_";
  for (const char byte : TRY(random_bytes(10))) id += alphabet[static_cast<unsigned char>(byte) % alphabet.size()];
  return id;
}

bool is_id(std::string_view id) {
  return id.starts_with("run_") && id.size() == 14 &&
         std::all_of(id.begin() + 4, id.end(), [](unsigned char c) { return std::isalnum(c) != 0; });
}

std::string text_of(const Json& json, const char* key) {
  return json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : "";
}

std::optional<DetachedRun> read_note(const std::string& directory) {
  const auto text = sys::read_file(directory + "/run.json", largest_note);
  const Json json = text ? Json::parse(*text, nullptr, false) : Json();
  if (!json.is_object()) return std::nullopt;
  const auto started = from_rfc3339(text_of(json, "started"));
  if (!started || text_of(json, "id").empty()) return std::nullopt;
  return DetachedRun{.id = text_of(json, "id"),
                     .command = text_of(json, "command"),
                     .workspace = text_of(json, "workspace"),
                     .agent = text_of(json, "agent"),
                     .keeper = text_of(json, "keeper"),
                     .started = *started,
                     .ended = from_rfc3339(text_of(json, "ended")),
                     .result = json.contains("result") ? json["result"] : Json(),
                     .directory = directory};
}

}  // namespace

bool DetachedRun::running() const { return !ended && sys::is_alive(keeper); }

std::string DetachedRun::status() const {
  if (!ended) return running() ? "running" : "lost";
  if (!result.is_object()) return "ended";
  if (result.contains("killed_by") && result["killed_by"].is_string()) {
    return "killed: " + result["killed_by"].get<std::string>();
  }
  if (result.contains("exit_code") && result["exit_code"].is_number()) {
    return fmt::format("exited {}", result["exit_code"].get<int>());
  }
  return "ended";
}

Json to_json(const DetachedRun& run) {
  return {{"id", run.id},
          {"command", run.command},
          {"status", run.status()},
          {"running", run.running()},
          {"workspace", run.workspace},
          {"agent", run.agent},
          {"started", to_rfc3339(run.started)},
          {"ended", run.ended ? Json(to_rfc3339(*run.ended)) : Json()},
          {"result", run.result}};
}

Result<void> DetachedRuns::write(const DetachedRun& run) const {
  Json json = to_json(run);
  json.erase("status");
  json.erase("running");
  json["keeper"] = run.keeper;
  return sys::replace_file(run.directory + "/run.json", json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n",
                           0600);
}

Result<DetachedRun> DetachedRuns::begin(const Request& request, Time now) const {
  DetachedRun run{.id = TRY(new_id()),
                  .command = is_utf8(request.text) ? request.text : visible(request.text, Lines::keep),
                  .workspace = request.workspace,
                  .agent = request.asker.agent,
                  .keeper = sys::own_liveness(),
                  .started = now};
  run.directory = root_ + "/" + run.id;
  CHECK_OK(sys::ensure_private_directory(run.directory));
  CHECK_OK(write(run));
  return run;
}

Result<void> DetachedRuns::end(DetachedRun run, Time now, Json result) const {
  run.ended = now;
  run.result = std::move(result);
  return write(run);
}

Result<DetachedRun> DetachedRuns::find(std::string_view id) const {
  if (is_id(id)) {
    if (auto run = read_note(root_ + "/" + std::string(id))) return *std::move(run);
  }
  return fail(Fault::invalid_input, "there is no run '{}'; see: cordon ps --all", visible(id, Lines::escape));
}

Result<std::vector<DetachedRun>> DetachedRuns::list() const {
  std::vector<DetachedRun> runs;
  std::error_code error;
  for (const auto& item : std::filesystem::directory_iterator(root_, error)) {
    if (auto run = read_note(item.path().string())) runs.push_back(*std::move(run));
  }
  std::sort(runs.begin(), runs.end(), [](const DetachedRun& a, const DetachedRun& b) { return a.started > b.started; });
  return runs;
}

Result<void> DetachedRuns::stop(const DetachedRun& run) const {
  int pid = 0;
  std::from_chars(run.keeper.data(), run.keeper.data() + run.keeper.size(), pid);
  if (pid <= 0 || run.ended) return fail(Fault::conflict, "{} is not running ({})", run.id, run.status());
  // The descriptor first, then the look: a pid that came again is not signalled.
  const sys::Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (process.get() < 0 || !sys::is_alive(run.keeper)) {
    return fail(Fault::conflict, "{} is not running ({})", run.id, run.status());
  }
  if (::syscall(SYS_pidfd_send_signal, process.get(), SIGTERM, nullptr, 0) != 0) {
    return fail(Fault::unavailable, "cannot stop {}: {}", run.id, sys::errno_text(errno));
  }
  return {};
}

void DetachedRuns::forget(Time before) const {
  const auto runs = list();
  if (!runs) return;
  for (const DetachedRun& run : *runs) {
    const bool over = run.ended ? *run.ended < before : !run.running() && run.started < before;
    std::error_code ignored;
    if (over) std::filesystem::remove_all(run.directory, ignored);
  }
}

Result<FileIo> FileIo::create(const DetachedRun& run) {
  const auto open = [&](const char* name) -> Result<sys::Fd> {
    const std::string path = run.directory + "/" + name;
    sys::Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (file.get() < 0) return fail(Fault::unavailable, "cannot create {}: {}", path, sys::errno_text(errno));
    return file;
  };
  return FileIo(TRY(open("stdout")), TRY(open("stderr")));
}

void FileIo::output(sandbox::Stream stream, std::string_view bytes) {
  const sys::Fd& file = stream == sandbox::Stream::out ? out_ : err_;
  // A full disk costs output, not the run.
  static_cast<void>(sys::write_all(file, "the run's output", bytes));
}

}  // namespace cordon::guard
