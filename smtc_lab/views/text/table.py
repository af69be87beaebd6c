"""The plain-text table of a comparison, and its rows as data for every other view."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smtc_lab.text_table import columns
from smtc_lab.views.text import cells
from smtc_lab.views.text import compiler as compiler_words
from smtc_lab.views.text import format as fmt
from smtc_lab.views.text.bill import (
    COST_LABEL,
    TIME_LABEL,
    scales_note,
    tells_bills,
)
from smtc_lab.views.text.environments import (
    checks_environments,
    differences_sentence,
    environment_lines,
    has_environments,
    same_model_lines,
)
from smtc_lab.views.text.findings import beside_verdict, told
from smtc_lab.views.text.words import (
    price_line,
    scale_line,
    tells_cost,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from smtc_lab.metrics.compared.comparison import ClusterResult, Comparison
    from smtc_lab.metrics.compared.compiler_result import CompilerResult
    from smtc_lab.metrics.result import Interval
    from smtc_lab.views.text.cells import Lines

TERMINAL_COLUMNS = 120
"""The table is at most this wide; clusters that do not fit follow below."""

_CELL_COLUMNS = 36
_TEXT_COLUMNS = 100
_GAP = "   "

INTERVAL_NOTE = "mean (95 % interval) of the steps behind the warm-up of each launch"
"""How to read the numbers of the table."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ComparisonRow:
    """One line of the comparison, over all clusters."""

    label: str
    """What is compared, with its unit."""

    cells: tuple[Lines, ...]
    """By cluster: the lines of the cell, at least one."""


def comparison_rows(comparison: Comparison) -> list[ComparisonRow]:
    """Return the comparison as rows of text; each row has one cell for each cluster."""
    clusters = comparison.clusters
    rows = [_row("instances", clusters, cells.instances), *_trainer_rows(clusters)]
    if has_environments(comparison):
        rows.append(_row("Python environment", clusters, environment_lines))
    is_priced = tells_cost(comparison)
    if is_priced:
        rows.append(_row("$/h", clusters, lambda c: (fmt.price_digits(c.usd_per_hour),)))
    rows.append(_row("steps", clusters, cells.steps))
    rows.append(
        _row(cells.STEP_TIME_LABEL, clusters, lambda c: (fmt.number_interval(c.step_time_s),))
    )
    if is_priced:
        rows.append(_row("$/1,000 steps", clusters, cells.usd_per_1000_steps))
    rows.append(_row("samples/s", clusters, lambda c: (fmt.number_interval(c.samples_per_s),)))
    if comparison.pairs:
        by_name = {pair.candidate: pair for pair in comparison.pairs}
        pairs = [by_name.get(c.name) if place else None for place, c in enumerate(clusters)]
        rows.append(
            ComparisonRow(
                label=cells.SPEEDUP_LABEL, cells=cells.pair_cells(pairs, cells.speedup)
            )
        )
        if is_priced:
            saving = cells.pair_cells(pairs, cells.saving)
            rows.append(ComparisonRow(label=cells.SAVING_LABEL, cells=saving))
    if checks_environments(comparison):
        told = [("baseline",), *map(same_model_lines, clusters[1:])]
        rows.append(ComparisonRow(label="trains the same model", cells=tuple(told)))
    if compiler_words.has_compilers(comparison):
        rows.extend(_compiler_rows(clusters))
    if tells_bills(cluster.bill for cluster in clusters):
        rows.append(_row(TIME_LABEL, clusters, cells.time_parts))
        if is_priced:
            rows.append(_row(COST_LABEL, clusters, cells.cost_parts))
    rows.extend(
        [
            *_communication_rows(clusters),
            *_batch_rows(clusters),
            _row("CPU utilization", clusters, cells.cpu),
            _row("device utilization", clusters, cells.device),
            _row("CPU delivered/asked", clusters, cells.delivered),
        ]
    )
    return rows


