// Texture and surface objects (CUDA Driver API, "Texture Object Management", "Surface Object Management").
#include <cstring>
#include <map>
#include <mutex>

#include "driver.h"

using namespace memsim;
using namespace memsim::driver;

namespace {

// CUDA_RESOURCE_DESC.
struct ResourceDescription {
  int type;  // 0 array, 1 mipmapped array, 2 linear, 3 two-dimensional with a pitch
  union {
    Array* array;
    MipmappedArray* mipmapped;
    struct {
      uint64_t address;
      int format;
      unsigned channels;
      size_t bytes;
    } linear;
    struct {
      uint64_t address;
      int format;
      unsigned channels;
      size_t width, height, pitch;
    } pitched;
    int reserved[32];
  };
  unsigned flags;
};
// CUDA_TEXTURE_DESC.
struct SamplingDescription {
  int address_mode[3], filter;
  unsigned flags, max_anisotropy;
  int mipmap_filter;
  float mipmap_bias, min_level, max_level, border[4];
  int reserved[12];
};
// CUDA_RESOURCE_VIEW_DESC.
struct ViewDescription {
  int format;
  size_t width, height, depth;
  unsigned first_level, last_level, first_layer, last_layer, reserved[16];
};
constexpr unsigned read_as_integer = 1, normalized_coordinates = 2, srgb = 16;

struct Texture {
  ResourceDescription resource;
  SamplingDescription sampling;
  ViewDescription view;
  bool surface;
};
std::mutex texture_lock;
std::map<uint64_t, Texture>& textures() {
  static auto* all = new std::map<uint64_t, Texture>;
  return *all;
}
const Texture* texture_of(uint64_t id) {
  auto found = textures().find(id);
  return found == textures().end() ? nullptr : &found->second;
}

int set_resource(TextureDescription& to, const ResourceDescription& from) {
  to.resource = protocol::TextureResource(from.type);
  Array texel;
  auto set_texel = [&](int format, unsigned channels) {
    if (!set_format(texel, format, channels)) return false;
    memcpy(to.bits, texel.bits, sizeof to.bits);
    to.channel_kind = texel.channel_kind;
    return true;
  };
  switch (from.type) {
    case 0:
      MEMSIM_REQUIRE(is_array(from.array), invalid_handle);
      to.set_array(*from.array);
      return status::success;
    case 1:
      MEMSIM_REQUIRE(is_array(from.mipmapped), invalid_handle);
      to.set_array(*from.mipmapped->levels.front());
      to.levels = uint32_t(from.mipmapped->levels.size());
      return status::success;
    case 2:
      MEMSIM_REQUIRE(set_texel(from.linear.format, from.linear.channels), invalid_value);
      to.address = from.linear.address;
      to.width = from.linear.bytes / texel.texel_bytes();
      to.row_bytes = from.linear.bytes;
      return status::success;
    case 3:
      MEMSIM_REQUIRE(set_texel(from.pitched.format, from.pitched.channels), invalid_value);
      to.address = from.pitched.address;
      to.width = from.pitched.width;
      to.height = from.pitched.height;
      to.row_bytes = from.pitched.pitch;
      return status::success;
    default: return status::invalid_value;
  }
}
void set_sampling(TextureDescription& to, const SamplingDescription& from) {
  for (int i = 0; i < 3; ++i) to.address_mode[i] = uint32_t(from.address_mode[i]);
  to.filter = uint32_t(from.filter);
  // The runtime's read mode: 0 the element's type, 1 normalized floating point, which integers of 8 and 16 bits become.
  to.read_mode = !(from.flags & read_as_integer) && to.channel_kind != 2 && to.bits[0] < 32;
  to.normalized = (from.flags & normalized_coordinates) != 0;
  to.srgb = (from.flags & srgb) != 0;
  to.max_anisotropy = from.max_anisotropy;
  to.mipmap_filter = uint32_t(from.mipmap_filter);
  to.mipmap_bias = from.mipmap_bias;
  to.min_level = from.min_level;
  to.max_level = from.max_level;
  memcpy(to.border, from.border, sizeof to.border);
}
int destroy(uint64_t id, bool surface) {
  {
    std::lock_guard<std::mutex> hold(texture_lock);
    MEMSIM_REQUIRE(texture_of(id), invalid_handle);
    textures().erase(id);
  }
  return destroy_texture(id, surface);
}
template <class T>
int get(T* to, uint64_t id, T Texture::*field) {
  std::lock_guard<std::mutex> hold(texture_lock);
  MEMSIM_REQUIRE(texture_of(id), invalid_handle);
  return give(to, texture_of(id)->*field);
}

}  // namespace

CU cuTexObjectCreate(uint64_t* texture, const ResourceDescription* resource, const SamplingDescription* sampling,
                     const ViewDescription* view) {
  MEMSIM_REQUIRE(texture && resource && sampling, invalid_value);
  TextureDescription description;
  MEMSIM_RETURN_IF(set_resource(description, *resource));
  set_sampling(description, *sampling);
  MEMSIM_RETURN_IF(create_texture(description, texture));
  std::lock_guard<std::mutex> hold(texture_lock);
  textures()[*texture] = {*resource, *sampling, view ? *view : ViewDescription{}, false};
  return status::success;
}
CU cuTexObjectDestroy(uint64_t texture) { return destroy(texture, false); }
CU cuTexObjectGetResourceDesc(ResourceDescription* to, uint64_t texture) { return get(to, texture, &Texture::resource); }
CU cuTexObjectGetTextureDesc(SamplingDescription* to, uint64_t texture) { return get(to, texture, &Texture::sampling); }
CU cuTexObjectGetResourceViewDesc(ViewDescription* to, uint64_t texture) { return get(to, texture, &Texture::view); }
CU cuSurfObjectCreate(uint64_t* surface, const ResourceDescription* resource) {
  MEMSIM_REQUIRE(surface && resource && resource->type == 0, invalid_value);
  TextureDescription description;
  description.surface = true;
  MEMSIM_RETURN_IF(set_resource(description, *resource));
  MEMSIM_RETURN_IF(create_texture(description, surface));
  std::lock_guard<std::mutex> hold(texture_lock);
  textures()[*surface] = {*resource, {}, {}, true};
  return status::success;
}
CU cuSurfObjectDestroy(uint64_t surface) { return destroy(surface, true); }
CU cuSurfObjectGetResourceDesc(ResourceDescription* to, uint64_t surface) { return get(to, surface, &Texture::resource); }
