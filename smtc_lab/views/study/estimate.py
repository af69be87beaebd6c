"""What is seen of a set-up while its launches still run, from all steps so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.metrics.bootstrap import mean_interval
from smtc_lab.metrics.measured_columns import cpu_of_groups
from smtc_lab.metrics.utilization import data_wait_fraction, device_utilization

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.metrics.result import Interval
    from smtc_lab.views.study.followed_launch import FollowedLaunch

RESAMPLES = 200
"""Bootstrap resamples of an interval that is replaced a second later."""


@dataclass(frozen=True, kw_only=True)
class SetUpEstimate:
    """What is seen of one set-up so far, warm-up left out."""

    steps: int
    """Steps of all its launches."""

    step_time_s: Interval | None
    """Mean step time in seconds; None: no step yet."""

    data_wait_fraction: float | None
    """Data wait over step time; None: no step yet."""

    device_fraction: float | None
    """Device time over step time; None: not known."""

    cpu: dict[str, float | None]
    """By group: CPU time used over CPU time at hand; None: not known."""

    billed_s: float
    """Time of all its launches from start to end, or until now, in seconds."""


def set_up_estimate(launches: Sequence[FollowedLaunch], groups: Sequence[str]) -> SetUpEstimate:
    """Return what is seen of a set-up.

    Args:
        launches: Its launches so far.
        groups: Names of its instance groups.
    """
    billed_s = sum(launch.billed_s() for launch in launches)
    measured = [found for launch in launches if (found := launch.measured()) is not None]
    if not measured:
        return SetUpEstimate(
            steps=0,
            step_time_s=None,
            data_wait_fraction=None,
            device_fraction=None,
            cpu=dict.fromkeys(groups),
            billed_s=billed_s,
        )
    steps = np.concatenate([launch.steps for launch in measured], axis=1)
    return SetUpEstimate(
        steps=steps.shape[1],
        step_time_s=mean_interval(
            [launch.step_time_s for launch in measured], num_resamples=RESAMPLES
        ),
        data_wait_fraction=data_wait_fraction(steps),
        device_fraction=device_utilization(steps),
        cpu=cpu_of_groups(measured),
        billed_s=billed_s,
    )
