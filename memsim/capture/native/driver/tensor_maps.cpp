// Tensor maps (CUDA Driver API, "Tensor Map Object Management"). The 128 bytes that NVIDIA's driver writes are not
// documented; these are the ones that the PTX machine reads (memsim/sources/ptx/machine/bulk.py), 16 words of 8 bytes.
#include <cstring>

#include "driver.h"

using namespace memsim;
using namespace memsim::driver;

namespace {

constexpr uint64_t magic = 0x6D656D73696D7470;
constexpr unsigned most_dimensions = 5;
struct TensorMap {
  uint64_t magic_word, address, element;  // element: bytes, dimensions << 8, swizzle << 16
  uint64_t shape[most_dimensions], strides[most_dimensions - 1], box, element_strides, fill, reserved;
};
static_assert(sizeof(TensorMap) == 128);

// Bytes of an element by CUtensorMapDataType: 8 to 64 bits, then packed formats, which the machine has not.
unsigned element_bytes(int type) {
  constexpr unsigned char bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return type >= 0 && size_t(type) < sizeof bytes ? bytes[type] : 0;
}
// CUtensorMapSwizzle (none, 32, 64 or 128 bytes) as the machine's matrix descriptors number the patterns.
constexpr unsigned swizzle_codes[] = {0, 3, 2, 1};

}  // namespace

CU cuTensorMapEncodeTiled(TensorMap* map, int type, unsigned dimensions, void* address, const uint64_t* shape,
                          const uint64_t* strides, const unsigned* box, const unsigned* element_strides,
                          int interleave, int swizzle, int l2_promotion, int fill) {
  constexpr unsigned most_box = 256, address_alignment = 16, stride_alignment = 16;
  (void)l2_promotion;  // a hint
  MEMSIM_REQUIRE(map && address && shape && box && element_strides, invalid_value);
  MEMSIM_REQUIRE(dimensions >= 1 && dimensions <= most_dimensions && (strides || dimensions == 1), invalid_value);
  MEMSIM_REQUIRE(address_of(address) % address_alignment == 0 && address_of(map) % 64 == 0, invalid_value);
  unsigned bytes = element_bytes(type);
  if (!bytes || interleave || swizzle < 0 || swizzle > 3)
    return unsupported("cuTensorMapEncodeTiled with packed elements, interleaving or swizzles of atoms");
  TensorMap made{};
  made.magic_word = magic;
  made.address = address_of(address);
  made.element = bytes | dimensions << 8 | swizzle_codes[swizzle] << 16;
  made.fill = uint64_t(fill);
  for (unsigned d = 0; d < dimensions; ++d) {
    MEMSIM_REQUIRE(shape[d] && shape[d] <= uint64_t(1) << 32 && box[d] && box[d] <= most_box, invalid_value);
    if (element_strides[d] != 1) return unsupported("cuTensorMapEncodeTiled with element strides");
    made.shape[d] = shape[d];
    made.box |= uint64_t(box[d]) << 9 * d;
    if (d == 0) continue;
    MEMSIM_REQUIRE(strides[d - 1] % stride_alignment == 0, invalid_value);
    made.strides[d - 1] = strides[d - 1];
  }
  // The innermost extent of a box is limited by the pattern it lies in (CUtensorMapSwizzle's documentation).
  constexpr unsigned pattern_bytes[] = {0, 32, 64, 128};
  MEMSIM_REQUIRE(!swizzle || box[0] * bytes <= pattern_bytes[swizzle], invalid_value);
  MEMSIM_REQUIRE(box[0] * bytes % 16 == 0, invalid_value);
  memcpy(map, &made, sizeof made);
  return status::success;
}
CU cuTensorMapReplaceAddress(TensorMap* map, void* address) {
  MEMSIM_REQUIRE(map && map->magic_word == magic && address_of(address) % 16 == 0, invalid_value);
  map->address = address_of(address);
  return status::success;
}
