"""What a user says of where a pipeline is cut: checked before anything runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_PINS = 1_000
LONGEST_NAME = 300

_ONE_STAGE = frozenset({"gpipe", "1f1b"})
"""Schedules that give each trainer one stage; all others give it two."""


def num_stages(pipeline: int, schedule: str) -> int:
    """Return the stages of a pipeline over so many trainers."""
    return pipeline if schedule in _ONE_STAGE else 2 * pipeline


def placement_problem(
    pipeline: int,
    schedule: str,
    *,
    pins: Mapping[str, int],
    default_partition: int | None,
    limit_bytes: float | None,
) -> str | None:
    """Return what is wrong with a placement, and what to do; None: nothing.

    Args:
        pipeline: Trainers of the pipeline; 1: there is none.
        schedule: Its schedule.
        pins: Stage by the name of a module.
        default_partition: Stage of all others; None: where it is best.
        limit_bytes: What a trainer may hold; None: no limit.
    """
    given: dict[str, object] = {
        "pins": pins or None,
        "default_partition": default_partition,
        "limit_bytes": limit_bytes,
    }
    if pipeline == 1 and (named := next((n for n, v in given.items() if v is not None), None)):
        return (
            f"distribution.{named}={str(given[named])[:80]}, but there is no pipeline that is "
            f"cut. Add pipeline, or drop {named}."
        )
    stages = num_stages(pipeline, schedule)
    if len(pins) > MOST_PINS:
        return (
            f"distribution.pins has {len(pins):,} modules, but at most {MOST_PINS:,} can be "
            "pinned. Name the modules around them."
        )
    wrong = next((name for name in pins if not 0 < len(name) <= LONGEST_NAME), None)
    if wrong is not None:
        return (
            f"distribution.pins has a module whose name is {len(wrong)} characters long, but "
            f"must be of 1 to {LONGEST_NAME}. Write it as named_modules() does."
        )
    placed: dict[str, int | None] = {f"pins[{name[:80]!r}]": pins[name] for name in pins}
    for name, stage in {**placed, "default_partition": default_partition}.items():
        if stage is not None and not 0 <= stage < stages:
            return (
                f"distribution.{name}={stage} is no stage: {schedule} has {stages} here, from "
                f"0 to {stages - 1}. Take one of these."
            )
    if limit_bytes is not None and not limit_bytes >= 1:
        return (
            f"distribution.limit_bytes={limit_bytes} must be at least 1. Give the bytes that "
            "each device may hold, for example 16e9, or drop it."
        )
    return None
