"""The compiler's part of a report and of the text beside it: one set-up after the other."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smtc_lab.rules.find import find
from smtc_lab.views.figures.launches import launches_of
from smtc_lab.views.text import compiler as words
from smtc_lab.views.text import format as fmt
from smtc_lab.views.text.findings import told

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.metrics.compared.comparison import ClusterResult, Comparison
    from smtc_lab.metrics.compared.compiler_result import CompilerResult
    from smtc_lab.metrics.records.compiler_report import CompilerReport, Place, Probe
    from smtc_lab.metrics.records.records import RunRecords
    from smtc_lab.views.text.findings import FindingInfo

_TEXT_COLUMNS = 100

Rows = list[tuple[str, ...]]
"""Lines of a table, each with one text for each column."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PlaceTable:
    """A list of what was met at lines of the script."""

    caption: str
    """What is listed."""

    columns: tuple[str, ...]
    """Headings."""

    rows: Rows
    """Lines, at least one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SetUpReport:
    """What a report tells of the compiler of one set-up."""

    name: str
    """Name of the set-up."""

    facts: Rows
    """Names and values."""

    tables: tuple[PlaceTable, ...]
    """Graph breaks, recompilations, host syncs, …; only those that have lines."""

    findings: tuple[FindingInfo, ...]
    """What could be better in words, and what to do; the costliest first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CompilerSection:
    """What a report tells of compilers."""

    set_ups: tuple[SetUpReport, ...]
    """Each set-up."""

    factor_rows: Rows
    """What each setting brings by itself; empty: no two set-ups differ in one alone."""

    job_lengths: list[str]
    """Lengths of jobs."""

    job_rows: Rows
    """By set-up, its name and the predicted time of a job of each length; empty: all have one
    compiler."""


def compiler_section(
    comparison: Comparison, runs: Sequence[RunRecords]
) -> CompilerSection | None:
    """Return what a report tells of the compilers of a comparison; None: nothing.

    Where all set-ups have one compiler, it is not what makes one of them faster: then the
    report tells what it did, and no more.
    """
    if not words.has_compilers(comparison):
        return None
    differ = words.compilers_differ(comparison)
    compilers = [each.compiler for each in comparison.clusters if each.compiler is not None]
    if not differ and all(compiler.report is None for compiler in compilers):
        return None
    lengths, rows = job_time_rows(comparison) if differ else ([], [])
    return CompilerSection(
        set_ups=tuple(set_ups(comparison, runs)),
        factor_rows=factor_rows(comparison),
        job_lengths=lengths,
        job_rows=rows,
    )


def set_ups(comparison: Comparison, runs: Sequence[RunRecords]) -> list[SetUpReport]:
    """Return what is told of the compiler of each set-up; empty: there were none."""
    return [
        SetUpReport(
            name=cluster.name,
            facts=_facts(cluster, cluster.compiler),
            tables=tuple(_tables(cluster.compiler.report)),
            findings=told(
                finding
                for launch in launches_of(cluster, runs)[:1]
                for finding in find(
                    launch.run,
                    compiler=cluster.compiler,
                    factors=comparison.factors,
                    usd_per_hour=cluster.usd_per_hour,
                )
            ),
        )
        for cluster in comparison.clusters
        if cluster.compiler is not None
    ]


def factor_rows(comparison: Comparison) -> Rows:
    """Return what each setting brings by itself."""
    return [
        (
            words.change_words(effect),
            f"{effect.second} against {effect.first}",
            fmt.times_interval(effect.speedup),
            fmt.UNKNOWN if effect.memory_ratio is None else fmt.times(effect.memory_ratio),
        )
        for effect in comparison.factors
    ]


def job_time_rows(comparison: Comparison) -> tuple[list[str], Rows]:
    """Return the lengths of jobs, and by set-up the predicted time of each."""
    compilers = [(c.name, c.compiler) for c in comparison.clusters if c.compiler is not None]
    lengths = sorted({time.steps for _, each in compilers for time in each.job_times})
    rows = []
    for name, compiler in compilers:
        totals = {time.steps: time.total_s for time in compiler.job_times}
        rows.append(
            (name, *(fmt.seconds_interval(totals.get(length), unit="s") for length in lengths))
        )
    return [fmt.count(length, "step") for length in lengths], rows


