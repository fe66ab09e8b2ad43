// CUDA arrays, and texture and surface objects.

#include <algorithm>

#include "state.h"

namespace memsim {

namespace {

std::shared_ptr<uint64_t> shared_storage(uint64_t address) {
  return {new uint64_t(address), [](uint64_t* held) {
            release(*held);
            delete held;
          }};
}

bool format_is_valid(const Array& description) {
  for (int bits : description.bits)
    if (bits != 0 && bits != 8 && bits != 16 && bits != 32) return false;
  return description.texel_bytes() > 0;
}

uint64_t half(uint64_t size) { return size ? std::max<uint64_t>(size / 2, 1) : 0; }

}  // namespace

Status create_array(Array description, Array** array) {
  if (!description.width || !format_is_valid(description)) return status::invalid_value;
  if (Status failed = allocate(AllocationKind::array, description.bytes(), &description.address)) return failed;
  Lock hold(state().lock);
  description.storage = shared_storage(description.address);
  *array = new Array(std::move(description));
  state().arrays.insert(*array);
  return status::success;
}

Status destroy_array(Array* array) {
  Lock hold(state().lock);
  if (!array) return status::success;
  if (!state().arrays.erase(array)) return status::invalid_handle;
  delete array;
  return status::success;
}

bool is_array(const void* handle) {
  Lock hold(state().lock);
  return state().arrays.count(handle) != 0;
}

Status create_mipmapped_array(Array description, unsigned levels, MipmappedArray** array) {
  if (!description.width || !format_is_valid(description)) return status::invalid_value;
  uint64_t largest = std::max({description.width, description.height, description.depth});
  unsigned most = 1;
  while (largest >>= 1) ++most;
  levels = std::clamp(levels, 1u, most);
  std::vector<Array> planes;
  uint64_t bytes = 0;
  bool layered = description.flags & 1;
  for (unsigned level = 0; level < levels; ++level) {
    planes.push_back(description);
    planes.back().address = bytes;
    bytes += (description.bytes() + 511) / 512 * 512;
    description.width = half(description.width);
    description.height = half(description.height);
    if (!layered) description.depth = half(description.depth);
  }
  uint64_t first;
  if (Status failed = allocate(AllocationKind::array, bytes, &first)) return failed;
  Lock hold(state().lock);
  auto storage = shared_storage(first);
  *array = new MipmappedArray;
  for (Array& plane : planes) {
    plane.address += first;
    plane.storage = storage;
    (*array)->levels.push_back(new Array(plane));
    state().arrays.insert((*array)->levels.back());
  }
  state().arrays.insert(*array);
  return status::success;
}

Status destroy_mipmapped_array(MipmappedArray* array) {
  Lock hold(state().lock);
  if (!array) return status::success;
  if (!state().arrays.erase(array)) return status::invalid_handle;
  for (Array* level : array->levels) {
    state().arrays.erase(level);
    delete level;
  }
  delete array;
  return status::success;
}

void TextureDescription::set_array(const Array& array) {
  address = array.address;
  width = array.width;
  height = array.height;
  depth = array.depth;
  row_bytes = array.row_bytes();
  slice_bytes = array.slice_bytes();
  std::copy(array.bits, array.bits + 4, bits);
  channel_kind = array.channel_kind;
  array_flags = array.flags;
}

Status create_texture(const TextureDescription& d, uint64_t* id) {
  using protocol::TextureOp;
  if (Status failed = ready()) return failed;
  State& s = state();
  Lock hold(s.lock);
  Writer out;
  out.u64(s.next_texture).u32(uint32_t(d.surface ? TextureOp::create_surface : TextureOp::create_texture));
  out.u32(uint32_t(d.resource)).u64(d.address).u64(d.width).u64(d.height).u64(d.depth);
  out.u64(d.row_bytes).u64(d.slice_bytes);
  for (int bits : d.bits) out.u32(uint32_t(bits));
  out.u32(d.channel_kind).u32(d.array_flags).u32(d.levels);
  for (uint32_t mode : d.address_mode) out.u32(mode);
  out.u32(d.filter).u32(d.read_mode).u32(d.srgb);
  for (float component : d.border) out.f32(component);
  out.u32(d.normalized).u32(d.max_anisotropy).u32(d.mipmap_filter);
  out.f32(d.mipmap_bias).f32(d.min_level).f32(d.max_level);
  send_allocations();
  Reply reply = request(protocol::texture, out);
  if (!reply.status) *id = s.next_texture++;
  return reply.status;
}

Status destroy_texture(uint64_t id, bool surface) {
  using protocol::TextureOp;
  if (!id) return status::success;
  Writer out;
  out.u64(id).u32(uint32_t(surface ? TextureOp::destroy_surface : TextureOp::destroy_texture));
  return request(protocol::texture, out).status;
}

}  // namespace memsim
