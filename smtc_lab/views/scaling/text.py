"""A scaling study in words: rows of its table, and a text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.parity import shown
from smtc_lab.metrics.scaling.scaling import CAUSES
from smtc_lab.metrics.scaling.verdict import CAUSE_WORDS, REST
from smtc_lab.views.study.info import RowInfo
from smtc_lab.views.text import format as fmt
from smtc_lab.views.text.findings import told

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from smtc_lab.metrics.scaling.scaling import Cause, Scaling, ScalingPoint

_NONE = "\N{EM DASH}"


def scaling_rows(scaling: Scaling, set_ups: Sequence[str]) -> tuple[RowInfo, ...]:
    """Return what only a scaling study tells, one column for each set-up.

    Args:
        scaling: The result, or that of the rounds so far.
        set_ups: Names of all set-ups, in the order of the columns.
    """
    by_name = {point.set_up: point for curve in scaling.curves for point in curve.points}
    points = [by_name.get(name) for name in set_ups]

    def row(label: str, cell: Callable[[ScalingPoint], str]) -> RowInfo:
        return RowInfo(
            label=label,
            cells=tuple((fmt.UNKNOWN if each is None else cell(each),) for each in points),
        )

    rows = [
        row("devices", lambda p: str(p.devices)),
        row("samples/s over the fewest", lambda p: _over(p, fmt.times_interval(p.speedup))),
        row(
            f"{scaling.mode} efficiency",
            lambda p: _over(p, fmt.percent_interval(p.efficiency)),
        ),
        row(
            "each added device brings",
            lambda p: _over(p, fmt.percent_interval(p.marginal_efficiency)),
        ),
        row(
            "samples per dollar over the first",
            lambda p: (
                _NONE if p.set_up == set_ups[0] else fmt.times_interval(p.cost_efficiency)
            ),
        ),
        row(
            "$/million samples",
            lambda p: fmt.usd_interval(p.usd_per_million_samples, symbol=False),
        ),
    ]
    if scaling.samples_per_epoch is not None:
        rows += [
            row("s/epoch", lambda p: fmt.number_interval(p.epoch_s)),
            row("$/epoch", lambda p: fmt.usd_interval(p.usd_per_epoch, symbol=False)),
        ]
    known = [p for p in points if p is not None]
    if any(p.exposed_comm_s is not None for p in known):
        rows.append(row("exposed communication (ms/step)", _exposed))
    for cause in CAUSES:
        if any(part.cause == cause for point in known for part in point.lost):
            words = cause_words(cause, known)
            rows.append(row(f"lost to {words} (ms/step)", lambda p, of=cause: _lost(p, of)))  # type: ignore[misc]
    if any(point.same_model is not None for point in known):
        rows.append(row("trains the model of one process", _sameness))
    return tuple(rows)


def cause_words(cause: Cause, points: Sequence[ScalingPoint]) -> str:
    """Return a cause in words, by whether communication was measured."""
    is_measured = any(part.cause == "communication" for point in points for part in point.lost)
    return REST if cause == "other" and is_measured else CAUSE_WORDS[cause]


def scaling_text(scaling: Scaling) -> str:
    """Return a result for a terminal and an e-mail."""
    names = [point.set_up for curve in scaling.curves for point in curve.points]
    rows = scaling_rows(scaling, names)
    first = max(len(row.label) for row in rows)
    widths = [
        max(fmt.columns(name), *(fmt.columns(row.cells[place][0]) for row in rows))
        for place, name in enumerate(names)
    ]
    cells = [("", [fmt.plain(name) for name in names])]
    cells += [(row.label, [cell[0] for cell in row.cells]) for row in rows]
    lines = [
        "  ".join(
            [
                f"{label:<{first}}",
                *(
                    text + " " * (width - fmt.columns(text))
                    for text, width in zip(texts, widths, strict=True)
                ),
            ]
        ).rstrip()
        for label, texts in cells
    ]
    findings = [str(each) for each in told(scaling.findings)]
    return "\n".join(["", *lines, "", fmt.plain(scaling.verdict), *findings])


def _sameness(point: ScalingPoint) -> str:
    found = point.same_model
    if found is None:
        return _NONE
    if found.same is None:
        return "not judged"
    if not found.same:
        return "no"
    apart, twin = shown(found.weight_difference), shown(found.twin_weight_difference)
    return f"yes, {apart} apart (its twin: {twin})"


def _over(point: ScalingPoint, text: str) -> str:
    return _NONE if point.speedup is None else text


def _exposed(point: ScalingPoint) -> str:
    exposed_s = point.exposed_comm_s
    if point.devices == 1:
        return _NONE
    if exposed_s is None:
        return fmt.UNKNOWN
    share = fmt.percent(exposed_s.mean / point.step_time_s.mean)
    return f"{fmt.number_interval(exposed_s.scaled(1000))}, {share} of it"


def _lost(point: ScalingPoint, cause: Cause) -> str:
    part = next((each for each in point.lost if each.cause == cause), None)
    return _NONE if part is None else fmt.number_interval(part.s_per_step.scaled(1000))
