"""How the front's memory returns to the system."""

from __future__ import annotations

import ctypes

_MALLOPT = {-8: 1, -3: 512 * 1024}
"""glibc's M_ARENA_MAX and M_MMAP_THRESHOLD."""


def give_large_blocks_back() -> None:
    """Let memory return to the system when a large body was taken in.

    glibc keeps a heap for each thread, and more and larger free blocks in it as time goes by:
    bodies of 16 MiB, one after the other, left the front at 300 MB; with one heap and a fixed
    threshold it stays at 220. Threads that hold the interpreter lock do not need more heaps.
    Does nothing with another C library.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    for parameter, value in _MALLOPT.items():
        mallopt(parameter, value)
