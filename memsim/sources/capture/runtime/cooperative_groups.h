// Cooperative groups (CUDA C++ Programming Guide, "Cooperative Groups"): blocks, tiles of a warp, coalesced threads,
// and the grid of a cooperative launch.
#pragma once

#include "cuda_runtime.h"

#if defined(__clang__)
#pragma clang force_cuda_host_device begin
#endif

namespace cooperative_groups {

// Lanes of a warp: what tiles and coalesced groups share. Lanes are ranked by their numbers within the mask.
class warp_group {
  public:
    explicit warp_group(unsigned mask) : mask(mask) {}

    void sync() const { memsim_probe::vote(mask, 0, false, "a group's sync()"); }
    unsigned thread_rank() const { return __builtin_popcount(mask & ((1u << memsim_probe::block.lane()) - 1)); }
    unsigned long long size() const { return __builtin_popcount(mask); }
    unsigned long long num_threads() const { return size(); }

    template <class T>
    T shfl(T value, int rank) const {
        return from(value, rank);
    }
    template <class T>
    T shfl_up(T value, unsigned delta) const {
        return from(value, thread_rank() < delta ? thread_rank() : thread_rank() - delta);
    }
    template <class T>
    T shfl_down(T value, unsigned delta) const {
        return from(value, thread_rank() + delta < size() ? thread_rank() + delta : thread_rank());
    }
    template <class T>
    T shfl_xor(T value, unsigned bits) const {
        return from(value, (thread_rank() ^ bits) < size() ? thread_rank() ^ bits : thread_rank());
    }

    unsigned ballot(int predicate) const { return ranks(memsim_probe::vote(mask, 0, predicate, "ballot()").votes); }
    int any(int predicate) const { return ballot(predicate) != 0; }
    int all(int predicate) const { return ballot(!predicate) == 0; }
    template <class T>
    unsigned match_any(T value) const {
        return ranks(memsim_probe::match(mask, value, "match_any()").equal);
    }
    template <class T>
    unsigned match_all(T value, int& predicate) const {
        return ranks(__match_all_sync(mask, value, &predicate));
    }

    unsigned lanes() const { return mask; }

  protected:
    template <class T>
    T from(T value, unsigned rank) const {
        return memsim_probe::shuffle(mask, 0, value, lane_of(rank), "a group's shuffle");
    }

    // The lane that has `rank`.
    unsigned lane_of(unsigned rank) const {
        unsigned left = mask;
        for (rank %= static_cast<unsigned>(size()); rank; --rank) left &= left - 1;
        return __builtin_ctz(left);
    }

    // A set of lanes as a set of ranks.
    unsigned ranks(unsigned lanes) const {
        unsigned result = 0, rank = 0;
        for (unsigned left = mask; left; left &= left - 1, ++rank)
            if (lanes & left & -left) result |= 1u << rank;
        return result;
    }

