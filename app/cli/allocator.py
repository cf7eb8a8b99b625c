"""How a process gives memory back that it no longer needs. Called by `plumbline worker` when it starts.

The arrays of a large board are gone when it is published. The system's allocator learns from the first of them to keep
what is of their size, up to 32 MiB each, for the next ones: a worker would stay as large as its largest moment. Smaller
ones lie between things that stay; their pages are the system's again only when the allocator is asked to look for them.
What is free at the end of its memory it would give back by the 128 KiB and have again a moment later, page by page.
"""

import ctypes

TRIM, THRESHOLD, ARENAS = -1, -3, -8
"""M_TRIM_THRESHOLD, M_MMAP_THRESHOLD and M_ARENA_MAX of glibc's malloc.h."""
LARGE = 4 << 20
"""Bytes from which on memory is the system's again as soon as it is free."""
KEPT = 16 << 20
"""Free bytes at the end that stay for the next smaller arrays."""
MOST_ARENAS = 2


def give_back_large_arrays() -> bool:
    """Have large arrays returned to the system when they are free, some smaller ones not; say whether that can be."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):  # another allocator than glibc's
        return False
    return bool(mallopt(THRESHOLD, LARGE) and mallopt(TRIM, KEPT) and mallopt(ARENAS, MOST_ARENAS))


def give_back_free_pages() -> bool:
    """Return free whole pages to the system, and say whether there were any; takes some milliseconds."""
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError):  # another allocator than glibc's
        return False
    return bool(trim(0))
