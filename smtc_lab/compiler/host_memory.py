"""Memory on the host that freed tensors gave back, kept for the next ones.

glibc gives a freed tensor of more than 128 KiB to 32 MiB back to the kernel, and asks for the
same memory again in the next step; the kernel clears each page of it and maps it at its first
touch. On a GPT-2 of four layers that was a quarter of a step: 1.34 s of CPU time and 173,000
page faults without, 1.01 s and next to none with the settings below, the same as with glibc's
environment variables. Huge pages on top (``glibc.malloc.hugetlb=1``) made the first step
quicker and no later one.
"""

from __future__ import annotations

import ctypes

# From malloc.h.
_M_TRIM_THRESHOLD = -1
_M_TOP_PAD = -2
_M_MMAP_THRESHOLD = -3
_M_MMAP_MAX = -4

_WITHOUT_BOUND = -1  # mallopt takes an int and keeps it as a size_t

_TOP_PAD_BYTES = 256 * 2**20
"""How much more than needed is asked from the kernel at once."""


def keep_memory() -> str | None:
    """Make this process keep the memory that tensors give back; return why not, or None.

    Holds for the rest of the process, and for whatever it forks. Resident memory stays at its
    peak. Numbers are the same.
    """
    try:
        libc = ctypes.CDLL(None)
        libc.gnu_get_libc_version  # noqa: B018  other C libraries have a mallopt that does less
        mallopt = libc.mallopt
    except (AttributeError, OSError):
        return "This process has no glibc, whose allocator alone can be told to keep memory."
    # Before glibc 2.26 a threshold above 32 MiB was refused; to allow no mapping says the same.
    kept = mallopt(_M_MMAP_THRESHOLD, _WITHOUT_BOUND) or mallopt(_M_MMAP_MAX, 0)
    kept = kept and mallopt(_M_TRIM_THRESHOLD, _WITHOUT_BOUND)
    kept = kept and mallopt(_M_TOP_PAD, _TOP_PAD_BYTES)
    return None if kept else "The allocator of this process refused to keep memory (mallopt)."
