// libmemsim_host_memory.so, preloaded into Python: malloc's blocks of 1 KiB and more, and all aligned ones, lie in the
// arena. CPU tensors and numpy arrays are device memory then, with known bounds and the addresses they have anyway.
//
// It also loads memsim's libraries where a program asks for NVIDIA's of the same names by their paths.
//
// The arena is active in executables whose name begins with "python", when a server is there; otherwise, and for small
// blocks, glibc's malloc does the work. Nothing here may call malloc.
//
// The upper half of the arena is cut into chunks of whole MiB; all blocks of a chunk have one size. A block begins with
// a header, so that an address leads to its block by the table of chunks.

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))

extern "C" {
void* __libc_malloc(size_t);
void __libc_free(void*);
void* __libc_realloc(void*, size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_memalign(size_t, size_t);
extern char** environ;
}

namespace memsim {
namespace {

constexpr size_t least_bytes = 1024;             // of a block without alignment
constexpr uint64_t chunk_bytes = 1 << 20;        // unit of the table
constexpr uint64_t small_chunk = 1 << 20;        // of blocks up to half of it
constexpr uint64_t header_bytes = 64;            // keeps blocks aligned as caches like it
constexpr uint64_t discard_bytes = 4 << 20;      // freed blocks of this size give their pages back
constexpr int steps = 4;                         // size classes per power of two
constexpr int least_shift = 7, most_shift = 37;  // 128 bytes to 128 GiB
constexpr int classes = (most_shift - least_shift) * steps;
constexpr uint64_t most_chunks = arena_bytes / 2 / chunk_bytes;
constexpr uint64_t journal_entries = 1 << 16;

struct Block {
  uint64_t user_bytes;  // 0: free
  uint64_t address;     // that the program has
  uint64_t sequence;
  Block* next_free;
  uint64_t used_before;  // what is behind the header may not be zero
};
static_assert(sizeof(Block) <= header_bytes);

struct Chunk {
  uint64_t start, block_bytes;  // of the first MiB's address; 0 bytes: none
};

enum class Mode : int { unknown, active, inactive };

// In .bss: there before any constructor runs.
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
std::atomic<Mode> mode;
Arena arena;
bool forked;
Chunk chunks[most_chunks];
Block* free_blocks[classes];
uint64_t bump[classes], bump_end[classes];  // rest of the newest chunk of a class
uint64_t next_chunk;                        // number of chunks taken
HostChange journal[journal_entries];
uint64_t journal_position;
size_t (*libc_usable_size)(void*);
void* (*libc_dlopen)(const char*, int);
int fork_pipe[2] = {-1, -1};

class Hold {
 public:
  Hold() { pthread_mutex_lock(&lock); }
  ~Hold() { pthread_mutex_unlock(&lock); }
};

// -- whether to work at all

const char* variable(const char* name) {
  size_t n = strlen(name);
  for (char** one = environ; one && *one; ++one)
    if (!strncmp(*one, name, n) && (*one)[n] == '=') return *one + n + 1;
  return nullptr;
}

bool is_python() {
  char path[4096];
  ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  if (n <= 0) return false;
  path[n] = 0;
  const char* name = strrchr(path, '/');
  return !strncmp(name ? name + 1 : path, "python", 6);
}

bool decide() {
  if (!environ) return false;  // too early to know
  Hold hold;
  if (mode == Mode::unknown) {
    const char* server = variable("MEMSIM_GPU_SOCKET");
    bool works = server && *server && is_python() && create_arena(arena);
    mode = works ? Mode::active : Mode::inactive;
  }
  return mode == Mode::active;
}

inline bool is_active() {
  Mode known = mode.load(std::memory_order_acquire);
  return known == Mode::active || (known == Mode::unknown && decide());
}

inline bool is_ours(const void* pointer) {
  uint64_t offset = reinterpret_cast<uint64_t>(pointer) - arena.middle();
  return arena.base && offset < arena.bytes / 2;
}

// -- size classes

struct SizeClass {
  int number;
  uint64_t bytes;
};

// The smallest class with room: 128, 160, 192, 224, 256, 320 ...
SizeClass class_for(uint64_t bytes) {
  if (bytes < (1u << least_shift)) bytes = 1u << least_shift;
  int shift = 63 - __builtin_clzll(bytes);
  uint64_t step = (uint64_t(1) << shift) / steps;
  uint64_t over = (bytes - (uint64_t(1) << shift) + step - 1) / step;  // 0 to steps
  int number = (shift - least_shift) * steps + int(over);
  return {number, (uint64_t(1) << shift) + over * step};
}

// -- blocks

void log_change(const Block* block, uint64_t bytes) {
  journal[journal_position++ % journal_entries] = {block->address, bytes, block->sequence};
}

void discard(uint64_t first, uint64_t last) {
  first = (first + page_bytes - 1) / page_bytes * page_bytes;
  last = last / page_bytes * page_bytes;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, forked ? MADV_DONTNEED : MADV_REMOVE);
}

// Opens a chunk for a class; false: the arena is full.
bool open_chunk(const SizeClass& size) {
  uint64_t bytes = size.bytes <= small_chunk / 2 ? small_chunk : (size.bytes + chunk_bytes - 1) / chunk_bytes * chunk_bytes;
  uint64_t n = bytes / chunk_bytes;
  if (n > arena.bytes / 2 / chunk_bytes - next_chunk) return false;
  uint64_t start = arena.middle() + next_chunk * chunk_bytes;
  for (uint64_t i = 0; i < n; ++i) chunks[next_chunk + i] = {start, size.bytes};
  next_chunk += n;
  bump[size.number] = start;
  bump_end[size.number] = start + bytes;
  return true;
}

Block* take_block(const SizeClass& size) {
  if (Block* block = free_blocks[size.number]) {
    free_blocks[size.number] = block->next_free;
    return block;
  }
  if (bump_end[size.number] - bump[size.number] < size.bytes && !open_chunk(size)) return nullptr;
  auto* block = reinterpret_cast<Block*>(bump[size.number]);
  bump[size.number] += size.bytes;
  block->used_before = 0;
  return block;
}

Block* block_of(uint64_t address) {
  const Chunk& chunk = chunks[(address - arena.middle()) / chunk_bytes];
  if (!chunk.block_bytes) return nullptr;
  return reinterpret_cast<Block*>(chunk.start + (address - chunk.start) / chunk.block_bytes * chunk.block_bytes);
}

uint64_t end_of(const Block* block) {
  auto address = reinterpret_cast<uint64_t>(block);
  return address + chunks[(address - arena.middle()) / chunk_bytes].block_bytes;
}

// nullptr: no room; `zeroed` says whether the memory is known to be zero.
void* take(uint64_t bytes, uint64_t alignment, bool* zeroed) {
  uint64_t padding = alignment > header_bytes ? alignment : 0;
  if (bytes > arena.bytes / 4 || padding > arena.bytes / 4) return nullptr;
  Hold hold;
  SizeClass size = class_for(bytes + header_bytes + padding);
  Block* block = size.number < classes ? take_block(size) : nullptr;
  if (!block) return nullptr;
  uint64_t first = reinterpret_cast<uint64_t>(block) + header_bytes;
  block->address = padding ? (first + alignment - 1) / alignment * alignment : first;
  block->user_bytes = bytes ? bytes : 1;
  block->sequence = arena.sequence++;
  *zeroed = !block->used_before;
  block->used_before = 1;
  log_change(block, block->user_bytes);
  return reinterpret_cast<void*>(block->address);
}

void give_back(void* pointer) {
  auto address = reinterpret_cast<uint64_t>(pointer);
  Hold hold;
  Block* block = block_of(address);
  if (!block || block->address != address || !block->user_bytes) abort();  // as glibc: an invalid or double free
  log_change(block, 0);
  block->user_bytes = 0;
  uint64_t start = reinterpret_cast<uint64_t>(block), end = end_of(block);
  if (end - start >= discard_bytes) {
    discard(start + page_bytes, end);
    memset(reinterpret_cast<char*>(block) + header_bytes, 0, page_bytes - header_bytes);
    block->used_before = 0;
  }
  SizeClass size = class_for(end - start);
  block->next_free = free_blocks[size.number];
  free_blocks[size.number] = block;
}

// -- fork: the child gets copies of the blocks, and the parent waits until it has them.

void before_fork() {
  pthread_mutex_lock(&lock);
  if (mode == Mode::active && pipe2(fork_pipe, O_CLOEXEC) != 0) fork_pipe[0] = fork_pipe[1] = -1;
}

void in_parent() {
  char copied;
  if (fork_pipe[0] >= 0) {
    close(fork_pipe[1]);
    while (read(fork_pipe[0], &copied, 1) < 0 && errno == EINTR) {
    }
    close(fork_pipe[0]);
  }
  fork_pipe[0] = fork_pipe[1] = -1;
  pthread_mutex_unlock(&lock);
}

bool copy_extent(char* to, off_t first, off_t last) {
  for (off_t at = first; at < last;) {
    ssize_t n = pread(arena.descriptor, to + (at - first), size_t(last - at), at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
  }
  return true;
}

void make_private() {
  auto half = off_t(arena.bytes / 2), used = off_t(next_chunk * chunk_bytes);
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  auto* copy = static_cast<char*>(mmap(nullptr, size_t(half), PROT_READ | PROT_WRITE, flags, -1, 0));
  if (copy == MAP_FAILED) abort();
  off_t at = half;
  while (at < half + used) {  // the memfd is sparse
    off_t first = lseek(arena.descriptor, at, SEEK_DATA);
    if (first < 0 || first >= half + used) break;
    off_t last = lseek(arena.descriptor, first, SEEK_HOLE);
    if (last < 0 || last > half + used) last = half + used;
    if (!copy_extent(copy + (first - half), first, last)) abort();
    at = last;
  }
  void* place = reinterpret_cast<void*>(arena.middle());
  if (mremap(copy, size_t(half), size_t(half), MREMAP_MAYMOVE | MREMAP_FIXED, place) == MAP_FAILED) abort();
}

void in_child() {
  if (mode == Mode::active && !forked) make_private();
  if (mode == Mode::active) forked = true;
  if (fork_pipe[1] >= 0) {
    char copied = 1;
    while (write(fork_pipe[1], &copied, 1) < 0 && errno == EINTR) {
    }
    close(fork_pipe[0]);
    close(fork_pipe[1]);
  }
  fork_pipe[0] = fork_pipe[1] = -1;
  pthread_mutex_init(&lock, nullptr);
}

// The library of memsim's that has the name of another one: wheels bring NVIDIA's own, and packages load these by path.
const char* library_of_memsim(const char* path) {
  static thread_local char ours[PATH_MAX];
  Dl_info self;
  const char* name = strrchr(path, '/');
  if (!dladdr(reinterpret_cast<void*>(&library_of_memsim), &self) || !strstr(name, ".so")) return nullptr;
  const char* end = strrchr(self.dli_fname, '/');
  size_t n = end ? size_t(end - self.dli_fname) : 0;
  if (!n || n + strlen(name) >= sizeof ours) return nullptr;
  memcpy(ours, self.dli_fname, n);
  strcpy(ours + n, name);
  return access(ours, R_OK) || access(path, R_OK) ? nullptr : ours;
}

__attribute__((constructor)) void start() {
  libc_dlopen = reinterpret_cast<void* (*)(const char*, int)>(dlsym(RTLD_NEXT, "dlopen"));
  libc_usable_size = reinterpret_cast<size_t (*)(void*)>(dlsym(RTLD_NEXT, "malloc_usable_size"));
  pthread_atfork(before_fork, in_parent, in_child);
}

bool is_power_of_two(size_t value) { return value && !(value & (value - 1)); }

void* allocate_aligned(size_t alignment, size_t bytes) {
  bool zeroed;
  if (is_active())
    if (void* pointer = take(bytes, alignment, &zeroed)) return pointer;
  return __libc_memalign(alignment, bytes);
}

// Changes a block's size in place; false: it has to move.
bool resize(void* pointer, size_t bytes) {
  Hold hold;
  Block* block = block_of(reinterpret_cast<uint64_t>(pointer));
  if (!block || block->address + bytes > end_of(block)) return false;
  if (bytes < block->user_bytes / 4 && block->user_bytes >= discard_bytes) return false;  // give the rest back
  log_change(block, 0);
  block->user_bytes = bytes;
  log_change(block, bytes);
  return true;
}

uint64_t bytes_of(void* pointer) {
  Hold hold;
  const Block* block = block_of(reinterpret_cast<uint64_t>(pointer));
  return block ? block->user_bytes : 0;
}

}  // namespace
}  // namespace memsim

using namespace memsim;

// -- the C library's interface

EXPORTED void* malloc(size_t bytes) {
  bool zeroed;
  if (bytes >= least_bytes && is_active())
    if (void* pointer = take(bytes, 0, &zeroed)) return pointer;
  return __libc_malloc(bytes);
}

EXPORTED void free(void* pointer) {
  if (!is_ours(pointer)) return __libc_free(pointer);
  int kept = errno;
  give_back(pointer);
  errno = kept;
}

EXPORTED void* calloc(size_t n, size_t bytes) {
  size_t total;
  if (!__builtin_mul_overflow(n, bytes, &total) && total >= least_bytes && is_active()) {
    bool zeroed;
    if (void* pointer = take(total, 0, &zeroed)) return zeroed ? pointer : memset(pointer, 0, total);
  }
  return __libc_calloc(n, bytes);
}

EXPORTED void* realloc(void* pointer, size_t bytes) {
  if (!pointer) return malloc(bytes);
  if (!is_ours(pointer)) {
    if (bytes < least_bytes || !libc_usable_size || !is_active()) return __libc_realloc(pointer, bytes);
    size_t old = libc_usable_size(pointer);
    bool zeroed;
    void* moved = take(bytes, 0, &zeroed);
    if (!moved) return __libc_realloc(pointer, bytes);
    memcpy(moved, pointer, old < bytes ? old : bytes);
    __libc_free(pointer);
    return moved;
  }
  if (!bytes) {
    free(pointer);
    return nullptr;
  }
  if (resize(pointer, bytes)) return pointer;
  void* moved = malloc(bytes);
  if (!moved) return nullptr;
  size_t old = bytes_of(pointer);
  memcpy(moved, pointer, old < bytes ? old : bytes);
  free(pointer);
  return moved;
}

EXPORTED void* reallocarray(void* pointer, size_t n, size_t bytes) {
  size_t total;
  if (__builtin_mul_overflow(n, bytes, &total)) {
    errno = ENOMEM;
    return nullptr;
  }
  return realloc(pointer, total);
}

EXPORTED int posix_memalign(void** pointer, size_t alignment, size_t bytes) {
  if (!is_power_of_two(alignment) || alignment % sizeof(void*)) return EINVAL;
  void* taken = allocate_aligned(alignment, bytes);
  if (!taken) return ENOMEM;
  *pointer = taken;
  return 0;
}

EXPORTED void* memalign(size_t alignment, size_t bytes) {
  if (!is_power_of_two(alignment)) return __libc_memalign(alignment, bytes);  // it rounds up
  return allocate_aligned(alignment, bytes);
}
EXPORTED void* aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }
EXPORTED void* valloc(size_t bytes) { return memalign(page_bytes, bytes); }
EXPORTED void* pvalloc(size_t bytes) { return memalign(page_bytes, (bytes + page_bytes - 1) / page_bytes * page_bytes); }

