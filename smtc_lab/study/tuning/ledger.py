"""The ledger of a study: what was suggested, and how it ended, each on disk before it counts.

A row for each thing that happened, in order. Played from its begin it gives the state in which
the study was, so a tuner that was killed goes on with the same suggestions.
"""

from __future__ import annotations

import fcntl
import json
import os
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self

import apsw

from smtc_lab.errors import LauncherError, StoreError
from smtc_lab.store.query import query

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

LEDGER = "trials.sqlite"
"""File of a study's ledger, in its folder."""

What = Literal["asked", "paused", "promoted", "ended"]
TrialState = Literal["InProgress", "Paused", "Completed", "Stopped", "Failed"]

_IN_USE = "trials.in-use"
_MOST_ROWS = 1_000_000
_MOST_BYTES = 100_000


@dataclass(frozen=True, kw_only=True)
class LedgerRow:
    """Something that happened to a trial."""

    what: What
    """``asked``: it was suggested. ``paused``: it waits at a rung. ``promoted``: it goes on
    from there. ``ended``: nothing more comes of it."""

    number: int
    """Of the trial, from 0."""

    parameters: dict[str, Any] = field(default_factory=dict)
    """Of one that was asked: its hyperparameters."""

    attributes: dict[str, Any] = field(default_factory=dict)
    """Of one that was asked: what the sampler keeps with it."""

    state: TrialState = "InProgress"
    """Of one that ended."""

    value: float | None = None
    """Its objective, at a rung or at its end; None: it has none."""

    points: int = 0
    """Values of the objective that it gave so far."""

    usd: float | None = None
    """What it has cost so far, in USD; None: its price is unknown."""

    steps: int = 0
    """Steps that it has taken so far."""

    seconds: float = 0.0
    """Time that it was trained for so far, in seconds of its clock."""

    reason: str = ""
    """Why it ended so, a sentence."""


class TrialLedger:
    """Writes the ledger of one study; one process at a time may.

    Args:
        folder: Folder of the study.

    Raises:
        LauncherError: Another process tunes in that folder.
        StoreError: The ledger cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self._lock = os.open(folder / _IN_USE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.lockf(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._lock)
            raise LauncherError(
                f"Another process tunes in {str(folder)!r} now. Wait until it has ended, or "
                "stop it."
            ) from error
        self._path = folder / LEDGER
        try:
            self._file = apsw.Connection(str(self._path))
            # each row outlives the machine before anything follows from it
            for pragma in ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=5000"):
                self._file.execute(f"PRAGMA {pragma}")
            self._file.execute(
                "CREATE TABLE IF NOT EXISTS trial_row ("
                "place INTEGER PRIMARY KEY, what TEXT NOT NULL, number INTEGER NOT NULL, "
                "told TEXT NOT NULL)"
            )
        except apsw.Error as error:
            raise StoreError(
                f"The ledger {str(self._path)!r} cannot be written ({error}). Free its disk, "
                "or give yourself the right to write it."
            ) from error

    def write(self, row: LedgerRow) -> None:
        """Write down what happened; when this returns it outlives the machine.

        Raises:
            StoreError: It cannot be written.
        """
        told = asdict(row)
        what, number = told.pop("what"), told.pop("number")
        try:
            self._file.execute(
                "INSERT INTO trial_row (what, number, told) VALUES (?, ?, ?)",
                (what, number, json.dumps(told)),
            )
        except apsw.Error as error:
            raise StoreError(
                f"The ledger {str(self._path)!r} cannot be written ({error}). Free its disk; "
                "the study goes on when it is started again."
            ) from error

    def close(self) -> None:
        """Let another process write it. Safe to call twice."""
        self._file.close()
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def read_ledger(folder: Path, *, after: int = 0) -> list[LedgerRow]:
    """Return what happened in a study, in order; also while it goes on.

    Args:
        folder: Folder of the study; it may be somebody else's.
        after: Rows to leave out at its begin.

    Raises:
        StoreError: It is damaged.
    """
    rows = query(
        [folder / LEDGER],
        f"SELECT what, number, substr(told, 1, {_MOST_BYTES}) FROM trial_row "  # noqa: S608  our own numbers
        f"WHERE place > ? ORDER BY place LIMIT {_MOST_ROWS}",
        (after,),
    )
    return [_row(folder, *row) for row in rows]


def _row(folder: Path, what: object, number: object, told: object) -> LedgerRow:
    try:
        values = json.loads(str(told))
        names = LedgerRow.__dataclass_fields__.keys() - {"what", "number"}
        known = {name: values[name] for name in names & values.keys()}
        return LedgerRow(what=_what(what), number=int(str(number)), **known)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise StoreError(
            f"The ledger of study {folder.name[:80]!r} is damaged ({str(error)[:80]}). Restore "
            f"{LEDGER} from a copy; its runs can still be read one by one."
        ) from error


def _what(value: object) -> What:
    for known in ("asked", "paused", "promoted", "ended"):
        if value == known:
            return known
    raise ValueError(f"a row says {str(value)[:20]!r}")
