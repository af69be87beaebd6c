"""A scaling study in words: rows of its table, and a text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.parity_trace import shown
from smtc_lab.metrics.scaling.scaling import CAUSES
from smtc_lab.metrics.scaling.verdict import CAUSE_WORDS, REST
from smtc_lab.text_table import aligned
from smtc_lab.views.text import cells
from smtc_lab.views.text import format as fmt
from smtc_lab.views.text.findings import told
from smtc_lab.views.text.set_ups import RowInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from smtc_lab.metrics.result import Interval
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
        row("samples/s over the fewest", lambda p: _over(p, fmt.times_interval, p.speedup)),
        row(
            f"{scaling.mode} efficiency",
            lambda p: _over(p, fmt.percent_interval, p.efficiency),
        ),
        row(cells.STEP_TIME_LABEL, lambda p: _number(p.step_time_s)),
        row(
            "each added device brings",
            lambda p: _over(p, fmt.percent_interval, p.marginal_efficiency),
        ),
        row(
            "samples per dollar over the first",
            lambda p: (
                _NONE
                if p.set_up == set_ups[0]
                else cells.over_launches(fmt.times_interval, p.cost_efficiency)
            ),
        ),
        row(
            "$/million samples", lambda p: cells.over_launches(_usd, p.usd_per_million_samples)
        ),
    ]
    if scaling.samples_per_epoch is not None:
        rows += [
            row("s/epoch", lambda p: _number(p.epoch_s)),
            row("$/epoch", lambda p: cells.over_launches(_usd, p.usd_per_epoch)),
        ]
    known = [p for p in points if p is not None]
    if any(p.exposed_comm_s is not None for p in known):
        rows.append(row(cells.EXPOSED_LABEL, _exposed))
    for cause in CAUSES:
        if any(part.cause == cause for point in known for part in point.lost):
            words = cause_words(cause, known)
            rows.append(row(f"lost to {words} (ms/step)", lambda p, of=cause: _lost(p, of)))  # type: ignore[misc]
    if any(point.same_model is not None for point in known):
        rows.append(row("trains the model of one process", _sameness))
    return tuple(rows)


def rows_of_page(
    scaling: Scaling | None, set_ups: Sequence[str], compared: Sequence[RowInfo]
) -> tuple[RowInfo, ...]:
    """Return the table of a scaling study's page, whose set-ups are compared by the sample.

    What a comparison tells by the step is left out: a step of more devices has more samples.

    Args:
        scaling: The result, or that of the rounds so far; None: no round is whole.
        set_ups: Names of all set-ups, in the order of the columns.
        compared: The table of the comparison that it is.
    """
    own = () if scaling is None else scaling_rows(scaling, set_ups)
    told = {cells.SPEEDUP_LABEL, cells.SAVING_LABEL, *(row.label for row in own)}
    return (*own, *(row for row in compared if row.label not in told))


def cause_words(cause: Cause, points: Sequence[ScalingPoint]) -> str:
    """Return a cause in words, by whether communication was measured."""
    is_measured = any(part.cause == "communication" for point in points for part in point.lost)
    return REST if cause == "other" and is_measured else CAUSE_WORDS[cause]


def scaling_text(scaling: Scaling) -> str:
    """Return a result for a terminal and an e-mail."""
    names = [point.set_up for curve in scaling.curves for point in curve.points]
    rows = scaling_rows(scaling, names)
    table = [["", *map(fmt.plain, names)]]
    table += [[row.label, *(cell[0] for cell in row.cells)] for row in rows]
    findings = [str(each) for each in told(scaling.findings)]
    return "\n".join(["", *aligned(table), "", fmt.plain(scaling.verdict), *findings])


def _sameness(point: ScalingPoint) -> str:
    found = point.same_model
    if found is None:
        return _NONE
    if found.equal is None:
        return "not judged"
    if not found.equal:
        return "no"
    apart, twin = shown(found.weight_difference), shown(found.noise_weight_difference)
    return f"yes, {apart} apart (its twin: {twin})"


def _number(interval: Interval | None) -> str:
    return cells.over_launches(fmt.number_interval, interval)


def _usd(interval: Interval | None) -> str:
    return fmt.usd_interval(interval, symbol=False)


def _over(
    point: ScalingPoint, write: Callable[[Interval | None], str], interval: Interval | None
) -> str:
    return _NONE if point.speedup is None else cells.over_launches(write, interval)


def _exposed(point: ScalingPoint) -> str:
    if point.devices == 1:
        return _NONE
    (told,) = cells.exposed(point.exposed_comm_s, point.step_time_s)
    return told


def _lost(point: ScalingPoint, cause: Cause) -> str:
    part = next((each for each in point.lost if each.cause == cause), None)
    return (
        _NONE
        if part is None
        else cells.over_launches(fmt.number_interval, part.s_per_step.scaled(1000))
    )
