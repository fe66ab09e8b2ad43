// How long an image is that a program gives by its address alone.

#include <elf.h>

#include <algorithm>

#include "state.h"

namespace memsim {

namespace {

constexpr uint32_t fat_binary_magic = 0xBA55ED50;
constexpr uint32_t fat_wrapper_magic = 0x466243B1;

// Of a fat binary: u32 magic, u16 version, u16 header bytes, u64 bytes behind the header.
struct FatBinaryHeader {
  uint32_t magic;
  uint16_t version, header_bytes;
  uint64_t bytes;
};

size_t elf_bytes(const void* image) {
  const auto* header = static_cast<const Elf64_Ehdr*>(image);
  const auto* first = static_cast<const uint8_t*>(image);
  size_t end = std::max<size_t>(header->e_shoff + size_t(header->e_shnum) * header->e_shentsize,
                                header->e_phoff + size_t(header->e_phnum) * header->e_phentsize);
  for (int i = 0; i < header->e_shnum; ++i) {
    const uint8_t* place = first + header->e_shoff + size_t(i) * header->e_shentsize;
    const auto* section = reinterpret_cast<const Elf64_Shdr*>(place);
    if (section->sh_type != SHT_NOBITS) end = std::max<size_t>(end, section->sh_offset + section->sh_size);
  }
  return end;
}

size_t linked_bytes(const uint8_t* first) {
  uint32_t n;
  memcpy(&n, first + 8, sizeof n);
  size_t at = 12;
  for (uint32_t i = 0; i < n; ++i) {
    uint64_t bytes;
    memcpy(&bytes, first + at, sizeof bytes);
    at += sizeof bytes + bytes;
  }
  return at;
}

}  // namespace

size_t image_bytes(const void* image) {
  if (!image) return 0;
  const auto* first = static_cast<const uint8_t*>(image);
  uint32_t magic;
  memcpy(&magic, first, sizeof magic);
  if (magic == fat_binary_magic) {
    FatBinaryHeader header;
    memcpy(&header, first, sizeof header);
    return header.header_bytes + header.bytes;
  }
  if (!memcmp(first, ELFMAG, SELFMAG)) return elf_bytes(image);
  if (!memcmp(first, protocol::linked_images, 8)) return linked_bytes(first);
  if (magic == fat_wrapper_magic) return 0;  // load what it points to instead
  return strlen(reinterpret_cast<const char*>(first)) + 1;  // PTX text
}

}  // namespace memsim
