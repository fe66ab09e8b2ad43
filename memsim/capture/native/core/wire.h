// Payloads of the protocol: little endian, packed.
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "../protocol.h"

namespace memsim {

class Writer {
 public:
  template <typename T>
  Writer& number(T value) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
    data_.insert(data_.end(), bytes, bytes + sizeof value);
    return *this;
  }
  Writer& u32(uint32_t value) { return number(value); }
  Writer& u64(uint64_t value) { return number(value); }
  Writer& f32(float value) { return number(value); }
  Writer& text(std::string_view value) { return u32(uint32_t(value.size())).raw(value.data(), value.size()); }
  Writer& raw(const void* from, size_t n) {
    const auto* bytes = static_cast<const uint8_t*>(from);
    data_.insert(data_.end(), bytes, bytes + n);
    return *this;
  }
  const std::vector<uint8_t>& data() const { return data_; }

 private:
  std::vector<uint8_t> data_;
};

// Reads fields in order; past the end it gives zeros and `ok` becomes false.
class Reader {
 public:
  explicit Reader(const std::vector<uint8_t>& data) : at_(data.data()), end_(data.data() + data.size()) {}
  template <typename T>
  T number() {
    T value{};
    if (size_t(end_ - at_) < sizeof value) {
      ok = false;
      at_ = end_;
      return value;
    }
    memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  uint32_t u32() { return number<uint32_t>(); }
  uint64_t u64() { return number<uint64_t>(); }
  double f64() { return number<double>(); }
  std::string text() {
    size_t n = u32();
    if (size_t(end_ - at_) < n) {
      ok = false;
      n = size_t(end_ - at_);
    }
    std::string value(reinterpret_cast<const char*>(at_), n);
    at_ += n;
    return value;
  }
  bool ok = true;

 private:
  const uint8_t* at_;
  const uint8_t* end_;
};

}  // namespace memsim
