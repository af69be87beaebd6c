"""One row of the list of runs, as it goes to a browser."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from smtc_lab.views.text.format import brief

DAMAGED = "Damaged"
"""Stands for the state of what cannot be read; ``reason`` says why."""


LIVE = frozenset({"Pending", "InProgress", "Stopping"})
"""States of what goes on."""


class Row(TypedDict):
    """What the list tells of a run or a comparison. Texts are data of users."""

    name: str
    """Name of its folder."""

    kind: str
    """What it is."""

    state: str
    """SageMaker's spelling, or ``DAMAGED``."""

    secondary: str
    """SageMaker's secondary state: ``Starting``, ``Interrupted``, …; empty: nothing to add."""

    reason: str
    """Why it is in that state; empty: nothing is to be said."""

    started_s: float | None
    """When it began, in seconds since the epoch; None: not yet, or not known."""

    ended_s: float | None
    """When it ended; None: not yet, or not known."""

    cluster: str
    """What tables call its cluster; of a comparison all, the baseline first."""

    entry_point: str
    """The script."""

    usd_per_hour: float | None
    """Price of its instances per hour in USD, of a comparison of the launch that runs now;
    None: unknown, or no launch runs."""

    is_billed: bool | None
    """Whether somebody is billed for it; False: it runs on the machine that launched it, and
    prices are what it would cost; None: not known.
    """

    usd_so_far: float | None
    """Price times time, of a comparison over all its launches; None: unknown."""

    steps: int | None
    """Steps that were recorded, of a comparison in its rounds; None: not counted yet."""

    max_steps: int | None
    """Steps that it will take; None: until the script ends."""

    step_time_s: float | None
    """Mean step time behind the warm-up; None: not known, or of a study, which has many."""

    evidence: Literal["measured", "emulated"]
    """What its step times are."""

    newest_run: str | None
    """Name of the newest launch of a study, which is a row too; None: a run, or none yet."""

    study: str | None
    """Name of the study that a run is a launch of; None: of none that is listed."""

    launch: str
    """What that study launches with it, as tables call it; empty: it is no launch."""

    round: int | None
    """Number of its round in that study, from 1; None: it is in none."""

    made_by: str
    """``calibration`` or ``proof``, which launched it to measure; empty: it was neither."""


def empty_row(name: str, kind: str) -> Row:
    """Return a row of which nothing is known but its name."""
    return Row(
        name=name,
        kind=kind,
        state="Pending",
        secondary="",
        reason="",
        started_s=None,
        ended_s=None,
        cluster="",
        entry_point="",
        usd_per_hour=None,
        is_billed=None,
        usd_so_far=None,
        steps=None,
        max_steps=None,
        step_time_s=None,
        evidence="measured",
        newest_run=None,
        study=None,
        launch="",
        round=None,
        made_by="",
    )


def damaged_row(row: Row, problem: object) -> Row:
    """Return the row of what cannot be read, and why."""
    return {**row, "state": DAMAGED, "reason": brief(str(problem))}


def known_sum(values: list[float | None]) -> float | None:
    """Return the sum of some numbers; None: one of them is unknown."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
