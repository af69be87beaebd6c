"""Shapes that change make a compiler begin anew."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from smtc_lab.rules.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable

    from smtc_lab.metrics.compiler_report import Recompilation
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


def shape_findings(seen: Observation) -> Iterable[Finding]:
    """Yield what recompilations and changing batches cost, one finding for each cause."""
    report = seen.report
    by_place: dict[tuple[object, str], list[Recompilation]] = {}
    for each in report.recompilations if report is not None else ():
        by_place.setdefault((each.place, _kind(each.cause)), []).append(each)
    for (_, kind), group in by_place.items():
        seconds = sum(each.seconds for each in group)
        yield Finding(
            kind=kind,
            severity="warning",
            sentence=_sentence(kind, group),
            fix={"padding": _PADDING_FIX, "batch_shape": _FIRST_AXIS_FIX}.get(kind, _OTHER_FIX),
            place=group[0].place,
            cost_fraction=min(1.0, seconds / seen.total_s) if seen.total_s > 0 else None,
        )
    if not by_place:
        yield from _changing_batches(seen)


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


def _changing_batches(seen: Observation) -> Iterable[Finding]:
    """Yield a note on batches of several sizes that have cost nothing yet."""
    counts = Counter(seen.num_samples)
    is_compiled = seen.report is not None and seen.report.backend != "eager"
    if len(counts) < 2 or not is_compiled:
        return
    usual, _ = counts.most_common(1)[0]
    others = len(seen.num_samples) - counts[usual]
    yield Finding(
        kind="batch_shape",
        severity="note",
        sentence=(
            f"{others:,} of {len(seen.num_samples):,} steps had another number of samples than "
            f"{usual:,}; no recompilation was seen."
        ),
        fix=_FIRST_AXIS_FIX,
        cost_fraction=0.0,
    )
