"""Graphs that end early, and compilers that were not used at all."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from smtc_lab.metrics.finding import Cost, Finding
from smtc_lab.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from smtc_lab.rules.observation import Observation

_LEAST_HIT_FRACTION = 0.5
_LONG_COMPILE_FRACTION = 0.5


class GraphRule(Rule):
    """Finds graph breaks, a fallback to eager, and overhead that the job never earns back.

    A graph break is told as soon as the compiler's report tells it; a fallback, whose cost is a
    share of the run so far, from 30 measured steps on; overhead in a comparison alone.
    """

    def findings(self, seen: Observation) -> Iterable[Finding]:
        """Yield what ended graphs early, and what made them not worth it."""
        report = seen.report
        if report is None:
            return
        if report.fell_back_because is not None and seen.is_enough_for("fallback"):
            time = report.compile_time
            yield Finding(
                kind="fallback",
                sentence=f"It ran eagerly: {report.fell_back_because.rstrip('. ')}.",
                fix=(
                    "Mend that line, choose another backend, or ask for backend='eager', "
                    "which saves the time of trying."
                ),
                cost=Cost() if time is None else seen.cost_in_run(time.total_s),
            )
        for graph_break in report.graph_breaks:
            yield Finding(
                kind="graph_break",
                sentence=(
                    f"The graph ends here ({graph_break.reason.rstrip('. ')}), so that "
                    "nothing is fused across this line."
                ),
                fix=(
                    "Take printing, logging and decisions on values out of forward(), or "
                    "express the decision with torch.where."
                ),
                place=graph_break.place,
                cost=Cost(),
            )
        yield from _unearned(seen)


def _unearned(seen: Observation) -> Iterable[Finding]:
    """Yield a finding where the first steps took more than the job can earn back."""
    compiler = seen.compiler
    if compiler is None or compiler.break_even is None or compiler.backends == ("eager",):
        return
    steps = compiler.break_even.steps
    if steps is None or steps.mean <= seen.num_steps:
        return
    first, cost = math.ceil(steps.mean), seen.cost_in_run(compiler.overhead_s)
    cache = compiler.cache_hit_fraction
    advice = (
        " Its compiled code was not in the cache; a second run starts sooner."
        if cache is not None and cache < _LEAST_HIT_FRACTION
        else ""
    )
    yield Finding(
        kind="overhead",
        severity="warning" if (cost.fraction or 0.0) >= _LONG_COMPILE_FRACTION else "note",
        sentence=(
            f"This job of {seen.num_steps:,} steps ends before step {first:,}, from "
            f"which on the compiler pays.{advice}"
        ),
        fix="Leave short jobs eager (backend='auto' decides so by itself), or train longer.",
        cost=cost,
    )
