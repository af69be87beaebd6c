"""What a form is told of its job on spot instances. Goes to the browser as JSON.

``smtc_lab.views.wire_schema`` tells TypeScript of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from smtc_lab.metrics.result import Interval  # noqa: TC001  pydantic reads it
from smtc_lab.views.text.json_values import json_values

SPOT_ANSWER_VERSION: Literal[1] = 1
"""Version of ``SpotAnswer``; another one means another front end."""


@dataclass(frozen=True, kw_only=True)
class AnsweredPolicy:
    """What became of all futures under one policy. Predicted."""

    policy: str
    """Its name."""

    usd: Interval
    """Cost in USD, with the ends between which 90 % of the futures lie."""

    finish_s: Interval
    """Time until the end in seconds, with the same ends."""

    deadline_probability: float | None
    """Share of the futures that end in time, 0 to 1; None: there is no deadline."""

    ended_fraction: float
    """Share of the futures that end at all, 0 to 1; below 1 cost and time are at least so."""

    save_every_s: float | None
    """Work between two saves that costs least, in seconds; None: it saves once."""

    use_spot_instances: bool | None
    """What a job says to be trained so; None: no job can say it."""


@dataclass(frozen=True, kw_only=True)
class SpotAnswer:
    """What a job of a form would cost on spot instances, and when it would end."""

    version: Literal[1] = SPOT_ANSWER_VERSION
    """Version of this description."""

    asked: str = ""
    """Which question it answers, as the browser called it; empty: nobody asked yet."""

    problem: str = ""
    """Why nothing is predicted, and what to do; empty: it is."""

    about: tuple[str, ...] = ()
    """What it is of, in sentences."""

    policies: tuple[AnsweredPolicy, ...] = ()
    """The policies, beginning with on-demand instances alone."""

    best: str = ""
    """Name of the policy that is recommended; empty: none ends in time."""

    advice: tuple[str, ...] = ()
    """What to take and why, and what the numbers are, in sentences."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return json_values(self)
