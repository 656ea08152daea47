// From what the sandbox and the runner said to the result that callers know.
#include <csignal>
#include <cstring>

#include "base/text.h"
#include "code/runtime.h"

namespace cordon::code {

namespace {

constexpr std::string_view output_mark = "\n[Output truncated]";
constexpr std::string_view errors_mark = "\n[Error output truncated]";

std::optional<std::uint32_t> line_after(std::string_view text, const ErrorLine& where) {
  if (where.before.empty()) return std::nullopt;
  std::optional<std::uint32_t> line;
  for (std::size_t at = text.find(where.before); at != std::string_view::npos; at = text.find(where.before, at)) {
    at += where.before.size();
    std::uint32_t number = 0;
    for (std::size_t i = at; i < text.size() && i < at + 8 && text[i] >= '0' && text[i] <= '9'; ++i) {
      number = number * 10 + static_cast<std::uint32_t>(text[i] - '0');
    }
    if (number == 0) continue;
    line = number;
    if (where.which == ErrorLine::Which::first) break;
  }
  return line;
}

std::string error_line_of(std::string_view text, ErrorText which) {
  constexpr std::size_t longest = 2000;
  std::string found;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    const bool wanted = which != ErrorText::first_error || line.find("error") != std::string_view::npos;
    if (wanted || found.empty()) found = line.substr(0, longest);
    if (which == ErrorText::first_line || (which == ErrorText::first_error && wanted)) break;
  }
  return found;
}

class Conclusion {
 public:
  Conclusion(RunParts parts, RunReport report) : parts_(parts), report_(std::move(report)) {}

  CodeResult make() {
    result_.execution_ms = static_cast<std::uint64_t>(report_.duration.count() + 500) / 1000;
    result_.isolation = std::move(report_.isolation);
    result_.usage = report_.usage;
    result_.violations = std::move(report_.violations);
    result_.artifacts = std::move(parts_.reply.artifacts);
    result_.left_out = std::move(parts_.reply.left_out);
    if (parts_.reply.has_value) {
      parts_.output.add(parts_.reply.value);
      parts_.output.end_line();
    }
    result_.truncated = {parts_.output.cut(), parts_.errors.cut()};
    result_.output = parts_.output.finish(output_mark);
    result_.errors = parts_.errors.finish(errors_mark);
    judge();
    return std::move(result_);
  }

 private:
  void end(int code, std::string error) {
    result_.success = false;
    result_.exit_code = code;
    result_.error = std::move(error);
  }

  void end_by(Why why, int code, std::string error) {
    result_.killed_by = why;
    end(code, std::move(error));
  }

  void timed_out() { end_by(Why::timeout, -1, fmt::format("Execution timeout after {}ms", parts_.request.timeout_ms)); }

  void judge() {
    const Outcome& outcome = report_.outcome;
    if (!std::holds_alternative<Exited>(outcome) && !std::holds_alternative<Killed>(outcome)) result_.unrun = outcome;
    if (const auto* broken = std::get_if<Broken>(&outcome)) return end(-1, broken->error.sentence);
    if (const auto* refusal = std::get_if<Refused>(&outcome)) return end(-1, refusal->reason);
    if (std::holds_alternative<Waiting>(outcome)) return end(-1, "waits for an approval");
    const Reply& reply = parts_.reply;
    if (const auto* killed = std::get_if<Killed>(&outcome)) return judge_killed(*killed);
    if (reply.ended_by("timeout")) return timed_out();
    if (reply.ended_by("memory")) return out_of_memory();
    if (reply.ended_by("stack")) return end(1, "RangeError: Maximum call stack size exceeded");
    if (reply.ended_by("snapshot")) {
      return end(-1, "the session's state is damaged or was kept by another version of the engine");
    }
    if (reply.ended_by("engine")) {
      return end_by(Why::signal, 134,
                    "the JavaScript engine stopped by a fault of its own; it reached nothing outside");
    }
    if (reply.ended_by("lost") && reply.status) {
      return end(*reply.status, "the code ended its interpreter: the session is over");
    }
    if (!reply.done || !reply.status) {
      return end_by(Why::signal, -1, "the run ended without an answer: its code ended the process that ran it");
    }
    judge_status(*reply.status);
  }

  void judge_killed(const Killed& killed) {
    if (killed.why == Why::timeout) return timed_out();
    if (killed.why == Why::memory) return out_of_memory();
    end_by(killed.why, 128 + killed.signal, killed.sentence);
  }

  void out_of_memory() {
    // The engine keeps its own limit; a smaller one of the sandbox may have come first.
    const bool own = parts_.language.engine == Engine::javascript && std::holds_alternative<Exited>(report_.outcome);
    const std::uint64_t limit = own ? parts_.request.engine_memory : parts_.memory_bytes;
    end_by(Why::memory, 137, fmt::format("Out of memory: the limit is {} bytes", limit));
  }

  void judge_status(int status) {
    const Reply& reply = parts_.reply;
    if (parts_.language.engine == Engine::javascript) {
      result_.error_line = reply.error_line;
      if (status == 0) return succeed();
      return end(1, reply.error_name.empty() ? reply.error_message : reply.error_name + ": " + reply.error_message);
    }
    if (status == 0) return succeed();
    result_.error_line = line_after(result_.errors, parts_.language.error_line);
    if (status < 0) {
      const char* name = ::strsignal(-status);
      return end_by(Why::signal, 128 - status,
                    fmt::format("Ended by signal {} ({})", -status, name ? name : "unknown"));
    }
    std::string error = error_line_of(result_.errors, parts_.language.error_text);
    end(status, error.empty() ? fmt::format("Process exited with code {}", status) : std::move(error));
  }

  void succeed() {
    result_.success = true;
    result_.exit_code = 0;
  }

  RunParts parts_;
  RunReport report_;
  CodeResult result_;
};

}  // namespace

void KeptStream::add(std::string_view bytes) {
  const std::uint64_t room = limit_ - std::min<std::uint64_t>(limit_, text_.size());
  if (bytes.size() > room) {
    cut_ = true;
    bytes = bytes.substr(0, room);
  }
  if (bytes.empty()) return;
  text_.append(bytes);
  if (sink_) sink_->output(stream_, bytes);
}

void KeptStream::end_line() {
  if (sink_ && !cut_) sink_->output(stream_, "\n");
}

std::string KeptStream::finish(std::string_view mark) {
  if (!cut_) {
    if (text_.ends_with('\n')) text_.pop_back();
    return std::move(text_);
  }
  // Not in the middle of a character; bytes that are none stay as they are.
  std::size_t start = text_.size();
  auto byte = [this](std::size_t at) { return static_cast<unsigned char>(text_[at]); };
  while (start > 0 && text_.size() - start < 3 && (byte(start - 1) & 0xc0) == 0x80) --start;
  if (start > 0 && byte(start - 1) >= 0xc2 && byte(start - 1) <= 0xf4 && !decode_utf8(text_, start - 1)) {
    text_.resize(start - 1);
  }
  return std::move(text_) + std::string(mark);
}

CodeResult conclude(RunParts parts, RunReport report) { return Conclusion(parts, std::move(report)).make(); }

}  // namespace cordon::code