def cost_rows(comparison: Comparison) -> list[ComparisonRow]:
    """Return the cost of each cluster three ways: per step, per 1,000 steps, per job."""
    clusters = comparison.clusters
    has_bills = tells_bills(cluster.bill for cluster in clusters)
    return [
        _row("per step", clusters, lambda c: (fmt.usd_interval(c.usd_per_step),)),
        _row("per 1,000 steps", clusters, lambda c: (fmt.usd_interval(c.usd_per_1000_steps),)),
        *(
            []
            if comparison.evidence == "emulated"
            else [_row("per job, start-up and end included", clusters, cells.usd_per_job)]
        ),
        _row("start-up of a job", clusters, cells.startup),
        *([_row("parts of a job", clusters, cells.cost_parts)] if has_bills else []),
    ]


def comparison_table(comparison: Comparison) -> str:
    """Return the comparison for a terminal, at most 120 columns wide.

    Metrics are rows and clusters are columns, because ten metrics side by side fit nowhere.
    Below stand the verdict, each warning, and the prices with their kind and date.
    """
    lines = [table_title(comparison), *_wrapped(scale_line(comparison)), ""]
    for block in _blocks(comparison):
        lines.extend([*block, ""])
    lines.extend(_wrapped(fmt.plain(comparison.verdict)))
    for finding in told(beside_verdict(comparison)):
        lines.extend(_wrapped(finding.words, indent=len("warning: ")))
        lines += [finding.action] if finding.action else []  # whole, to be copied
    lines.extend(["", INTERVAL_NOTE, *_wrapped(bill_note(comparison))])
    if tells_cost(comparison):
        lines.extend(_wrapped(price_line(comparison), indent=len("prices: ")))
    if differing := differences_sentence(comparison):
        lines.extend(["", *_wrapped(differing)])
    if comparison.factors and compiler_words.has_compilers(comparison):
        lines.extend(["", *_wrapped(fmt.plain(compiler_words.factors_sentence(comparison)))])
    return "\n".join(lines)


def bill_note(comparison: Comparison) -> str:
    """Return what is to be known of the parts of a launch; empty: nothing."""
    bills = [cluster.bill for cluster in comparison.clusters]
    if comparison.evidence == "measured" or not tells_bills(bills):
        return ""
    return scales_note(scale_line(comparison))


def table_title(comparison: Comparison) -> str:
    """Return the heading of the table, with the word ``emulated`` or ``measured``."""
    script = fmt.plain(comparison.entry_point, _TEXT_COLUMNS - 30)
    clusters = {cluster.instance_groups for cluster in comparison.clusters}
    has_set_ups = (
        compiler_words.has_compilers(comparison)
        or has_environments(comparison)
        or len(clusters) < len(comparison.clusters)
    )
    what = "set-up" if has_set_ups else "cluster"
    compared = fmt.count(len(comparison.clusters), what)
    return f"{script} on {compared}, {comparison.evidence}"


def _row(
    label: str, clusters: Sequence[ClusterResult], lines: Callable[[ClusterResult], Lines]
) -> ComparisonRow:
    return ComparisonRow(label=label, cells=tuple(lines(cluster) for cluster in clusters))


def _trainer_rows(clusters: Sequence[ClusterResult]) -> list[ComparisonRow]:
    """Return how jobs are spread, where one has several trainers."""
    if not any(cluster.spread is not None and cluster.spread.is_told for cluster in clusters):
        return []
    return [_row(cells.TRAINERS_LABEL, clusters, lambda c: cells.trainers(c.spread))]


def _communication_rows(clusters: Sequence[ClusterResult]) -> list[ComparisonRow]:
    """Return what several trainers exchange with nothing beside it, where any recorded it."""
    if all(cluster.exposed_comm_s is None for cluster in clusters):
        return []
    return [
        _row(
            cells.EXPOSED_LABEL,
            clusters,
            lambda c: cells.exposed(c.exposed_comm_s, c.step_time_s),
        )
    ]


