#include "serve/http/exchange.h"

namespace cordon::serve::http {

namespace {

constexpr std::size_t most_waiting = 256U << 10;

}  // namespace

void Exchange::finish(const Response& response) {
  const std::lock_guard lock(lock_);
  if (begun_ || over_) return;
  begun_ = true;
  status_ = response.status;
  bytes_ = head_bytes(response, Body::length);
  bytes_ += response.body;
  close_ = response.close;
  over_ = true;
  wake();
}

void Exchange::begin(const Response& response) {
  const std::lock_guard lock(lock_);
  if (begun_ || over_) return;
  begun_ = true;
  status_ = response.status;
  bytes_ = head_bytes(response, Body::chunks);
  close_ = response.close;
  wake();
}

void Exchange::write(std::string_view bytes) {
  if (bytes.empty()) return;
  std::unique_lock lock(lock_);
  taken_.wait(lock, [this] { return bytes_.size() < most_waiting || gone_; });
  if (gone_ || over_) return;
  bytes_ += chunk(bytes);
  wake();
}

bool Exchange::try_write(std::string_view bytes) {
  const std::lock_guard lock(lock_);
  if (gone_ || over_ || bytes_.size() >= most_waiting) return false;
  bytes_ += chunk(bytes);
  wake();
  return true;
}

void Exchange::end() {
  const std::lock_guard lock(lock_);
  if (over_) return;
  if (begun_) bytes_ += last_chunk;
  // Nothing was answered at all: the end of the connection says so.
  if (!begun_) close_ = true;
  over_ = true;
  wake();
}

unsigned Exchange::status() const {
  const std::lock_guard lock(lock_);
  return status_;
}

bool Exchange::begun() const {
  const std::lock_guard lock(lock_);
  return begun_;
}

Exchange::Output Exchange::take() {
  Output output;
  {
    const std::lock_guard lock(lock_);
    output = {.bytes = std::move(bytes_), .over = over_, .close = close_};
    bytes_.clear();
  }
  taken_.notify_all();
  return output;
}

void Exchange::give_up() {
  {
    const std::lock_guard lock(lock_);
    gone_ = true;
  }
  taken_.notify_all();
  stop_.request_stop();
}

void Exchange::detach() {
  const std::lock_guard lock(lock_);
  wake_ = nullptr;
}

bool Exchange::is_endless() const {
  const std::lock_guard lock(lock_);
  return endless_;
}

void Exchange::set_endless() {
  const std::lock_guard lock(lock_);
  endless_ = true;
}

}  // namespace cordon::serve::http
