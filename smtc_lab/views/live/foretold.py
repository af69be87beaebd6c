"""What was predicted of a study's set-ups when a form started it, kept in its folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import TypeAdapter

from smtc_lab.errors import StoreError
from smtc_lab.machine.stored_text import SCHEMA, stored_json
from smtc_lab.metrics.interval_json import IntervalJson
from smtc_lab.metrics.result import Interval
from smtc_lab.store.state import replace_file
from smtc_lab.views.live.part_use import PartUse  # noqa: TC001  pydantic reads it

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.study.folder import StudyFolder

_FILE = "foretold.json"
_Predicted = Annotated[Interval, IntervalJson(level=0.8, evidence="predicted", mean="mean")]


@dataclass(frozen=True, kw_only=True)
class Foretold:
    """What was predicted of a set-up before it ran, as its launches here would show it."""

    step_time_s: _Predicted
    """Mean step time in seconds."""

    usd_per_1000_steps: _Predicted | None
    """Cost of 1,000 steps in USD; None: a price is unknown."""

    use: PartUse
    """How busy its parts would be."""


@dataclass(frozen=True, kw_only=True)
class _ForetoldFile:
    schema_version: Literal[1] = 1
    set_ups: tuple[Foretold | None, ...]


_KEPT = TypeAdapter(_ForetoldFile)


def keep_foretold(folder: StudyFolder, foretold: Sequence[Foretold | None]) -> None:
    """Keep what was predicted of a study's set-ups; nothing where nothing was.

    Args:
        folder: Of the study.
        foretold: By set-up; None: nothing is predicted of it.

    Raises:
        OSError: It cannot be written.
    """
    if any(foretold):
        text = _KEPT.dump_json(_ForetoldFile(set_ups=tuple(foretold)), indent=1)
        replace_file(folder.path / _FILE, text.decode())


def kept_foretold(folder: StudyFolder) -> tuple[Foretold | None, ...]:
    """Return what was predicted of a study's set-ups; empty: nothing that can be read."""
    try:
        values = stored_json(folder.path, folder.path / _FILE, newest=SCHEMA)
        return _KEPT.validate_python(values).set_ups
    except (OSError, ValueError, StoreError):
        return ()
