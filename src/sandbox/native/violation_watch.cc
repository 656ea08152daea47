#include "sandbox/native/violation_watch.h"

#include <signal.h>
#include <sys/eventfd.h>

namespace cordon::sandbox::native {

namespace {

cordon::Violation plain(const Violation& seen) {
  cordon::Violation result;
  result.what = seen.call.empty() ? seen.detail : seen.call + (seen.detail.empty() ? "" : "(" + seen.detail + ")");
  if (!seen.claimed_path.empty()) result.what += (result.what.empty() ? "" : " ") + seen.claimed_path;
  result.rule = fmt::format("{}{}", name_of(seen.kind), seen.evidence == Violation::Evidence::hint ? " (hint)" : "");
  result.allow = seen.allowed_by;
  result.count = static_cast<std::uint32_t>(seen.count);
  return result;
}

}  // namespace

ViolationWatch::ViolationWatch(sys::Fd listener, const FilterOptions& options)
    : listener_(std::move(listener)),
      stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      recorder_(options, ViolationRecorder::usual_limit) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { (void)serve_violations(listener_.get(), stop_.get(), recorder_); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

ViolationWatch::~ViolationWatch() {
  ::eventfd_write(stop_.get(), 1);
  if (thread_.joinable()) thread_.join();
}

std::vector<cordon::Violation> ViolationWatch::finish(std::string_view error_output) {
  ::eventfd_write(stop_.get(), 1);
  thread_.join();
  std::vector<cordon::Violation> result;
  for (const Violation& seen : recorder_.violations()) result.push_back(plain(seen));
  for (const Violation& hint : hints_in(error_output)) result.push_back(plain(hint));
  return result;
}

}  // namespace cordon::sandbox::native