def _batch_rows(clusters: Sequence[ClusterResult]) -> list[ComparisonRow]:
    """Return who prepared the batches, where that is known of any cluster."""
    if not any(cluster.batches for cluster in clusters):
        return []
    return [
        _row(cells.BATCHES_LABEL, clusters, lambda c: cells.batches(c.batches)),
        _row(cells.DATALOADER_LABEL, clusters, lambda c: cells.dataloader(c.dataloader)),
    ]


def _compiler_rows(clusters: Sequence[ClusterResult]) -> list[ComparisonRow]:
    """Return what the compilers cost and keep, beside what they bring."""

    def row(label: str, lines: Callable[[CompilerResult], Lines]) -> ComparisonRow:
        return _row(
            label,
            clusters,
            lambda c: (fmt.UNKNOWN,) if c.compiler is None else lines(c.compiler),
        )

    return [
        row("backend", compiler_words.backend_lines),
        row("settings", compiler_words.setting_lines),
        row("first steps' overhead (s)", lambda c: (_overhead(c.overhead_s),)),
        row("break-even step", lambda c: (compiler_words.break_even_words(c.break_even),)),
        row("peak memory", lambda c: (compiler_words.memory(c.peak_memory_bytes),)),
        row("learns what eager learns", lambda c: (compiler_words.parity_words(c),)),
    ]


def _overhead(overhead_s: Interval | None) -> str:
    """Return what the first steps took beyond steady ones; noise can make it negative."""
    if overhead_s is not None and overhead_s.mean <= 0:
        return "none seen"
    return fmt.number_interval(overhead_s)


def _blocks(comparison: Comparison) -> list[list[str]]:
    """Return the table as blocks of lines, each at most as wide as the terminal."""
    rows = comparison_rows(comparison)
    label_columns = max(columns(row.label) for row in rows)
    names = [fmt.plain(cluster.name, _CELL_COLUMNS) for cluster in comparison.clusters]
    texts = [
        [[fmt.plain(line, _CELL_COLUMNS) for line in row.cells[place]] for row in rows]
        for place in range(len(names))
    ]
    widths = [
        max(columns(line) for line in [name, *(line for cell in cells for line in cell)])
        for name, cells in zip(names, texts, strict=True)
    ]
    blocks = []
    for places in _places_that_fit(widths, TERMINAL_COLUMNS - label_columns):
        heading = [names[place] for place in places]
        block = [_line("", heading, label_columns, [widths[place] for place in places])]
        total = label_columns + sum(len(_GAP) + widths[place] for place in places)
        block.append("─" * total)
        for number, row in enumerate(rows):
            cells = [texts[place][number] for place in places]
            for line in range(max(len(cell) for cell in cells)):
                shown = [cell[line] if line < len(cell) else "" for cell in cells]
                label = row.label if line == 0 else ""
                block.append(_line(label, shown, label_columns, [widths[p] for p in places]))
        blocks.append(block)
    return blocks


def _places_that_fit(widths: Sequence[int], available: int) -> list[list[int]]:
    """Return the clusters in runs that fit beside each other, at least one in each."""
    runs: list[list[int]] = []
    used = available
    for place, width in enumerate(widths):
        needed = len(_GAP) + width
        if not runs or used + needed > available:
            runs.append([])
            used = 0
        runs[-1].append(place)
        used += needed
    return runs


def _line(label: str, cells: Sequence[str], label_columns: int, widths: Sequence[int]) -> str:
    padded = [_padded(label, label_columns)]
    padded.extend(_padded(cell, width) for cell, width in zip(cells, widths, strict=True))
    return _GAP.join(padded).rstrip()


def _padded(text: str, width: int) -> str:
    return text + " " * (width - columns(text))


def _wrapped(text: str, *, indent: int = 0) -> list[str]:
    # A line must not end between a number and its unit.
    kept = text.replace(" %", "\u00a0%")
    lines = textwrap.wrap(kept, _TEXT_COLUMNS, subsequent_indent=" " * indent)
    return [line.replace("\u00a0", " ") for line in lines]
