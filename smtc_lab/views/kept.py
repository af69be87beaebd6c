"""What a notebook keeps of what goes on or has ended: one mime bundle of a folder.

``python -m smtc_lab.views.kept FOLDER`` prints it as JSON. matplotlib's settings belong to the
whole process, and a kernel's thread must not touch them while a cell is drawing.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from smtc_lab.errors import SmtcLabError, ViewError
from smtc_lab.views.figures.drawing import mime_bundle, picture_of
from smtc_lab.views.kinds import kind_at

_LONGEST_S = 120.0
_REFUSED = 3


def bundle_at(path: Path) -> dict[str, Any]:
    """Return the mime bundle of what a folder holds, as it is now.

    Raises:
        StoreError: It cannot be read.
    """
    kind = kind_at(path)
    seen = kind.see(path)
    figure = kind.figure(seen)
    picture = None if figure is None else picture_of(figure)
    return mime_bundle(
        {kind.mime: seen.as_dict()},
        html=kind.html(seen, picture),
        text=kind.text(seen),
        picture=picture,
    )


def drawn_elsewhere(path: Path) -> dict[str, Any]:
    """Return the mime bundle of what a folder holds, made by a process of its own.

    Raises:
        ViewError: It could not be made.
    """
    try:
        done = subprocess.run(  # noqa: S603  our own module
            [sys.executable, "-m", "smtc_lab.views.kept", str(path)],
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=_LONGEST_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _refusal(path, str(error)) from error
    if done.returncode == _REFUSED:
        raise _refusal(path, done.stderr.strip())
    if done.returncode != 0:  # the end of a traceback may quote a file of the folder
        raise _refusal(path, "its maker failed; what it said stands in the log")
    bundle: dict[str, Any] = json.loads(done.stdout)
    return bundle


def _refusal(path: Path, why: str) -> ViewError:
    what = kind_at(path).name
    last = why.rpartition("\n")[2][-500:]
    return ViewError(
        f"The picture of {what} {path.name!r} could not be made ({last}). Its records are "
        f"kept; display the {what} again."
    )


def main() -> int:
    """Print the bundle of the folder that is named; or why it cannot be made, and return 3."""
    try:
        json.dump(bundle_at(Path(sys.argv[1])), sys.stdout)
    except SmtcLabError as error:
        print(" ".join(str(error).split()), file=sys.stderr)  # noqa: T201  for who started it
        return _REFUSED
    return 0


if __name__ == "__main__":
    sys.exit(main())
