"""A few bytes that one process shows another one, in a file that both have mapped.

Written without a call of the system, so that it costs next to nothing.
"""

from __future__ import annotations

import mmap

TYPE_CHECKING = False
if TYPE_CHECKING:  # without the 10 ms that importing typing costs every process
    from pathlib import Path


def mapped_file(path: Path | str, num_bytes: int) -> memoryview:
    """Return the bytes of a file; whoever comes first makes it, of zeros.

    Args:
        path: The file.
        num_bytes: Its size, above 0.

    Raises:
        OSError: It cannot be made or mapped.
    """
    with open(path, "a+b") as file:  # noqa: PTH123  a path of either kind
        if file.tell() < num_bytes:
            file.truncate(num_bytes)
        return memoryview(mmap.mmap(file.fileno(), num_bytes))
