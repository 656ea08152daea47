#include "serve/tools/progress.h"

namespace cordon::serve {

namespace {

constexpr auto between_reports = std::chrono::seconds(5);

}  // namespace

ReportingIo::ReportingIo(const Call& call) : call_(call), begun_(std::chrono::steady_clock::now()) {
  if (call_.progress) ticker_ = std::jthread([this](const std::stop_token& stop) { tick(stop); });
}

ReportingIo::~ReportingIo() {
  ticker_.request_stop();
  if (ticker_.joinable()) ticker_.join();
}

void ReportingIo::started() {
  const std::lock_guard lock(mutex_);
  running_ = true;
  say("running");
}

void ReportingIo::output(sandbox::Stream stream, std::string_view bytes) {
  CapturedIo::output(stream, bytes);
  if (call_.output) call_.output(stream, bytes);
  const std::lock_guard lock(mutex_);
  bytes_ += bytes.size();
}

void ReportingIo::waits_for(const std::string& approval) {
  const std::lock_guard lock(mutex_);
  approval_ = approval;
  say(message());
}

void ReportingIo::tick(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    changed_.wait_for(lock, stop, between_reports, [] { return false; });
    if (!stop.stop_requested()) say(message());
  }
}

std::string ReportingIo::message() const {
  if (!running_ && !approval_.empty()) {
    return fmt::format("waiting for approval of {}; a person runs: sandbox-queue approve {}", approval_, approval_);
  }
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begun_).count();
  return fmt::format("{} for {} s, {} bytes of output", running_ ? "running" : "preparing", seconds, bytes_);
}

void ReportingIo::say(const std::string& message) {
  if (call_.progress) call_.progress({.done = ++reports_, .message = message});
}

}  // namespace cordon::serve
