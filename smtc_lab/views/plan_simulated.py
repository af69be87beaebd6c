"""A run that was played, not run, in the chart of a real one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.views.widgets.live_chart import LiveChart

if TYPE_CHECKING:
    from smtc_lab.planner.simulation import SimulatedRun


def simulated_chart(run: SimulatedRun) -> LiveChart:
    """Return step time and data wait over the steps of a simulated run, marked ``predicted``.

    Of several ranks the slowest counts in each step, as in a real run.

    Raises:
        ViewError: The front end was not built.
    """
    chart = LiveChart(
        ["step time", "data wait"],
        title="Simulated run",
        y_label="seconds of each step",
        x_unit="count",
        y_unit="s",
        evidence=run.evidence,
    )
    ranks = list(run.steps.values())
    for records in zip(*ranks, strict=True):
        slowest = max(records, key=lambda record: record.step_time_s)
        chart.push(slowest.step, slowest.step_time_s, slowest.data_wait_s)
    return chart
