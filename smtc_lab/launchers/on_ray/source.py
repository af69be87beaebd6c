"""The folder of an entry point, as bytes that travel to the nodes."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

from smtc_lab.launchers.source_archive import files_below


def pack(entry_point: str) -> bytes:
    """Return the files of an entry point's folder as a tar archive."""
    folder = Path(entry_point).resolve().parent
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path in files_below(folder):
            # a link travels as the file that it names
            archive.add(path.resolve(), arcname=str(path.relative_to(folder)))
    return packed.getvalue()
