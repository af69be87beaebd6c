"""What is said of a plan: numbers with intervals, stages, evidence, the table's cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.text_table import aligned
from smtc_lab.views.text import format as fmt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.views.plan.info import MeasuredInfo, PlanInfo, PointInfo

STAGE_WORDS = {
    "cpu": "data CPU",
    "network": "network",
    "serial": "serial host work",
    "device": "device",
}
"""What a stage is called for people."""

INTERVAL_NOTE = "predicted mean (80 % interval); prices with their date"
"""How to read the numbers of the table."""

JOB_NOTE = "job times and costs have this machine's start-up and end: a cloud's own add minutes"
"""What times and costs of whole jobs leave out."""

COLUMNS = (
    "cluster",
    "s/step",
    "$/h",
    "$/1,000 steps",
    "$/job",
    "bottleneck",
    "evidence",
    "price",
)
"""Heads of the table."""

_TEXT_COLUMNS = ("cluster", "s/step", "$/h", "bottleneck", "")
_COST_COLUMNS = ("cluster", "$/1,000 steps", "$/job")

TABLE_ROWS = 12
"""Clusters that the table shows at most."""


def best_point(plan: PlanInfo) -> PointInfo | None:
    """Return the cluster that the plan recommends; None: there is none."""
    return next((point for point in plan.points if "best" in point.names), None)


def table_points(plan: PlanInfo) -> list[PointInfo]:
    """Return the clusters of the table: those with a name, then those that none beats."""
    named = [point for point in plan.points if point.names]
    others = [point for point in plan.points if point.is_pareto and not point.names]
    kept = (named + others)[:TABLE_ROWS] or list(plan.points[:TABLE_ROWS])
    return [point for point in plan.points if point in kept]


def table_cells(point: PointInfo) -> tuple[str, ...]:
    """Return the cells of one cluster, in the order of ``COLUMNS``."""
    return (
        point_name(point),
        fmt.number_interval(point.step_time_s),
        fmt.price_digits(point.usd_per_hour),
        fmt.usd_interval(point.usd_per_1000_steps, symbol=False),
        fmt.usd_interval(point.usd_per_job, symbol=False),
        bottleneck_words(point),
        point.evidence,
        price_words(point),
    )


def point_name(point: PointInfo) -> str:
    """Return a cluster's instances, and what it is known for: ``… (cheapest, knee)``."""
    label = fmt.plain(point.label)
    return f"{label} ({', '.join(point.names)})" if point.names else label


def bottleneck_words(point: PointInfo) -> str:
    """Return the stage that limits a cluster, and whether another one is as near."""
    words = STAGE_WORDS[point.bottleneck]
    return f"{words}, nearly a tie" if point.is_near_tie else words


def price_words(point: PointInfo) -> str:
    """Return kind and date of the prices; ``old`` where they are."""
    words = fmt.plain(point.price) or fmt.UNKNOWN
    return f"{words}, old" if point.is_price_old else words


def prices_line(points: Sequence[PointInfo]) -> str:
    """Return kinds and dates of the prices of some clusters, each once."""
    return f"prices: {'; '.join(dict.fromkeys(map(price_words, points)))}"


def error_words(run: MeasuredInfo) -> str:
    """Return how far a prediction was from a run: ``predicted 4.2 % too fast``."""
    size = fmt.number(abs(100 * run.error_fraction))
    if size == "0":
        return "predicted exactly"
    return f"predicted {size} % too {'slow' if run.error_fraction > 0 else 'fast'}"


def measured_sentence(run: MeasuredInfo) -> str:
    """Return a run beside what was predicted of it, in one sentence."""
    so_far = "" if run.has_ended else " so far"
    return (
        f"{fmt.plain(run.job_name)} on {fmt.plain(run.label)}: {run.evidence} "
        f"{fmt.seconds_interval(run.step_time_s)} a step{so_far}, "
        f"{error_words(run)}: {fmt.seconds_interval(run.predicted_s)}."
    )


def chart_note(plan: PlanInfo) -> str:
    """Return why clusters are not on the chart; empty: all of ``points`` are."""
    unpriced = sum(point.usd_per_1000_steps is None for point in plan.points)
    if not unpriced:
        return ""
    return f"{fmt.count(unpriced, 'cluster')} with an unknown price cannot be on the chart."


def table_note(plan: PlanInfo, *, num_shown: int) -> str:
    """Return how to read a table of so many clusters."""
    more = fmt.count(plan.num_candidates - num_shown, "more cluster")
    has_jobs = any(point.job_s is not None for point in plan.points)
    return "; ".join(
        [f"{more} within the limits", INTERVAL_NOTE, *([JOB_NOTE] if has_jobs else [])]
    )


def plan_text(plan: PlanInfo) -> str:
    """Return a plan for a terminal: recommendation, table, notes."""
    points = table_points(plan)
    lines = [fmt.plain(plan.sentence), *filter(None, (plan.limits, plan.basis))]
    if points:
        lines += ["", *aligned([_TEXT_COLUMNS, *map(_text_cells, points)], gap="   ")]
        lines += ["", *aligned([_COST_COLUMNS, *map(_cost_cells, points)], gap="   ")]
        lines += ["", table_note(plan, num_shown=len(points))]
        lines += [prices_line(points)]
    lines += [measured_sentence(run) for run in plan.measured]
    best = best_point(plan)
    if best is not None and best.explanation:
        lines += ["", best.explanation]
    lines += [f"Note: {fmt.plain(note)}" for note in plan.notes]
    return "\n".join(lines)


def _text_cells(point: PointInfo) -> tuple[str, ...]:
    """Return the cells of one cluster that fit into a line of a terminal."""
    return (
        fmt.plain(point.label),
        fmt.number_interval(point.step_time_s),
        fmt.price_digits(point.usd_per_hour),
        STAGE_WORDS[point.bottleneck],
        ", ".join((*point.names, *([point.evidence] * (point.evidence != "predicted")))),
    )


def _cost_cells(point: PointInfo) -> tuple[str, ...]:
    """Return what steps and jobs of one cluster cost, in USD."""
    return (
        fmt.plain(point.label),
        fmt.usd_interval(point.usd_per_1000_steps, symbol=False),
        fmt.usd_interval(point.usd_per_job, symbol=False),
    )
