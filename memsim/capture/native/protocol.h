// The messages between the CUDA libraries in the program and memsim's server; memsim/capture/protocol.py mirrors them.
//
// A frame is u32 kind, u32 status, u64 payload bytes, then the payload; integers are little endian and packed.
// `str` is u32 length and UTF-8 bytes. Every request except allocations, unsupported and note gets one reply of the
// same kind, whose status is a CUresult / cudaError number.
#pragma once

#include <cstdint>

namespace memsim::protocol {

constexpr uint32_t version = 1;

enum Kind : uint32_t {
  hello = 1,            // u32 version, u32 pid, u64 arena base, u64 arena bytes, str program; the memfd rides along
                        // reply: str lines "name value" (properties.cpp has the names)
  load_module = 2,      // str options, u64 n, n bytes of image: fat binary, PTX text, cubin, or linked images (below)
                        // reply, status 0: u64 module,
                        //   u32 n x (str name, u32 registers, static_shared, local_bytes, const_bytes, max_threads,
                        //            ptx_version, binary_version, u32 required_block[3], u32 cluster[3],
                        //            u32 n x (u32 offset, u32 bytes)),
                        //   u32 n x (str name, u64 bytes, u32 align, u32 space, u32 managed)
                        // reply, status != 0: str reason
  place_variables = 3,  // u64 module, u32 n, n x u64 address; the reply is empty
  allocations = 4,      // u32 n x u64 removed address,
                        // u32 n x (u64 address, u64 bytes, u64 sequence, u64 offset in the arena, u32 kind, str name)
                        // The offset is address - arena base except for memory that cudaHostRegister re-mapped.
  launch = 5,           // u64 module, u32 function, u32 grid[3], block[3], cluster[3], u32 dynamic shared bytes,
                        //   u32 flags (launch_cooperative ...), u32 stack bytes of a thread, u64 stream, str where,
                        //   u32 n, n bytes of parameters
                        // reply: u64 nanoseconds, str text that the kernel printed. Status `running`: the kernel
                        // waits for the host; `finish` has the reply
  texture = 6,          // u64 id, u32 op (TextureOp); for a create also the descriptor, see textures.cpp:
                        //   u32 resource (TextureResource), u64 address, u64 width, height, depth in texels (0: none),
                        //   u64 row bytes, u64 slice bytes, u32 bits[4] of x y z w, u32 channel kind (0 signed,
                        //   1 unsigned, 2 float), u32 array flags (1 layered, 4 cube map), u32 mipmap levels,
                        //   u32 address mode[3] (0 wrap, 1 clamp, 2 mirror, 3 border), u32 filter (0 point, 1 linear),
                        //   u32 read mode (0 element, 1 normalized float), u32 sRGB, f32 border[4],
                        //   u32 normalized coordinates, u32 max anisotropy, u32 mipmap filter, f32 mipmap bias,
                        //   f32 min level, f32 max level. The reply is empty.
  benchmark = 7,        // u32 op (0 begin, 1 end), u32 flags (1: L2 was flushed with dirty lines before)
                        // reply to end: f64 milliseconds, u32 launches
  unsupported = 8,      // str name of an API function that nobody implemented
  note = 9,             // str, a line for the user
  assembled = 10,       // u64 module, u32 function; what the assembler says of it, asked when a program wants to know
                        // reply: u32 registers, static_shared, local_bytes, const_bytes
  tuned = 11,           // str, a kernel that a tuner has tuned, as JSON (memsim/capture/tuning.py); the reply is empty
  finish = 12,          // waits for the end of the launch that was running; the reply is the launch's
  activity = 13,        // u32 kind (Activity), u64 stream, u64 bytes: a copy, a fill or a wait of the host; no reply
};

constexpr uint32_t launch_cooperative = 1;
constexpr uint32_t launch_undisturbed = 2;  // since the last launch the host neither copied nor was called
constexpr uint32_t launch_observed = 4;     // a profiler in the program wants its time

// The status of a reply that ends the program, which first writes what it has buffered: all that is wanted is captured.
constexpr uint32_t stop = 0x504f5453;

// The status of a reply to a launch that waits for the host: the program continues while the kernel runs.
constexpr uint32_t running = 0x4e4e5552;

// The status of a reply to a launch that repeats earlier ones and was therefore not executed.
constexpr uint32_t repeated = 0x54504552;

enum class Activity : uint32_t { to_gpu = 0, to_host = 1, on_gpu = 2, fill = 3, wait_stream = 4, wait_device = 5 };
enum class AllocationKind : uint32_t { device = 0, managed = 1, pinned = 2, host = 3, variable = 4, array = 5 };
enum class TextureOp : uint32_t { create_texture = 0, destroy_texture = 1, create_surface = 2, destroy_surface = 3 };
enum class TextureResource : uint32_t { array = 0, mipmapped_array = 1, linear = 2, pitch2d = 3 };

// Images to be linked into one module (`-rdc=true`, cuLink*): these 8 bytes, u32 n, n x (u64 bytes, the image).
constexpr char linked_images[9] = "MEMSIMLK";

}  // namespace memsim::protocol
