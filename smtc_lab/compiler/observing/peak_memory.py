"""The most memory that this process has held."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

_CLEAR_REFS = Path("/proc/self/clear_refs")
_STATUS = Path("/proc/self/status")
_RESET_PEAK = b"5"  # "reset the peak resident set size", man 5 proc


def reset_peak_memory() -> bool:
    """Let the peak begin anew at what the process holds now.

    Returns:
        Whether that worked; else the peak counts from the start of the process.
    """
    cuda = _cuda()
    if cuda is not None:
        cuda.reset_peak_memory_stats()
    try:
        _CLEAR_REFS.write_bytes(_RESET_PEAK)
    except OSError:
        return False
    return True


def peak_memory_bytes() -> int | None:
    """Return the most memory that was held since the reset, in bytes; None: not known.

    Of the CUDA device where one is in use (what torch's allocator reserved there), else the
    resident memory of this process.
    """
    cuda = _cuda()
    if cuda is not None:
        return int(cuda.max_memory_reserved())
    try:
        lines = _STATUS.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return None
    for line in lines:
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024  # the kernel says kB and means KiB
    return None


def _cuda() -> Any:  # noqa: ANN401  the module torch.cuda
    """Return ``torch.cuda`` where it is in use, without importing or starting anything."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return None
    return torch.cuda
