"""Where the money goes: what 1,000 steps of a set-up cost, and a launch of it, by cause.

A group's price is split by what its instances did. Data instances prepare data as long as their
CPUs are busy. Training instances compute as long as their devices do; what is left of a step,
they wait for data as long as the trainers did. Nothing is split that is not known, and no part
adds up two scales.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from smtc_lab.metrics.cost import usd_per_job

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from smtc_lab.metrics.bill import Bill
    from smtc_lab.spec.cluster import Role

StepsCause = Literal[
    "compute",
    "step",
    "data_wait",
    "device_idle",
    "trainers_unknown",
    "prepare_data",
    "data_idle",
    "data_unknown",
]
"""What 1,000 steps are paid for.

Of training instances: ``compute``, the devices compute; ``data_wait``, the trainers wait for
the next batch; ``device_idle``, neither of both; ``step``, all but the data wait, where nobody
told when the devices computed; ``trainers_unknown``, not even the data wait is known. Of data
instances: ``prepare_data``, their CPUs are busy; ``data_idle``, they are not; ``data_unknown``,
nobody told."""

LaunchCause = Literal["startup", "first_steps", "steps", "all_steps", "interruptions", "end"]
"""What a launch is paid for.

``startup``, until the first step begins; ``first_steps``, what the first steps take beyond as
many steady ones, as for compiling; ``steps``, all else until the last step ends; ``all_steps``,
both of these, not told apart; ``interruptions``, what makes no step that counts, from the last
step before an interruption to the next one; ``end``, what comes behind."""

_STEPS = 1000


@dataclass(frozen=True, kw_only=True)
class PaidGroup:
    """An instance group as it is paid for."""

    role: Role
    """What its instances do."""

    usd_per_hour: float | None
    """Price of all its instances per hour in USD; None: unknown."""

    cpu_fraction: float | None
    """CPU time that they used over CPU time at hand, 0 to 1; None: not known."""


def steps_spent(
    groups: Sequence[PaidGroup],
    *,
    step_time_s: float | None,
    data_wait_fraction: float | None,
    device_fraction: float | None,
) -> dict[StepsCause, float]:
    """Return the cost of 1,000 steps in USD by cause, in their order; the parts add up to it.

    Args:
        groups: All its instance groups.
        step_time_s: Mean step time in seconds; None: no step.
        data_wait_fraction: Data wait over step time, 0 to 1; None: not known.
        device_fraction: Device time over step time, 0 to 1; None: not known.

    Returns:
        No part where a price is unknown, or there is no step. A device that computes while its
        trainer waits for the next batch is at work: only what is left is data wait.
    """
    prices = [group.usd_per_hour for group in groups]
    if step_time_s is None or None in prices:
        return {}
    found: dict[StepsCause, float] = {}
    for group in groups:
        usd = usd_per_job(billed_s=_STEPS * step_time_s, usd_per_hour=group.usd_per_hour) or 0.0
        shares = (
            _of_trainers(data_wait_fraction, device_fraction)
            if group.role == "train"
            else _of_data_instances(group.cpu_fraction)
        )
        for cause, share in shares:
            found[cause] = found.get(cause, 0.0) + usd * share
    return {cause: usd for cause in STEPS_CAUSES if (usd := found.get(cause, 0.0)) > 0}


def launch_spent(
    bill: Bill | None, *, first_steps_s: float | None, usd_per_hour: float | None
) -> dict[LaunchCause, float]:
    """Return the cost of one launch in USD by cause; the parts add up to what was billed.

    Args:
        bill: Where the time of its launches went, means; None: not known.
        first_steps_s: Time that the first steps took beyond as many steady ones, in seconds;
            None: not known, and told with the steps.
        usd_per_hour: Price of the whole cluster; None: unknown.

    Returns:
        No part where one is unknown, or was emulated and so is on a scale of its own.
    """
    if bill is None or bill.startup_usd is None or bill.end_usd is None:
        return {}
    if bill.steps_usd is None or bill.evidence == "emulated":
        return {}
    lost_usd = bill.interruptions_usd
    return {
        "startup": bill.startup_usd,
        **_of_steps(bill.steps_usd, first_steps_s, usd_per_hour),
        **({"interruptions": lost_usd} if lost_usd else {}),
        "end": bill.end_usd,
    }


STEPS_CAUSES: dict[StepsCause, bool] = {
    "compute": False,
    "step": False,
    "data_wait": True,
    "device_idle": True,
    "trainers_unknown": False,
    "prepare_data": False,
    "data_idle": True,
    "data_unknown": False,
}
"""Each cause, in the order in which it is told: whether the instances are paid for waiting."""

LAUNCH_CAUSES: dict[LaunchCause, bool] = {
    "startup": True,
    "first_steps": True,
    "steps": False,
    "all_steps": False,
    "interruptions": True,
    "end": True,
}
"""Each cause: whether what is paid for makes no step that would be made again."""


def _of_trainers(
    data_wait: float | None, device: float | None
) -> Iterator[tuple[StepsCause, float]]:
    """Return the shares of a step, which add up to 1."""
    if data_wait is None:
        yield "trainers_unknown", 1.0
        return
    busy = 0.0 if device is None else _within(device)
    waits = min(_within(data_wait), 1.0 - busy)
    yield "data_wait", waits
    if device is None:
        yield "step", 1.0 - waits
    else:
        yield "compute", busy
        yield "device_idle", 1.0 - busy - waits


def _of_data_instances(cpu: float | None) -> Iterator[tuple[StepsCause, float]]:
    """Return the shares of a step, which add up to 1."""
    if cpu is None:
        yield "data_unknown", 1.0
    else:
        yield "prepare_data", _within(cpu)
        yield "data_idle", 1.0 - _within(cpu)


def _of_steps(
    steps_usd: float, first_steps_s: float | None, usd_per_hour: float | None
) -> dict[LaunchCause, float]:
    """Return the parts of what all steps cost, in USD."""
    if first_steps_s is None or usd_per_hour is None:
        return {"all_steps": steps_usd}
    usd = usd_per_job(billed_s=max(0.0, first_steps_s), usd_per_hour=usd_per_hour) or 0.0
    first_usd = min(usd, steps_usd)
    return {"first_steps": first_usd, "steps": steps_usd - first_usd}


def _within(share: float) -> float:
    return min(1.0, max(0.0, share))
