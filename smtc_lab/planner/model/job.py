"""What a whole job takes and costs beside its steps: start-up and end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.result import Result
from smtc_lab.planner.intervals import Estimate, estimate

if TYPE_CHECKING:
    from smtc_lab.metrics.result import Interval
    from smtc_lab.planner.calibration.calibration import Calibration


class JobParts(Result):
    """A predicted job in its parts, as ``smtc_lab.metrics.bill`` has them of a launch."""

    startup_s: Estimate
    """From the start of the instances to the first step, in seconds, as measured on the
    calibrated machine."""

    steps_s: Estimate
    """All steps in seconds, compiling and what interruptions cost included."""

    end_s: Estimate | None
    """From the last step to the end, in seconds. An estimate from the calibrated machine: the
    exits of its processes, without what the script does after its loop, which no calibration
    reaches. None: an older calibration, which did not tell; then ``job_s`` has no end."""

    startup_usd: Estimate | None
    """Price of ``startup_s`` in USD; None: a price is unknown."""

    steps_usd: Estimate | None
    """Price of ``steps_s`` in USD, without waiting for spot instances, which is not billed;
    None: a price is unknown."""

    end_usd: Estimate | None
    """Price of ``end_s`` in USD; None: that or a price is unknown."""

    @property
    def whole_s(self) -> Interval:
        """All of it, in seconds."""
        parts = [self.startup_s, self.steps_s, *([] if self.end_s is None else [self.end_s])]
        return _sum(parts)

    @property
    def whole_usd(self) -> Interval | None:
        """Price of all of it in USD; None: a price is unknown."""
        if self.startup_usd is None or self.steps_usd is None:
            return None
        ends = [] if self.end_usd is None else [self.end_usd]
        return _sum([self.startup_usd, self.steps_usd, *ends])


def job_parts(
    calibration: Calibration,
    steps_s: Interval | None,
    *,
    usd_per_s: float | None,
    billed_fraction: float = 1.0,
) -> JobParts | None:
    """Return a job in its parts; None: its steps or the start-up are not known.

    Args:
        calibration: What was measured.
        steps_s: All its steps without compiling, in seconds; None: not known.
        usd_per_s: Price of all instances in USD per second; None: unknown.
        billed_fraction: Share of the steps' time that is billed, 0 to 1.
    """
    startup_s, end_s = calibration.startup_s, calibration.end_s
    if steps_s is None or startup_s is None:
        return None
    billed_s = steps_s.scaled(billed_fraction)
    if calibration.compile_s is not None:
        steps_s, billed_s = (_sum([one, calibration.compile_s]) for one in (steps_s, billed_s))

    def usd(part_s: Interval | None) -> Interval | None:
        return None if part_s is None or usd_per_s is None else part_s.scaled(usd_per_s)

    return JobParts(
        startup_s=startup_s,
        steps_s=steps_s,
        end_s=end_s,
        startup_usd=usd(startup_s),
        steps_usd=usd(billed_s),
        end_usd=usd(end_s),
    )


def _sum(parts: list[Interval]) -> Interval:
    return estimate(
        sum(part.mean for part in parts),
        sum(part.low for part in parts),
        sum(part.high for part in parts),
    )
