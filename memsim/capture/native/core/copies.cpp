// Copies and fills: device memory is the process's own, so both are loops over rows.

#include <algorithm>

#include "state.h"

namespace memsim {

namespace {

const uint8_t* at(uint64_t address) { return reinterpret_cast<const uint8_t*>(address); }
uint8_t* writable(uint64_t address) { return reinterpret_cast<uint8_t*>(address); }

// Bytes from the first to behind the last that a side of a copy touches.
uint64_t span(const CopySide& side, const Copy& copy) {
  return (copy.depth - 1) * side.slice_pitch() + (copy.height - 1) * side.row_pitch() + copy.width_bytes;
}

constexpr uint64_t large_fill = 1 << 20;  // bytes; a smaller one costs less than looking for it
constexpr size_t most_known = 16;

bool is_equal(const Fill& a, const Fill& b) {
  return a.address == b.address && a.value == b.value && a.element_bytes == b.element_bytes && a.width == b.width;
}

bool is_one_row(const Fill& fill) { return fill.height == 1 && fill.depth == 1; }

// Whether memory holds the fill's value already. Benchmarks flush L2 by the same fill before each of a thousand launches.
bool is_redundant(const Fill& fill) {
  const std::vector<Fill>& known = state().known_fills;
  return is_one_row(fill) && std::any_of(known.begin(), known.end(), [&](const Fill& one) { return is_equal(one, fill); });
}

// A fill was executed: known fills of the same memory hold no longer, and it is known from now on if it is large.
void remember_fill(const Fill& fill) {
  std::vector<Fill>& known = state().known_fills;
  uint64_t bytes = fill.width * fill.element_bytes;
  if (!is_one_row(fill) || known.size() == most_known) known.clear();
  known.erase(std::remove_if(known.begin(), known.end(),
                             [&](const Fill& one) {
                               return one.address < fill.address + bytes &&
                                      fill.address < one.address + one.width * one.element_bytes;
                             }),
              known.end());
  Allocation found;
  bool only_the_gpu_writes = find_allocation(fill.address, &found) && found.kind == AllocationKind::device;
  if (is_one_row(fill) && bytes >= large_fill && only_the_gpu_writes) known.push_back(fill);
}

bool empty(const Copy& copy) { return !copy.width_bytes || !copy.height || !copy.depth; }

Status check_array_side(const CopySide& side, const Copy& copy) {
  const Array& array = *side.array;
  bool inside = side.x_bytes + copy.width_bytes <= array.row_bytes() && side.y + copy.height <= array.rows() &&
                side.z + copy.depth <= array.slices();
  return inside ? status::success : status::invalid_value;
}

Status check_side(const CopySide& side, const Copy& copy, bool must_be_device) {
  if (side.array) return check_array_side(side, copy);
  if ((copy.height > 1 || copy.depth > 1) && side.row_pitch() < side.x_bytes + copy.width_bytes)
    return 12;  // cudaErrorInvalidPitchValue
  return check_memory(side.first_byte(), span(side, copy), !must_be_device);
}

}  // namespace

uint64_t CopySide::row_pitch() const { return array ? array->row_bytes() : pitch; }
uint64_t CopySide::slice_pitch() const { return array ? array->slice_bytes() : pitch * rows; }
uint64_t CopySide::first_byte() const {
  return (array ? array->address : address) + z * slice_pitch() + y * row_pitch() + x_bytes;
}

Status check_copy(const Copy& copy) {
  if (empty(copy)) return status::success;
  bool to = copy.direction == Direction::host_to_device || copy.direction == Direction::device_to_device;
  bool from = copy.direction == Direction::device_to_host || copy.direction == Direction::device_to_device;
  if (Status failed = check_side(copy.destination, copy, to)) return failed;
  return check_side(copy.source, copy, from);
}

Status run_copy(const Copy& copy) {
  if (empty(copy)) return status::success;
  uint64_t to = copy.destination.first_byte(), from = copy.source.first_byte();
  if (copy.height == 1 && copy.depth == 1) {
    memmove(writable(to), at(from), copy.width_bytes);
    return status::success;
  }
  for (uint64_t z = 0; z < copy.depth; ++z)
    for (uint64_t y = 0; y < copy.height; ++y)
      memmove(writable(to + z * copy.destination.slice_pitch() + y * copy.destination.row_pitch()),
              at(from + z * copy.source.slice_pitch() + y * copy.source.row_pitch()), copy.width_bytes);
  return status::success;
}

protocol::Activity activity_of(const Copy& copy) {
  Allocation found;
  auto on_device = [&](const CopySide& side) {
    return side.array || (find_allocation(side.first_byte(), &found) && found.kind != AllocationKind::pinned &&
                          found.kind != AllocationKind::host);
  };
  bool to = on_device(copy.destination), from = on_device(copy.source);
  return to && from ? protocol::Activity::on_gpu : to ? protocol::Activity::to_gpu : protocol::Activity::to_host;
}

void tell_activity(protocol::Activity kind, const Stream& stream, uint64_t bytes) {
  send_only(protocol::activity, Writer().u32(uint32_t(kind)).u64(stream.id).u64(bytes));
}

uint64_t copy_ns(const Copy& copy) {
  const DeviceProperties& p = device_properties();
  auto kind = activity_of(copy);
  double rate = kind == protocol::Activity::on_gpu   ? p.copy_bytes_per_us_d2d
                : kind == protocol::Activity::to_gpu ? p.copy_bytes_per_us_h2d
                                                     : p.copy_bytes_per_us_d2h;
  double bytes = double(copy.width_bytes) * double(copy.height) * double(copy.depth);
  return uint64_t(p.copy_latency_ns + (rate > 0 ? bytes / rate * 1e3 : 0));
}

Status check_fill(const Fill& fill) {
  if (!fill.width || !fill.height || !fill.depth) return status::success;
  uint64_t row = fill.width * fill.element_bytes;
  if (fill.address % fill.element_bytes) return status::invalid_value;
  if (fill.height > 1 && fill.pitch < row) return status::invalid_value;
  uint64_t bytes = (fill.depth - 1) * fill.slice_pitch + (fill.height - 1) * fill.pitch + row;
  return check_memory(fill.address, bytes, false);
}

void forget_fills() { state().known_fills.clear(); }

Status run_fill(const Fill& fill) {
  if (is_redundant(fill)) return status::success;
  remember_fill(fill);
  for (uint64_t z = 0; z < fill.depth; ++z)
    for (uint64_t y = 0; y < fill.height; ++y) {
      uint8_t* row = writable(fill.address + z * fill.slice_pitch + y * fill.pitch);
      if (fill.element_bytes == 1) {
        memset(row, int(fill.value), fill.width);
      } else if (fill.element_bytes == 2) {
        std::fill_n(reinterpret_cast<uint16_t*>(row), fill.width, uint16_t(fill.value));
      } else {
        std::fill_n(reinterpret_cast<uint32_t*>(row), fill.width, fill.value);
      }
    }
  return status::success;
}

}  // namespace memsim