def findings_text(comparison: Comparison, runs: Sequence[RunRecords]) -> str:
    """Return the findings of all set-ups for a terminal; empty: there are none."""
    all_set_ups = set_ups(comparison, runs)
    names_of: dict[FindingInfo, list[str]] = {}
    for set_up in all_set_ups:
        for finding in set_up.findings:
            names_of.setdefault(finding, []).append(fmt.plain(set_up.name))
    lines = []
    for finding, names in names_of.items():
        who = "every set-up" if len(names) == len(all_set_ups) > 1 else " and ".join(names)
        lines.extend(
            textwrap.wrap(f"{who}: {finding}", _TEXT_COLUMNS, subsequent_indent="    ")
        )
    return "\n".join(lines)


def _facts(cluster: ClusterResult, compiler: CompilerResult) -> Rows:
    """Return what the table of the comparison does not tell already."""
    report = compiler.report
    facts: Rows = [("learns what eager learns", _parity_sentence(compiler))]
    if report is None:
        return [*facts, ("report", "none: the script ran as it is, or its report is lost")]
    if report.fell_back_because is not None:
        facts.append(("ran eagerly because", report.fell_back_because))
    if choice := words.choice_words(cluster):
        facts.append(("choice of auto", choice))
    if report.compile_time is not None:
        facts.append(("compile time", words.compile_time_words(report.compile_time)))
    if report.graphs is not None:
        facts.append(("graphs", f"{report.graphs:,}"))
    if report.per_block is not None:
        facts.append(("layers compiled one by one", f"{report.per_block:,}"))
    if report.operators is not None:
        facts.append(("kernels", words.kernel_words(compiler)))
    if compiler.cache_hits is not None or report.cache_note:
        facts.append(("persistent cache", words.cache_words(compiler)))
    if report.debug_folder is not None:
        facts.append(("debug folder, below /opt/ml", report.debug_folder))
    facts.extend(("note", note) for note in report.notes)
    return facts


def _parity_sentence(compiler: CompilerResult) -> str:
    parity = compiler.parity
    return words.parity_words(compiler) if parity is None else parity.verdict


def _tables(report: CompilerReport | None) -> list[PlaceTable]:
    """Return what was met where, of all kinds of which there is something."""
    if report is None:
        return []
    seen = f"seen in {report.observed_steps:,} steps"
    tables = [
        PlaceTable(
            caption="Backends that auto measured on the real step",
            columns=("backend", "compile time", "step time", "predicted job", "problem"),
            rows=[_probe(probe) for probe in report.probes],
        ),
        PlaceTable(
            caption="Graph breaks, met while compiling",
            columns=("line", "code", "times", "reason"),
            rows=[
                (*_place(one.place), f"{one.count:,}", one.reason)
                for one in report.graph_breaks
            ],
        ),
        PlaceTable(
            caption="Recompilations",
            columns=("line", "code", "step", "time", "cause"),
            rows=[
                (*_place(one.place), fmt.number(one.step), fmt.seconds(one.seconds), one.cause)
                for one in report.recompilations
            ],
        ),
        PlaceTable(
            caption=f"Lines that make the host wait, {seen}",
            columns=("line", "code", "operation", "per step"),
            rows=[
                (*_place(one.place), one.operation, fmt.number(one.per_step))
                for one in report.host_syncs
            ],
        ),
        PlaceTable(
            caption=f"Operators left to the host, {seen}",
            columns=("operator", "per step"),
            rows=[(one.operator, fmt.number(one.per_step)) for one in report.host_operators],
        ),
    ]
    return [table for table in tables if table.rows]


def _probe(probe: Probe) -> tuple[str, ...]:
    return (
        probe.backend,
        fmt.seconds(probe.compile_s),
        fmt.seconds(probe.step_time_s),
        fmt.seconds(probe.predicted_job_s),
        probe.problem or "none",
    )


def _place(place: Place | None) -> tuple[str, str]:
    code = "" if place is None else place.code
    return words.place_words(place), code or fmt.UNKNOWN
