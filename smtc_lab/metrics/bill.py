"""Where the billed time of a launch goes: start-up, steps, interruptions, end. Told in one way.

The parts add up to the billed time, since they meet at the first step's begin and at the last
step's end. Where the run was emulated, only its steps are told in the cluster's time: start-up,
interruptions and end are this machine's own seconds, have no price, and are not added to them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from smtc_lab.metrics.cost import usd_per_job
from smtc_lab.metrics.records.interrupted import Interrupted
from smtc_lab.metrics.result import Evidence, Result

if TYPE_CHECKING:
    from collections.abc import Sequence

_Parts = tuple[float | None, float | None, float, float | None]
"""Start-up, steps, interruptions, end."""


class Bill(Result):
    """The billed time of one launch in its parts, or the means over several launches."""

    startup_s: float | None
    """From the start of the instances to the begin of the first step of any rank, in seconds:
    instances, interpreter, imports, data and model made; of an attempt that came so far. None:
    no step, or no start known."""

    steps_s: float | None
    """From there to the end of the last step of any rank, in seconds, of an emulated run in
    cluster time: warm-up, compiling and what the script does between steps included,
    interruptions not. None: no step."""

    end_s: float | None
    """From there to the end of the last instance, in seconds: what the script does after its
    last step, the exits of its processes, the end of data instances. None: it has not ended,
    or no step."""

    billed_s: float | None
    """All of it, in seconds of the clock: the sum of the parts where they are known and the
    steps are not told in cluster time. None: not ended, or no start known."""

    startup_usd: float | None
    """Price of ``startup_s`` in USD; None: that or a price is unknown, or it was emulated."""

    steps_usd: float | None
    """Price of ``steps_s`` in USD; None: that or a price is unknown."""

    end_usd: float | None
    """Price of ``end_s`` in USD; None: that or a price is unknown, or it was emulated."""

    billed_usd: float | None
    """Price of ``billed_s`` in USD; None: that or a price is unknown, or it was emulated and
    would add up two clocks."""

    num_interruptions: float | None = None
    """Interruptions; of several launches their mean. None, as in what follows: none."""

    interruptions_s: float | None = None
    """Billed time between the last step that counts before an interruption and the next one,
    in seconds: steps done again, notice, start of the next attempt; of a run without a step
    all attempts that were interrupted."""

    interruptions_usd: float | None = None
    """Price of ``interruptions_s`` in USD; None also: not known, or it was emulated."""

    waited_s: float | None = None
    """Time without instances after interruptions, in seconds. It is not billed."""

    evidence: Evidence
    """``emulated``: the steps are in cluster time, start-up and end are this machine's own."""

    @property
    def around_fraction(self) -> float | None:
        """Share of the billed time that is start-up and end, 0 to 1; None: not known."""
        if self.startup_s is None or self.end_s is None or not self.billed_s:
            return None
        return (self.startup_s + self.end_s) / self.billed_s


def bill_of(  # noqa: PLR0913  options by name
    *,
    started_s: float | None,
    steps: tuple[float, float] | None,
    ended_s: float | None,
    usd_per_hour: float | None,
    evidence: Evidence,
    interrupted: Interrupted | None = None,
    dilation: float = 1.0,
) -> Bill:
    """Return where the time of one launch went.

    Instances have clocks of their own: a step outside of the billed time is moved to its edge.

    Args:
        started_s: When the instances were started, in seconds since the epoch; None: unknown.
        steps: Begin of the first step and end of the last one, of any rank; None: no step.
        ended_s: When the last instance ended; None: it has not.
        usd_per_hour: Price of the whole cluster; None: unknown.
        evidence: Whether the launch was emulated.
        interrupted: What interruptions took; None: there were none.
        dilation: Time dilation of the launch, by which the time of its steps is divided.
    """
    taken = interrupted or Interrupted()
    if ended_s is not None and started_s is not None:
        ended_s = max(started_s, ended_s)
    if steps is None:
        billed_s = None if started_s is None or ended_s is None else ended_s - started_s
        if billed_s is not None:
            billed_s = max(0.0, billed_s - taken.waited_s)
        parts_s: _Parts = (None, None, taken.lost_s, None)
        return _priced(parts_s, billed_s, usd_per_hour, evidence, taken)
    least_s = -math.inf if started_s is None else started_s
    most_s = math.inf if ended_s is None else ended_s
    first_s = min(max(steps[0], least_s), most_s)
    last_s = min(max(steps[1], first_s), most_s)
    early_s, late_s = taken.around_s
    startup_s = None if started_s is None else max(0.0, first_s - started_s - early_s)
    steps_s = max(0.0, last_s - first_s - taken.between_s)
    end_s = None if ended_s is None else max(0.0, ended_s - last_s - late_s)
    billed_s = _total([startup_s, steps_s, taken.lost_s, end_s])
    parts_s = (startup_s, steps_s / dilation, taken.lost_s, end_s)
    return _priced(parts_s, billed_s, usd_per_hour, evidence, taken)


def mean_bill(bills: Sequence[Bill], *, usd_per_hour: float | None) -> Bill | None:
    """Return the mean of each part over launches; None: there is no launch.

    What is unknown of one launch is unknown of the mean.

    Args:
        bills: Of launches of one cluster.
        usd_per_hour: Price of the whole cluster; None: unknown.
    """
    if not bills:
        return None
    parts_s = (
        _mean([bill.startup_s for bill in bills]),
        _mean([bill.steps_s for bill in bills]),
        _mean([bill.interruptions_s or 0.0 for bill in bills]) or 0.0,
        _mean([bill.end_s for bill in bills]),
    )
    billed_s = _mean([bill.billed_s for bill in bills])
    is_measured = all(bill.evidence == "measured" for bill in bills)
    evidence: Evidence = "measured" if is_measured else "emulated"
    taken = Interrupted(
        count=sum(bill.num_interruptions or 0 for bill in bills) / len(bills),
        waited_s=sum(bill.waited_s or 0.0 for bill in bills) / len(bills),
    )
    return _priced(parts_s, billed_s, usd_per_hour, evidence, taken)


def _priced(
    parts_s: _Parts,
    billed_s: float | None,
    usd_per_hour: float | None,
    evidence: Evidence,
    taken: Interrupted,
) -> Bill:
    startup_s, steps_s, interruptions_s, end_s = parts_s
    own_usd_per_hour = None if evidence == "emulated" else usd_per_hour
    parts_usd = (
        _usd(startup_s, own_usd_per_hour),
        _usd(steps_s, usd_per_hour),
        _usd(interruptions_s, own_usd_per_hour) if interruptions_s else 0.0,
        _usd(end_s, own_usd_per_hour),
    )
    total_usd = _total(parts_usd)
    startup_usd, steps_usd, interruptions_usd, end_usd = parts_usd
    return Bill(
        startup_s=startup_s,
        steps_s=steps_s,
        end_s=end_s,
        billed_s=billed_s,
        startup_usd=startup_usd,
        steps_usd=steps_usd,
        end_usd=end_usd,
        billed_usd=_usd(billed_s, own_usd_per_hour) if total_usd is None else total_usd,
        evidence=evidence,
        num_interruptions=taken.count or None,
        interruptions_s=interruptions_s if taken.count else None,
        interruptions_usd=interruptions_usd if taken.count else None,
        waited_s=taken.waited_s if taken.count else None,
    )


def _usd(seconds: float | None, usd_per_hour: float | None) -> float | None:
    return None if seconds is None else usd_per_job(billed_s=seconds, usd_per_hour=usd_per_hour)


def _total(parts: Sequence[float | None]) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if len(known) == len(values) else None
