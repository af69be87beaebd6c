"""Shapes that change make a compiler begin anew."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.metrics.columns import STEP
from smtc_lab.metrics.finding import Cost, Finding
from smtc_lab.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from smtc_lab.metrics.records.compiler_report import Recompilation
    from smtc_lab.rules.observation import Observation

_SIZE = re.compile(r"\.size\((\d+)\)")
_FIRST_AXIS_FIX = (
    "Give every batch the same number of samples: drop_last=True in the DataLoader; evaluate "
    "with the batch size of training."
)
_PADDING_FIX = (
    "Pad every batch to one length (padding='max_length' rather than 'longest'), or to a "
    "multiple of 64; with inductor, dynamic=True compiles once for all lengths."
)
_OTHER_FIX = (
    "Keep what the guard looks at the same in every step: pass numbers that change as tensors, "
    "and do not replace modules or attributes while training."
)
_FIXES = {"padding": _PADDING_FIX, "batch_shape": _FIRST_AXIS_FIX}


class ShapeRule(Rule):
    """Finds what recompilations and changing batches cost, one finding for each cause.

    While the run grows either is told from 30 measured steps on: the one costs a share of the
    run so far, the other tells apart the usual batch and the rest. Of the steps it keeps how
    often each batch size came.
    """

    def __init__(self) -> None:
        self._batches: Counter[float] = Counter()

    def take(self, steps: NDArray[np.float64]) -> None:
        """Count the first rank's batches by their size."""
        samples = steps[STEP["first_rank_samples"]]
        self._batches.update(samples[~np.isnan(samples)].tolist())

    def findings(self, seen: Observation) -> Iterable[Finding]:
        """Yield a finding for each place that was compiled again, or a note on the batches."""
        report = seen.report
        by_place: dict[tuple[object, str], list[Recompilation]] = {}
        for each in report.recompilations if report is not None else ():
            by_place.setdefault((each.place, _kind(each.cause)), []).append(each)
        for (_, kind), group in by_place.items():
            if seen.is_enough_for(kind):
                yield Finding(
                    kind=kind,
                    sentence=_sentence(kind, group),
                    fix=_FIXES.get(kind, _OTHER_FIX),
                    place=group[0].place,
                    step=group[0].step,
                    cost=seen.cost_in_run(sum(each.seconds for each in group)),
                )
        is_compiled = report is not None and report.backend != "eager"
        if is_compiled and not by_place and seen.is_enough_for("batch_shape"):
            yield from _changing_batches(self._batches)


def _kind(cause: str) -> str:
    axis = _SIZE.search(cause)
    if axis is None:
        return "recompilation"
    return "batch_shape" if axis[1] == "0" else "padding"


def _sentence(kind: str, group: list[Recompilation]) -> str:
    times = "once" if len(group) == 1 else f"{len(group):,} times"
    what = {
        "padding": "Sequences of another length made the compiler begin anew",
        "batch_shape": "A batch of another size made the compiler begin anew",
    }.get(kind, "The compiler began anew")
    return f"{what} {times}: {group[0].cause.rstrip('. ')}."


def _changing_batches(counts: Counter[float]) -> Iterable[Finding]:
    """Yield a note on batches of several sizes that have cost nothing yet."""
    if len(counts) < 2:
        return
    ((usual, times),) = counts.most_common(1)
    others = counts.total() - times
    yield Finding(
        kind="batch_shape",
        severity="note",
        sentence=(
            f"{others:,} of {counts.total():,} steps had another number of samples than "
            f"{int(usual):,}; no recompilation was seen."
        ),
        fix=_FIRST_AXIS_FIX,
        cost=Cost(fraction=0.0),
    )
