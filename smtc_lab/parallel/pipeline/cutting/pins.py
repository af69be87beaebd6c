"""Modules that a user puts on a stage by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.errors import EntryPointError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

_MOST_NAMES = 6


def allowed_by_pins(
    names: Sequence[str],
    stages: int,
    pins: Mapping[str, int] | None,
    default_partition: int | None,
) -> list[NDArray[np.bool_]]:
    """Return which ranges of pieces each stage may be, as matrices (N + 1, N + 1).

    Args:
        names: Names of the pieces, in order.
        stages: Stages.
        pins: Stage by the name of a module; the longest name that fits a piece counts.
        default_partition: Stage of all others; None: any.

    Raises:
        EntryPointError: A name is none of the model's, a stage is none of the pipeline's, or
            a later piece is pinned to an earlier stage.
    """
    pinned = _pinned(names, stages, pins or {}, default_partition)
    size = len(names) + 1
    order = np.arange(size)
    ranges = order[:, None] < order[None, :]
    allowed = []
    for stage in range(stages):
        others = [at is not None and at != stage for at in pinned]
        until = np.concatenate([[0], np.cumsum(others)])
        allowed.append(ranges & (until[:, None] == until[None, :]))  # no other's piece in it
    return allowed


def least_pins(names: Sequence[str], stages: Sequence[int]) -> dict[str, int]:
    """Return pins that leave one cut alone: the modules on both sides of each boundary.

    A module is named by the largest that it is inside and that is on one stage.

    Args:
        names: Names of the pieces, in order.
        stages: Stage of each, in order.
    """
    inside = _pieces_inside(names)

    def largest(piece: int) -> str:
        around = sorted(_names_around(names[piece]), key=len)
        own = {stages[piece]}
        return next((one for one in around if {stages[at] for at in inside[one]} == own), "")

    pins: dict[str, int] = {}
    for place in range(1, len(names)):
        if stages[place - 1] != stages[place]:
            for piece in (place - 1, place):
                pins[largest(piece) or names[piece]] = stages[piece]
    while wrong := [
        place
        for place, name in enumerate(names)
        if _longest(name, pins) not in (None, stages[place])
    ]:
        pins |= {names[place]: stages[place] for place in wrong}
    return pins


def _longest(name: str, pins: Mapping[str, int]) -> int | None:
    """Return the stage that pins give a piece; None: any."""
    around = [one for one in _names_around(name) if one in pins]
    return pins[max(around, key=len)] if around else None


def _pinned(
    names: Sequence[str], stages: int, pins: Mapping[str, int], default: int | None
) -> list[int | None]:
    for name, stage in [*pins.items(), ("default_partition", default)]:
        if stage is not None and not 0 <= stage < stages:
            raise EntryPointError(
                f"{name}={stage} is no stage: the pipeline has {stages}, from 0 to "
                f"{stages - 1}. Change it."
            )
    pinned: list[int | None] = [default] * len(names)
    pieces = _pieces_inside(names)
    for prefix in sorted(pins, key=len):
        inside = pieces.get(prefix, [])
        if not inside:
            shown = ", ".join(names[:_MOST_NAMES])
            more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
            raise EntryPointError(
                f"{prefix!r} is pinned to stage {pins[prefix]}, but no module that can be "
                f"placed has that name. There are {shown}{more}."
            )
        for piece in inside:
            pinned[piece] = pins[prefix]
    last: tuple[str, int] | None = None
    for name, at in zip(names, pinned, strict=True):
        if at is None:
            continue
        if last is not None and at < last[1]:
            raise EntryPointError(
                f"{name!r} is on stage {at}, but runs after {last[0]!r} of stage {last[1]}: a "
                "pipeline runs in order. Pin it to the same or a later stage."
            )
        last = (name, at)
    used = {at for at in pinned if at is not None}
    if None not in pinned and (missing := set(range(stages)) - used):
        raise EntryPointError(
            f"All modules are pinned, and none of them to stage {min(missing)} of {stages}. "
            "Pin a module there, or take fewer stages."
        )
    return pinned


def _pieces_inside(names: Sequence[str]) -> dict[str, list[int]]:
    """Return the pieces inside each module that has some, by its name."""
    found: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        for around in _names_around(name):
            found.setdefault(around, []).append(place)
    return found


def _names_around(name: str) -> set[str]:
    """Return the names by which a piece is pinned: its own, and those of modules around it."""
    own = name.partition("#")[0]  # the second call of a module is "name#2"
    parts = own.split(".")
    return {name, *(".".join(parts[:count]) for count in range(1, len(parts) + 1))}
