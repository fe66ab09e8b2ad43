// Texture and surface objects (CUDA Runtime API, "Texture Object Management" and "Surface Object Management").

#include <cstring>
#include <map>
#include <mutex>

#include "common.h"

namespace memsim::runtime {

ChannelFormat format_of(const Array& array);

namespace {

// What an object was made of, for the functions that tell.
struct Made {
  ResourceDescription resource;
  TextureSettings settings;
  ResourceView view;
  bool has_view;
};
std::mutex made_lock;
std::map<uint64_t, Made>& made_objects() {
  static auto* all = new std::map<uint64_t, Made>;
  return *all;
}

void set_format(TextureDescription* texture, const ChannelFormat& format) {
  const int bits[4] = {format.x, format.y, format.z, format.w};
  memcpy(texture->bits, bits, sizeof bits);
  texture->channel_kind = uint32_t(format.kind);
}

Error set_resource(const ResourceDescription& resource, TextureDescription* texture) {
  texture->resource = protocol::TextureResource(resource.type);
  switch (texture->resource) {
    case protocol::TextureResource::array:
      if (!is_array(resource.array)) return error_invalid_value;
      texture->set_array(*resource.array);
      return success;
    case protocol::TextureResource::mipmapped_array:
      if (!is_array(resource.mipmap)) return error_invalid_value;
      texture->set_array(*resource.mipmap->levels[0]);
      texture->levels = uint32_t(resource.mipmap->levels.size());
      return success;
    case protocol::TextureResource::linear: {
      const ChannelFormat& format = resource.linear.format;
      int bits = format.x + format.y + format.z + format.w;
      if (!resource.linear.pointer || bits <= 0) return error_invalid_value;
      set_format(texture, format);
      texture->address = address_of(resource.linear.pointer);
      texture->width = resource.linear.bytes * 8 / size_t(bits);
      texture->row_bytes = texture->slice_bytes = resource.linear.bytes;
      return success;
    }
    case protocol::TextureResource::pitch2d:
      if (!resource.pitch2d.pointer || resource.pitch2d.pitch % 32) return error_invalid_value;
      set_format(texture, resource.pitch2d.format);
      texture->address = address_of(resource.pitch2d.pointer);
      texture->width = resource.pitch2d.width;
      texture->height = resource.pitch2d.height;
      texture->row_bytes = resource.pitch2d.pitch;
      texture->slice_bytes = resource.pitch2d.pitch * resource.pitch2d.height;
      return success;
  }
  return error_invalid_value;
}

// cudaErrorInvalidFilterSetting, cudaErrorInvalidNormSetting
constexpr Error error_invalid_filter = 26, error_invalid_norm = 27;

Error set_sampling(const TextureSettings& settings, TextureDescription* texture) {
  constexpr int linear = 1, normalized_float = 1;
  bool is_float = texture->channel_kind == 2;
  if (settings.filter == linear && !is_float && settings.read_mode != normalized_float) return error_invalid_filter;
  if (settings.read_mode == normalized_float && texture->bits[0] == 32 && !is_float) return error_invalid_norm;
  for (int i = 0; i < 3; ++i) texture->address_mode[i] = uint32_t(settings.address_mode[i]);
  texture->filter = uint32_t(settings.filter);
  texture->read_mode = uint32_t(settings.read_mode);
  texture->srgb = uint32_t(settings.srgb);
  memcpy(texture->border, settings.border, sizeof settings.border);
  texture->normalized = uint32_t(settings.normalized);
  texture->max_anisotropy = settings.max_anisotropy;
  texture->mipmap_filter = uint32_t(settings.mipmap_filter);
  texture->mipmap_bias = settings.mipmap_bias;
  texture->min_level = settings.min_level;
  texture->max_level = settings.max_level;
  return success;
}

Error create(const TextureDescription& texture, const Made& made, unsigned long long* object) {
  uint64_t id = 0;
  if (Status failed = create_texture(texture, &id)) return failed;
  std::lock_guard<std::mutex> hold(made_lock);
  made_objects()[id] = made;
  *object = id;
  return success;
}

Error destroy(unsigned long long object, bool surface) {
  {
    std::lock_guard<std::mutex> hold(made_lock);
    made_objects().erase(object);
  }
  return destroy_texture(object, surface);
}

const Made* find_made(unsigned long long object) {
  std::lock_guard<std::mutex> hold(made_lock);
  auto found = made_objects().find(object);
  return found == made_objects().end() ? nullptr : &found->second;
}

}  // namespace

}  // namespace memsim::runtime

using namespace memsim;
using namespace memsim::runtime;

MEMSIM_CUDA Error cudaCreateTextureObject(unsigned long long* object, const ResourceDescription* resource,
                                          const TextureSettings* settings, const ResourceView* view) {
  if (!object || !resource || !settings) return done(error_invalid_value);
  TextureDescription texture;
  if (Error failed = set_resource(*resource, &texture)) return done(failed);
  if (Error failed = set_sampling(*settings, &texture)) return done(failed);
  return done(create(texture, {*resource, *settings, view ? *view : ResourceView{}, view != nullptr}, object));
}
MEMSIM_CUDA Error cudaDestroyTextureObject(unsigned long long object) { return done(destroy(object, false)); }

MEMSIM_CUDA Error cudaCreateSurfaceObject(unsigned long long* object, const ResourceDescription* resource) {
  if (!object || !resource || resource->type != 0) return done(error_invalid_value);
  TextureDescription surface;
  surface.surface = true;
  if (Error failed = set_resource(*resource, &surface)) return done(failed);
  return done(create(surface, {*resource, {}, {}, false}, object));
}
MEMSIM_CUDA Error cudaDestroySurfaceObject(unsigned long long object) { return done(destroy(object, true)); }

MEMSIM_CUDA Error cudaGetTextureObjectResourceDesc(ResourceDescription* resource, unsigned long long object) {
  const Made* made = find_made(object);
  if (!made || !resource) return done(error_invalid_value);
  *resource = made->resource;
  return success;
}
MEMSIM_CUDA Error cudaGetTextureObjectTextureDesc(TextureSettings* settings, unsigned long long object) {
  const Made* made = find_made(object);
  if (!made || !settings) return done(error_invalid_value);
  *settings = made->settings;
  return success;
}
MEMSIM_CUDA Error cudaGetTextureObjectResourceViewDesc(ResourceView* view, unsigned long long object) {
  const Made* made = find_made(object);
  if (!made || !view || !made->has_view) return done(error_invalid_value);
  *view = made->view;
  return success;
}
