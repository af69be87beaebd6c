"""Which numbers the figure of a plan shows, and the limits that were set to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smtc_lab.views.text import format as fmt

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from smtc_lab.metrics.result import Interval
    from smtc_lab.views.figures.theme import Theme
    from smtc_lab.views.plan.info import PlanInfo, PointInfo


@dataclass(frozen=True, kw_only=True)
class PlanAxes:
    """Time against cost: of a step, or of the whole job where a limit is set to that."""

    is_job_time: bool
    """Whether the time is the job's."""

    is_job_cost: bool
    """Whether the cost is the job's; else that of 1,000 steps."""

    @classmethod
    def of(cls, plan: PlanInfo) -> PlanAxes:
        """Return the axes on which a plan's limits can be drawn."""
        return cls(
            is_job_time=plan.deadline_s is not None, is_job_cost=plan.budget_usd is not None
        )

    @property
    def is_of_steps(self) -> bool:
        """Whether both are of steps, as what was measured of a run is."""
        return not (self.is_job_time or self.is_job_cost)

    @property
    def labels(self) -> tuple[str, str]:
        """What the axes are called."""
        return (
            "seconds per job" if self.is_job_time else "seconds per step",
            "USD per job" if self.is_job_cost else "USD per 1,000 steps",
        )

    def time(self, point: PointInfo) -> Interval | None:
        """Return the time of a cluster in seconds; None: unknown."""
        return point.job_s if self.is_job_time else point.step_time_s

    def cost(self, point: PointInfo) -> Interval | None:
        """Return the cost of a cluster in USD; None: unknown."""
        return point.usd_per_job if self.is_job_cost else point.usd_per_1000_steps

    def draw_limits(self, axes: Axes, plan: PlanInfo, first_s: float, theme: Theme) -> None:
        """Draw each limit that is a line on these axes.

        Args:
            axes: Where time and cost are drawn.
            plan: What was asked for.
            first_s: The least time that is drawn, in seconds.
            theme: Colours and fonts.
        """
        how: dict[str, Any] = {
            "color": theme.ink,
            "linestyle": (0, (6, 3)),
            "linewidth": 1.2,
            "zorder": 1.5,
        }
        if self.is_job_time and plan.deadline_s is not None:
            words = f"deadline: {fmt.seconds(plan.deadline_s)}"
            axes.axvline(plan.deadline_s, label=words, **how)
        if self.is_job_cost and plan.budget_usd is not None:
            axes.axhline(plan.budget_usd, label=f"budget: {fmt.usd(plan.budget_usd)}", **how)
        per_hour = plan.budget_usd_per_hour
        if per_hour is not None and self.is_job_time == self.is_job_cost:
            usd_per_s = per_hour / 3600 * (1 if self.is_job_time else 1000)
            ends = [(time_s, time_s * usd_per_s) for time_s in (first_s, 1.01 * first_s)]
            words = f"budget: {fmt.usd_per_hour(per_hour)}"
            axes.axline(*ends, label=words, **how)