// The bytes that the program asked for: what lies behind them is not memory of the block in a trace.
EXPORTED size_t malloc_usable_size(void* pointer) {
  if (!pointer) return 0;
  if (is_ours(pointer)) return bytes_of(pointer);
  return libc_usable_size ? libc_usable_size(pointer) : 0;
}

// It ends with a jump, which compilers make of a last call: the C library looks at its caller for where to search.
EXPORTED void* dlopen(const char* file, int mode) {
  if (file && *file == '/')
    if (const char* ours = library_of_memsim(file)) file = ours;
  return libc_dlopen(file, mode);
}

// -- for the core

EXPORTED Arena* memsim_host_memory_arena() { return is_active() ? &arena : nullptr; }

EXPORTED size_t memsim_host_memory_changes(uint64_t* position, HostChange* out, size_t most) {
  Hold hold;
  if (journal_position - *position > journal_entries) return SIZE_MAX;
  size_t n = 0;
  for (; n < most && *position < journal_position; ++n) out[n] = journal[(*position)++ % journal_entries];
  return n;
}

EXPORTED size_t memsim_host_memory_blocks(uint64_t* position, HostChange* out, size_t most) {
  Hold hold;
  size_t n = 0;
  *position = journal_position;
  for (uint64_t i = 0; i < next_chunk;) {
    const Chunk& chunk = chunks[i];
    uint64_t mib = (chunk.block_bytes + chunk_bytes - 1) / chunk_bytes;  // one chunk's blocks
    uint64_t end = chunk.start + mib * chunk_bytes;
    int number = class_for(chunk.block_bytes).number;
    if (bump[number] > chunk.start && bump[number] <= end) end = bump[number];
    for (uint64_t at = chunk.start; at + chunk.block_bytes <= end; at += chunk.block_bytes) {
      const auto* block = reinterpret_cast<const Block*>(at);
      if (!block->user_bytes) continue;
      if (n < most) out[n] = {block->address, block->user_bytes, block->sequence};
      ++n;
    }
    i += mib;
  }
  return n;
}

EXPORTED bool memsim_host_memory_find(uint64_t address, HostChange* found) {
  if (!is_ours(reinterpret_cast<void*>(address))) return false;
  Hold hold;
  const Block* block = block_of(address);
  bool inside = block && block->user_bytes && address >= block->address && address < block->address + block->user_bytes;
  if (inside) *found = {block->address, block->user_bytes, block->sequence};
  return inside;
}