    unsigned mask;
};

class thread_block {
  public:
    static void sync() { __syncthreads(); }
    static void barrier_arrive() {}
    static void barrier_wait() { __syncthreads(); }
    static unsigned thread_rank() { return memsim_probe::block.thread(); }
    static dim3 group_index() { return blockIdx; }
    static dim3 thread_index() { return threadIdx; }
    static dim3 group_dim() { return blockDim; }
    static dim3 dim_threads() { return blockDim; }
    static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
    static unsigned num_threads() { return size(); }
};
MEMSIM_CUDA thread_block this_thread_block() { return {}; }

class grid_group {
  public:
    struct arrival_token {};
    static bool is_valid() { return memsim_probe::grid_runner.is_cooperative(); }
    static void sync() { memsim_probe::grid_runner.barrier("a grid's sync()"); }
    static arrival_token barrier_arrive() { return {}; }
    static void barrier_wait(arrival_token&&) { sync(); }
    static unsigned long long block_rank() {
        return (1ull * blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    static unsigned long long num_blocks() { return 1ull * gridDim.x * gridDim.y * gridDim.z; }
    static unsigned long long thread_rank() {
        return block_rank() * thread_block::size() + thread_block::thread_rank();
    }
    static unsigned long long size() { return num_blocks() * thread_block::size(); }
    static unsigned long long num_threads() { return size(); }
    static dim3 group_dim() { return gridDim; }
    static dim3 dim_blocks() { return gridDim; }
    static dim3 block_index() { return blockIdx; }
};
MEMSIM_CUDA grid_group this_grid() { return {}; }

class coalesced_group : public warp_group {
  public:
    using warp_group::warp_group;
    unsigned meta_group_rank() const { return 0; }
    unsigned meta_group_size() const { return 1; }
};
static __attribute__((noinline, unused)) coalesced_group coalesced_threads() {
    return coalesced_group(memsim_probe::vote(0, MEMSIM_HERE, true, "coalesced_threads()").present);
}

// Scratch memory for tiles of several warps, which these need not.
template <unsigned Threads = 1024>
struct block_tile_memory {
    char unused;
};
template <unsigned Threads>
thread_block this_thread_block(block_tile_memory<Threads>&) {
    return {};
}

// `Size` consecutive threads: lanes of a warp, or several warps.
template <unsigned Size, class Parent = void, bool OneWarp = (Size <= 32)>
class thread_block_tile;

template <unsigned Size, class Parent>
class thread_block_tile<Size, Parent, false> {
    static_assert((Size & (Size - 1)) == 0 && Size <= 1024, "tiles of a power of two threads");

  public:
    static void sync() { memsim_probe::block.part_barrier(Size, "a tile's sync()"); }
    static unsigned thread_rank() { return memsim_probe::block.thread() & (Size - 1); }
    static constexpr unsigned long long size() { return Size; }
    static constexpr unsigned long long num_threads() { return Size; }
    static unsigned meta_group_rank() { return memsim_probe::block.thread() / Size; }
    static unsigned meta_group_size() { return (thread_block::size() + Size - 1) / Size; }

    template <class T>
    T shfl(T value, unsigned rank) const {
        static_assert(sizeof(T) <= slot_bytes, "values of at most 32 bytes");
        memcpy(slots[memsim_probe::block.thread()], &value, sizeof value);
        sync();
        memcpy(&value, slots[meta_group_rank() * Size + (rank & (Size - 1))], sizeof value);
        sync();
        return value;
    }
    int any(int predicate) const {
        int found = 0;
        for (unsigned rank = 0; rank < Size; ++rank) found |= shfl(predicate, rank) != 0;
        return found;
    }
    int all(int predicate) const { return !any(!predicate); }

  private:
    static constexpr unsigned slot_bytes = 32;
    static inline char slots[1024][slot_bytes];
};

template <unsigned Size, class Parent>
class thread_block_tile<Size, Parent, true> : public warp_group {
    static_assert((Size & (Size - 1)) == 0, "tiles of 1, 2, 4, 8, 16 or 32 threads");

  public:
    thread_block_tile()
        : warp_group((Size == 32 ? ~0u : (1u << Size % 32) - 1) << (memsim_probe::block.lane() & ~(Size - 1))) {}
    template <class Other>
    thread_block_tile(const thread_block_tile<Size, Other>& other) : warp_group(other.lanes()) {}
    static constexpr unsigned long long size() { return Size; }
    static constexpr unsigned long long num_threads() { return Size; }
    unsigned thread_rank() const { return memsim_probe::block.lane() & (Size - 1); }
    unsigned meta_group_rank() const { return memsim_probe::block.thread() / Size; }
    unsigned meta_group_size() const { return (thread_block::size() + Size - 1) / Size; }
};

template <unsigned Size, class Parent>
thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
    return {};
}

// Of a size known at run time, or any group.
class thread_group {
  public:
    thread_group(const thread_block&) : whole(true), part(0) {}
    thread_group(const warp_group& group) : whole(false), part(group.lanes()) {}
    void sync() const { whole ? thread_block::sync() : part.sync(); }
    unsigned thread_rank() const { return whole ? thread_block::thread_rank() : part.thread_rank(); }
    unsigned long long size() const { return whole ? thread_block::size() : part.size(); }
    unsigned long long num_threads() const { return size(); }
    bool is_block() const { return whole; }
    unsigned lanes() const { return part.lanes(); }
    template <class T>
    T shfl(T value, int rank) const {
        return part.shfl(value, rank);
    }
    template <class T>
    T shfl_down(T value, unsigned delta) const {
        return part.shfl_down(value, delta);
    }

  private:
    bool whole;
    warp_group part;
};
MEMSIM_CUDA thread_group tiled_partition(const thread_group& parent, unsigned size) {
    unsigned within = parent.is_block() ? ~0u : parent.lanes(), lane = memsim_probe::block.lane();
    unsigned rank = __builtin_popcount(within & ((1u << lane) - 1)), first = rank & ~(size - 1), mask = 0;
    for (unsigned left = within, r = 0; left; left &= left - 1, ++r)
        if (r >= first && r < first + size) mask |= left & -left;
    return warp_group(mask);
}

// Lanes of a group with the same answer.
template <class Group>
coalesced_group binary_partition(const Group& group, bool predicate) {
    memsim_probe::Ballot all = memsim_probe::vote(group.lanes(), 0, predicate, "binary_partition()");
    return coalesced_group(predicate ? all.votes : group.lanes() & ~all.votes);
}
template <class Group, class Label>
coalesced_group labeled_partition(const Group& group, Label label) {
    return coalesced_group(memsim_probe::match(group.lanes(), label, "labeled_partition()").equal);
}

template <class Group>
void sync(const Group& group) {
    group.sync();
}
template <class Group>
unsigned thread_rank(const Group& group) {
    return group.thread_rank();
}
template <class Group>
unsigned long long group_size(const Group& group) {
    return group.size();
}

}  // namespace cooperative_groups

#if defined(__clang__)
#pragma clang force_cuda_host_device end
#endif
