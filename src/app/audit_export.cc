// cordon audit export: the log for other programs and for people with spreadsheets.
#include <unistd.h>

#include <filesystem>
#include <iostream>

#include "app/audit_verbs.h"
#include "base/text.h"
#include "sys/directory.h"

namespace cordon::app {

namespace {

namespace fs = std::filesystem;

/// Where an export goes: a file of our own until it is whole, then its name.
class ExportFile {
 public:
  static Result<ExportFile> open(const std::string& path, bool force) {
    const fs::path target = fs::path(path).filename();
    if (target.empty() || target == "." || target == "..") return fail(Fault::invalid_input, "--output wants a file");
    const fs::path parent = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : fs::path(".");
    sys::Directory directory = TRY(sys::Directory::open(parent.string()));
    if (!force && TRY(directory.has(target.string()))) {
      return fail(Fault::conflict, "{} exists; give --force to replace it", path);
    }
    const std::string temporary = fmt::format("{}.new.{}", target.string(), ::getpid());
    // 0600, and nobody's existing file or link is written through.
    sys::Fd file = TRY(directory.open_append(temporary, sys::Create::must));
    return ExportFile(std::move(directory), std::move(file), target.string(), temporary);
  }
  ExportFile(ExportFile&&) noexcept = default;
  ExportFile& operator=(ExportFile&&) noexcept = delete;
  ExportFile(const ExportFile&) = delete;
  ExportFile& operator=(const ExportFile&) = delete;
  ~ExportFile() {
    if (!temporary_.empty()) (void)directory_.remove(temporary_);
  }

  Result<void> add(std::string_view text) {
    buffer_ += text;
    return buffer_.size() < (1 << 20) ? Result<void>() : flush();
  }
  Result<void> finish(bool force) {
    CHECK_OK(flush());
    CHECK_OK(sys::fdatasync(file_, target_));
    if (force)
      CHECK_OK(directory_.rename(temporary_, target_));
    else
      CHECK_OK(directory_.rename_new(temporary_, target_));
    temporary_.clear();
    return directory_.sync();
  }

 private:
  ExportFile(sys::Directory directory, sys::Fd file, std::string target, std::string temporary)
      : directory_(std::move(directory)),
        file_(std::move(file)),
        target_(std::move(target)),
        temporary_(std::move(temporary)) {}
  Result<void> flush() {
    if (TRY(sys::append_all(file_, buffer_, target_)) == sys::Space::full) {
      return fail(Fault::unavailable, "cannot write {}: no space left on device", directory_.path_of(target_));
    }
    buffer_.clear();
    return {};
  }

  sys::Directory directory_;
  sys::Fd file_;
  std::string target_;
  std::string temporary_;
  std::string buffer_;
};

std::string without_returns(std::string_view text) {
  std::string out(text);
  std::erase(out, '\r');
  return out;
}

Result<int> to_stdout(const std::string& directory, const audit::Filter& filter, audit::Format format) {
  // JSON escapes what a terminal would act on; the cells of a table hold it as it was.
  const bool escape = format == audit::Format::csv && is_terminal(STDOUT_FILENO);
  CHECK_OK(audit::export_records(directory, filter, format, [&](std::string_view text) -> Result<void> {
    std::cout << (escape ? visible(without_returns(text), Lines::keep) : std::string(text));
    if (!std::cout) return fail(Fault::unavailable, "cannot write to stdout");
    return {};
  }));
  std::cout.flush();
  return exit_code::done;
}

}  // namespace

Result<int> audit_export(const GlobalOptions& global, const AuditExportOptions& options) {
  const std::string directory = TRY(audit_directory(global));
  const auto format = audit::format_named(options.format);
  if (!format) return fail(Fault::invalid_input, "--format is json, jsonl or csv; not '{}'", options.format);
  audit::Filter filter = TRY(options.filter.filter(SystemClock().now()));
  std::error_code ignored;
  if (!fs::exists(directory, ignored)) return fail(Fault::unavailable, "the audit log is empty: nothing has run yet");
  CHECK_OK(warn_of_damage(directory));
  if (options.output.empty() || options.output == "-") return to_stdout(directory, filter, *format);

  ExportFile file = TRY(ExportFile::open(options.output, options.force));
  CHECK_OK(audit::export_records(directory, filter, *format, [&](std::string_view text) { return file.add(text); }));
  CHECK_OK(file.finish(options.force));
  if (global.json)
    print_json({{"success", true}, {"format", options.format}, {"output", options.output}});
  else if (!global.quiet)
    std::cout << "Exported to " << visible(options.output, Lines::escape) << '\n';
  return exit_code::done;
}

}  // namespace cordon::app
