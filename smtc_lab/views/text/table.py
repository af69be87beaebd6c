"""The plain-text table of a comparison, and its rows as data for every other view."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, TypeVar

from smtc_lab.metrics.compared.comparison import Comparison
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
from smtc_lab.views.text.set_ups import RowInfo, SetUpsSoFar
from smtc_lab.views.text.words import (
    price_line,
    scale_line,
    tells_cost,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from smtc_lab.metrics.compared.compiler_result import CompilerResult
    from smtc_lab.views.text.cells import Lines
    from smtc_lab.views.text.set_ups import Compared, SetUp

TERMINAL_COLUMNS = 120
"""The table is at most this wide; clusters that do not fit follow below."""

_CELL_COLUMNS = 36
_TEXT_COLUMNS = 100
_GAP = "   "

Seen = TypeVar("Seen")

INTERVAL_NOTE = "mean (95 % interval) of the steps behind the warm-up of each launch"
"""How to read the numbers of the table."""


def comparison_rows(compared: Compared) -> list[RowInfo]:
    """Return a comparison as rows of text; each row has one cell for each cluster.

    While launches run, what only whole launches tell is left out, or ``unknown``.
    """
    clusters: Sequence[SetUp] = compared.clusters
    rows = [_row("instances", clusters, cells.instances), *_trainer_rows(clusters)]
    if has_environments(compared):
        rows.append(_row("Python environment", clusters, environment_lines))
    rows += [*_step_rows(compared), *_pair_rows(compared)]
    if checks_environments(compared):
        told = [("baseline",), *map(same_model_lines, clusters[1:])]
        rows.append(RowInfo(label="trains the same model", cells=tuple(told)))
    if compiler_words.has_compilers(compared):
        rows += _compiler_rows(clusters)
    rows += [*_bill_rows(compared), *_communication_rows(clusters), *_batch_rows(clusters)]
    if isinstance(compared, SetUpsSoFar):
        rows.append(_row("data wait", clusters, cells.data_wait))
    rows.append(_row("CPU utilization", clusters, cells.cpu))
    rows.append(_row("device utilization", clusters, cells.device))
    if isinstance(compared, Comparison):
        rows.append(_row("CPU delivered/asked", compared.clusters, cells.delivered))
    return rows


def cost_rows(comparison: Comparison) -> list[RowInfo]:
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


def _row(label: str, clusters: Sequence[Seen], lines: Callable[[Seen], Lines]) -> RowInfo:
    return RowInfo(label=label, cells=tuple(lines(cluster) for cluster in clusters))


def _step_rows(compared: Compared) -> list[RowInfo]:
    """Return how many steps there were, and what one takes and costs."""
    clusters: Sequence[SetUp] = compared.clusters
    rows = [
        _row("steps", clusters, cells.steps),
        _row(cells.STEP_TIME_LABEL, clusters, lambda c: (fmt.number_interval(c.step_time_s),)),
    ]
    if tells_cost(compared):
        price = _row("$/h", clusters, lambda c: (fmt.price_digits(c.usd_per_hour),))
        rows = [price, *rows, _row("$/1,000 steps", clusters, cells.usd_per_1000_steps)]
    if isinstance(compared, Comparison):
        rows.append(_row("samples/s", compared.clusters, cells.samples_per_s))
    return rows


def _pair_rows(compared: Compared) -> list[RowInfo]:
    """Return each cluster against the baseline, where there is one."""
    if not compared.pairs and not (isinstance(compared, SetUpsSoFar) and compared.is_compared):
        return []
    by_name = {pair.candidate: pair for pair in compared.pairs}
    pairs = [by_name.get(cluster.name) for cluster in compared.clusters[1:]]
    rows = [RowInfo(label=cells.SPEEDUP_LABEL, cells=cells.pair_cells(pairs, cells.speedup))]
    if tells_cost(compared):
        saving = cells.pair_cells(pairs, cells.saving)
        rows.append(RowInfo(label=cells.SAVING_LABEL, cells=saving))
    return rows


def _bill_rows(compared: Compared) -> list[RowInfo]:
    """Return where the billed time of a launch goes, and the money."""
    clusters: Sequence[SetUp] = compared.clusters
    is_priced, has_bills = tells_cost(compared), tells_bills(each.bill for each in clusters)
    rows = []
    if is_priced and isinstance(compared, SetUpsSoFar):
        rows.append(_row("cost so far", compared.clusters, cells.cost_so_far))
    if has_bills:
        rows.append(_row(TIME_LABEL, clusters, cells.time_parts))
    if has_bills and is_priced:
        rows.append(_row(COST_LABEL, clusters, cells.cost_parts))
    return rows


def _trainer_rows(clusters: Sequence[SetUp]) -> list[RowInfo]:
    """Return how jobs are spread, where one has several trainers."""
    if not any(cluster.spread is not None and cluster.spread.is_told for cluster in clusters):
        return []
    return [_row(cells.TRAINERS_LABEL, clusters, lambda c: cells.trainers(c.spread))]


def _communication_rows(clusters: Sequence[SetUp]) -> list[RowInfo]:
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


def _batch_rows(clusters: Sequence[SetUp]) -> list[RowInfo]:
    """Return who prepared the batches, where that is known of any cluster."""
    if not any(cluster.batches for cluster in clusters):
        return []
    return [
        _row(cells.BATCHES_LABEL, clusters, lambda c: cells.batches(c.batches)),
        _row(cells.DATALOADER_LABEL, clusters, lambda c: cells.dataloader(c.dataloader)),
    ]


def _compiler_rows(clusters: Sequence[SetUp]) -> list[RowInfo]:
    """Return what the compilers cost and keep, beside what they bring."""

    def row(label: str, lines: Callable[[CompilerResult], Lines]) -> RowInfo:
        return _row(
            label,
            clusters,
            lambda c: (fmt.UNKNOWN,) if c.compiler is None else lines(c.compiler),
        )

    return [
        row("backend", compiler_words.backend_lines),
        row("settings", compiler_words.setting_lines),
        row("first steps' overhead (s)", lambda c: (compiler_words.overhead(c.overhead_s),)),
        row("break-even step", lambda c: (compiler_words.break_even_words(c.break_even),)),
        row("peak memory", lambda c: (compiler_words.memory(c.peak_memory_bytes),)),
        row("learns what eager learns", lambda c: (compiler_words.parity_words(c),)),
    ]


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
