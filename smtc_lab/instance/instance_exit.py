"""How an instance ended: its agent writes ``exit.json``, whoever started it reads that."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Self

from smtc_lab.machine.stored_text import stored_json
from smtc_lab.store.state import replace_file

if TYPE_CHECKING:
    from smtc_lab.store.run_folder import RunFolder


@dataclass(frozen=True, kw_only=True)
class InstanceExit:
    """How the entry point of an instance ended."""

    exit_code: int
    """Exit code; 128 + n when signal n ended it."""

    signal: int | None = None
    """The signal that ended it; None: it ended by itself."""

    rank: int | None = None
    """The trainer that failed; None: the instance has only one, or all ended well."""

    failed_at_s: float | None = None
    """When it failed by itself, in seconds since the epoch; None: it did not."""

    hung_s: float | None = None
    """How long its trainers stood still before they were ended; None: they did not."""

    asked_to_stop: bool = False
    """Whether it was told to stop before it ended."""

    cpu_quota_mechanism: str
    """How its CPU quota was held; ``none`` without a quota."""

    problems: list[str] = field(default_factory=list)
    """What went wrong around it: records that could not be written, say."""

    def write(self, folder: RunFolder, host: str) -> None:
        """Write it, on a full disk into the space that was kept for it."""
        path, text = folder.exit_file(host), json.dumps(asdict(self))
        try:
            replace_file(path, text)
        except OSError:
            folder.ballast.unlink(missing_ok=True)
            replace_file(path, text)

    @classmethod
    def read(cls, folder: RunFolder, host: str) -> Self | None:
        """Return what an agent wrote; None: it ended without a word."""
        try:
            return cls(**stored_json(folder.path, folder.exit_file(host)))
        except (OSError, ValueError, TypeError):
            return None
