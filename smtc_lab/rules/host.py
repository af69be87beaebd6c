"""The host that waits for the device, and what it computes in its stead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.finding import Cost, Finding
from smtc_lab.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from smtc_lab.metrics.records.compiler_report import CompilerReport
    from smtc_lab.rules.observation import Observation

_EACH_STEP = 0.5
"""From so many syncs a step on, a line is one of every step rather than of the log."""


class HostRule(Rule):
    """Finds lines that make the host wait in each step, and operators that it took over.

    They are told as soon as the compiler's report tells them, which has counted them over a few
    steps. Their cost is not measured: it shows only when the line is taken away. Where the CPU
    itself computes step by step, as eager and inductor do, waiting costs nothing.
    """

    def findings(self, seen: Observation) -> Iterable[Finding]:
        """Yield the lines and the operators."""
        if seen.report is not None:
            yield from _syncs(seen.report)
            yield from _operators(seen.report)


def _syncs(report: CompilerReport) -> Iterable[Finding]:
    is_free = report.device == "cpu"
    for sync in report.host_syncs:
        if sync.per_step < _EACH_STEP:
            continue
        elsewhere = (
            " On a CPU that costs nothing; on an accelerator the device would idle."
            if is_free
            else " Meanwhile the device gets no new work."
        )
        yield Finding(
            kind="host_sync",
            severity="note" if is_free else "warning",
            sentence=(
                f"{sync.operation} makes the host wait for the device "
                f"{_times(sync.per_step)} a step.{elsewhere}"
            ),
            fix=(
                "Keep the value a tensor (add losses up with detach()), and read it only where "
                "it is logged, every 10 steps or more."
            ),
            place=sync.place,
            cost=Cost(fraction=0.0 if is_free else None),
        )


def _operators(report: CompilerReport) -> Iterable[Finding]:
    for fallback in report.host_operators:
        yield Finding(
            kind="host_operator",
            sentence=(
                f"The compiler's device has no {fallback.operator}: the host runs it "
                f"{_times(fallback.per_step)} a step, and the graph is cut there."
            ),
            fix=(
                "Use an operator whose result has a fixed shape (torch.where, a mask) instead, "
                "or move it into the dataset's transform."
            ),
            cost=Cost(),
        )


def _times(per_step: float) -> str:
    return "once" if per_step == 1 else f"{per_step:.3g} times"
