"""What interruptions took of a run: time without instances, and time that made no step."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.metrics.records.attempts import waited_s

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from smtc_lab.metrics.records.attempts import Attempt


@dataclass(frozen=True, kw_only=True)
class Gap:
    """One interruption, from the last step that counts to the next one.

    Times are in seconds since the epoch.
    """

    last_step_s: float
    """End of the last step that counts; of an attempt that made none, its begin."""

    gone_s: float
    """When the instances were gone."""

    back_s: float | None
    """When the next attempt began, or the run ended without one; None: not yet."""

    next_step_s: float | None
    """Begin of the next step that counts; None: the next attempt made none, or not yet."""

    step: int
    """Place of that step among those that count, from 0: as many count before it."""

    @property
    def waited_s(self) -> float:
        """Time without instances, which is not billed, in seconds."""
        return 0.0 if self.back_s is None else self.back_s - self.gone_s

    @property
    def lost_s(self) -> float:
        """Billed time that made no step that counts, in seconds.

        Steps that are done again, a notice, the start of the next attempt; where the run had
        made no step before, that start is the start-up of the run.
        """
        lost_s = self.gone_s - self.last_step_s
        if self.step and self.back_s is not None and self.next_step_s is not None:
            lost_s += self.next_step_s - self.back_s
        return lost_s


@dataclass(frozen=True, kw_only=True)
class Interrupted:
    """What the interruptions of one run took."""

    count: float = 0
    """Interruptions, or their mean over several runs."""

    waited_s: float = 0.0
    """Time without instances, which is not billed, in seconds."""

    lost_s: float = 0.0
    """Billed time between the last step that counts and the next one, in seconds: steps that
    are done again, a notice, the start of the next attempt, its checkpoint; of a run without
    a step all attempts that were interrupted."""

    around_s: tuple[float, float] = (0.0, 0.0)
    """How much of both lay before the first step that counts, and of the wait behind the last
    one, in seconds."""

    @property
    def between_s(self) -> float:
        """How much of both lay between steps that count, in seconds."""
        return self.lost_s + self.waited_s - sum(self.around_s)


def gaps(
    attempts: Sequence[Attempt],
    times_s: NDArray[np.float64] | None = None,
    *,
    ended_s: float | None = None,
) -> tuple[Gap, ...]:
    """Return each interruption of a run, in order; the last may have no attempt behind it.

    Args:
        attempts: All of its attempts, in order.
        times_s: Begin and end of the steps that count, shape (2, N), in seconds since the
            epoch; None: it has none.
        ended_s: When the run ended, in seconds since the epoch; None: it has not.
    """
    times_s = np.empty((2, 0)) if times_s is None else times_s
    begins_s, ends_s = np.maximum.accumulate(times_s, axis=1)
    found = []
    for before, after in pairwise([*attempts, None]):
        if before is None or (after is None and not before.interrupted_by):
            continue
        back_s = ended_s if after is None else after.started_s
        gone_s = back_s if before.ended_s is None else before.ended_s
        if gone_s is None:
            continue
        num_before = int(np.searchsorted(ends_s, gone_s, side="right"))
        last_s = max(before.started_s, float(ends_s[num_before - 1]) if num_before else 0.0)
        next_s = None
        if after is not None and num_before < ends_s.size:
            next_s = _within(after, float(begins_s[num_before]))
        found.append(
            Gap(
                last_step_s=min(last_s, gone_s),
                gone_s=gone_s,
                back_s=None if back_s is None else max(gone_s, back_s),
                next_step_s=next_s,
                step=num_before,
            )
        )
    return tuple(found)


def _within(attempt: Attempt, begin_s: float) -> float | None:
    """Return the begin of a step of an attempt; None: it is of a later one."""
    is_later = attempt.ended_s is not None and begin_s > attempt.ended_s
    return None if is_later else max(attempt.started_s, begin_s)


def interrupted(
    attempts: Sequence[Attempt],
    times_s: NDArray[np.float64] | None = None,
    *,
    ended_s: float | None = None,
) -> Interrupted:
    """Return what the interruptions of a run took.

    Args:
        attempts: All of its attempts, in order.
        times_s: Begin and end of the steps that count, shape (2, N), in seconds since the
            epoch; None: it has none.
        ended_s: When the run ended, in seconds since the epoch; None: it has not.
    """
    found = gaps(attempts, times_s, ended_s=ended_s)
    if times_s is None or not times_s.size:
        lost_s = sum(gap.lost_s for gap in found)
        return Interrupted(
            count=len(found), waited_s=waited_s(attempts, ended_s), lost_s=lost_s
        )
    # what is billed behind the last step is the end of the run
    behind = [gap for gap in found if gap.step == times_s.shape[1]]
    return Interrupted(
        count=len(found),
        waited_s=waited_s(attempts, ended_s),
        lost_s=sum(gap.lost_s for gap in found if gap not in behind),
        around_s=(
            sum(gap.waited_s + gap.lost_s for gap in found if gap.step == 0),
            sum(gap.waited_s for gap in behind),
        ),
    )
