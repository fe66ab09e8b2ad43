"""Device memory as the driver hands it out: small allocations share chunks of 2 MB, larger ones have their own.

Only the call that takes or gives back a chunk is slow. nvprof's lists in CUDAMicroBench show it for a V100: of the
fourteen cudaFree calls for a few kilobytes each in CoMem_SpMM two took 187 microseconds, the others 3 to 6.
"""

from __future__ import annotations

from memsim.gpu.config import Host

CHUNK_BYTES = 1 << 21
MOST_SHARED = CHUNK_BYTES // 2  # bytes of an allocation that shares a chunk
_ALIGNMENT = 512


class Chunks:
    """Which chunk each allocation lies in; every call returns the bytes of chunks that the driver takes or gives back.

    >>> chunks = Chunks()
    >>> chunks.allocate("x", 4096), chunks.allocate("y", 4096), chunks.allocate("z", 5 << 20)
    (2097152, 0, 6291456)
    >>> chunks.free("x"), chunks.free("y")
    (0, 2097152)
    """

    def __init__(self) -> None:
        self._of: dict[object, tuple[int, int]] = {}  # allocation -> (number of its chunk, bytes of chunks of its own)
        self._users: dict[int, int] = {}  # number of a shared chunk -> its allocations
        self._current, self._left = -1, 0

    def allocate(self, key: object, nbytes: int) -> int:
        """Place an allocation."""
        assert key not in self._of, "memory is allocated twice"
        if nbytes > MOST_SHARED:
            chunk_bytes = -(-nbytes // CHUNK_BYTES) * CHUNK_BYTES
            self._of[key] = -1, chunk_bytes
            return chunk_bytes
        taken = -(-max(nbytes, 1) // _ALIGNMENT) * _ALIGNMENT
        new = taken > self._left
        if new:
            self._current, self._left = self._current + 1, CHUNK_BYTES
        self._left -= taken
        self._users[self._current] = self._users.get(self._current, 0) + 1
        self._of[key] = self._current, 0
        return CHUNK_BYTES if new else 0

    def free(self, key: object) -> int:
        """Give an allocation back; its place in a chunk is not used again."""
        chunk, chunk_bytes = self._of.pop(key)
        if chunk < 0:
            return chunk_bytes
        self._users[chunk] -= 1
        if self._users[chunk]:
            return 0
        if chunk == self._current:
            self._left = 0
        return CHUNK_BYTES


def allocation_us(host: Host, nbytes: int) -> float | None:
    """Host's time to take or give back chunks of so many bytes; None where it is not stated.

    >>> allocation_us(Host(), 0) is None
    True
    >>> allocation_us(Host(allocate_us=100.0, allocate_us_per_mb=0.5, allocate_shared_us=4.0), 0)
    4.0
    """
    if not nbytes:
        return host.allocate_shared_us
    if host.allocate_us is None or host.allocate_us_per_mb is None:
        return None
    return host.allocate_us + host.allocate_us_per_mb * nbytes / 1e6
