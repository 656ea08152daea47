// Memory for syntax trees: taken piece by piece, given back all at once. Nothing in it is ever destroyed, so only
// trivially destructible things may live here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace cordon::shell {

class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  void* take(std::size_t bytes) {
    bytes = (bytes + 7) & ~std::size_t{7};
    if (bytes > static_cast<std::size_t>(end_ - at_)) grow(bytes);
    void* taken = at_;
    at_ += bytes;
    return taken;
  }

  /// Makes the last block taken longer, if it is still the last.
  bool extend(const void* block, std::size_t from, std::size_t to) {
    from = (from + 7) & ~std::size_t{7};
    to = (to + 7) & ~std::size_t{7};
    if (static_cast<const std::byte*>(block) + from != at_) return false;
    if (to - from > static_cast<std::size_t>(end_ - at_)) return false;
    at_ += to - from;
    return true;
  }

  template <class T>
  T* make(T value = {}) {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (take(sizeof(T))) T(std::move(value));
  }

  std::string_view copy(std::string_view text) {
    if (text.empty()) return {};
    char* bytes = static_cast<char*>(take(text.size()));
    std::memcpy(bytes, text.data(), text.size());
    return {bytes, text.size()};
  }

 private:
  void grow(std::size_t bytes) {
    std::size_t size = bytes > next_ ? bytes : next_;
    if (next_ < (std::size_t{1} << 20)) next_ *= 2;
    chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(size));
    at_ = chunks_.back().get();
    end_ = at_ + size;
  }

  alignas(8) std::byte first_[4096];
  std::byte* at_ = first_;
  std::byte* end_ = first_ + sizeof first_;
  std::size_t next_ = 16384;
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
};

/// A growing array in an Arena. Copies share the elements.
template <class T>
class Seq {
 public:
  using value_type = T;

  T& push(Arena& arena, T value) {
    if (size_ == capacity_) grow(arena);
    T* place = new (data_ + size_) T(std::move(value));
    ++size_;
    return *place;
  }

  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T& front() { return data_[0]; }
  const T& front() const { return data_[0]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }
  std::uint32_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  void clear() { *this = {}; }

 private:
  void grow(Arena& arena) {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
    std::uint32_t wanted = capacity_ == 0 ? (sizeof(T) > 64 ? 2 : 4) : capacity_ * 2;
    if (capacity_ != 0 && arena.extend(data_, capacity_ * sizeof(T), wanted * sizeof(T))) {
      capacity_ = wanted;
      return;
    }
    T* moved = static_cast<T*>(arena.take(wanted * sizeof(T)));
    if (size_ != 0) std::memcpy(static_cast<void*>(moved), data_, size_ * sizeof(T));
    data_ = moved;
    capacity_ = wanted;
  }

  T* data_ = nullptr;
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = 0;
};

}  // namespace cordon::shell
