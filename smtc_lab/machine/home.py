"""Where smtc_lab keeps what belongs to the user: runs, caches, environments."""

from __future__ import annotations

import os
from pathlib import Path

HOME_VARIABLE = "SMTC_LAB_HOME"
"""Environment variable that moves all of it."""

WORK = "work"
"""Name of the folder in that of a run whose entry points have a working folder of their own."""

STUDIES = "comparisons"
"""Name of the folder of studies, beside that of their runs: the first kind were comparisons."""


def home() -> Path:
    """Return ``$SMTC_LAB_HOME``, or the user's data folder for this package."""
    given = os.environ.get(HOME_VARIABLE)
    if given:
        return Path(given).expanduser().resolve()
    import platformdirs  # noqa: PLC0415  only the default needs it

    return Path(platformdirs.user_data_dir("smtc_lab"))
