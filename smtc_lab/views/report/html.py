"""The report of a comparison: one HTML file that needs nothing else and runs nothing."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.errors import StoreError
from smtc_lab.views.figures.compiler import COMPILER_FIGURE_NAMES
from smtc_lab.views.figures.cost import overview_figure
from smtc_lab.views.figures.every import figure_names, make_figure
from smtc_lab.views.figures.frame import rendered
from smtc_lab.views.figures.launches import launches_of
from smtc_lab.views.figures.theme import DARK, LIGHT
from smtc_lab.views.report import explanations
from smtc_lab.views.report.captions import figure_words, overview_title
from smtc_lab.views.report.compiler_section import compiler_section
from smtc_lab.views.text import format as fmt
from smtc_lab.views.text import words
from smtc_lab.views.text.environments import environment_section
from smtc_lab.views.text.findings import beside_verdict, told
from smtc_lab.views.text.rendering import png_uri, render
from smtc_lab.views.text.table import (
    INTERVAL_NOTE,
    bill_note,
    comparison_rows,
    cost_rows,
    table_title,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from smtc_lab.metrics.compared.comparison import ClusterResult, Comparison
    from smtc_lab.metrics.records.records import RunRecords


def write_report(
    comparison: Comparison, runs: Sequence[RunRecords], path: str | os.PathLike[str]
) -> Path:
    """Write the report and return its path. Its folder is made when it is not there.

    Args:
        comparison: The numbers.
        runs: The records that they were made from; where some are missing, the figures say so.
        path: The HTML file.

    Raises:
        StoreError: The file cannot be written.
    """
    target = Path(path)
    text = report_html(comparison, runs)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StoreError(
            f"The report {str(target)!r} cannot be written: {error.strerror}. Choose a path "
            "that you may write to, on a disk with free space."
        ) from error
    return target


def report_html(comparison: Comparison, runs: Sequence[RunRecords]) -> str:
    """Return the report as the text of one HTML page with all figures in it."""
    figures = {name: _figure(name, comparison, runs) for name in figure_names(comparison)}
    return render(
        "report.html.j2",
        comparison=comparison,
        created=_date(comparison.created),
        headline=words.headline(comparison),
        evidence=words.scale_line(comparison) or "on the hardware that is named",
        title=table_title(comparison),
        interval_note=INTERVAL_NOTE,
        names=[cluster.name for cluster in comparison.clusters],
        rows=comparison_rows(comparison),
        cost_rows=cost_rows(comparison),
        bill_note=bill_note(comparison),
        prices_line=words.price_line(comparison),
        saving_sentences=explanations.saving_sentences(comparison),
        emulation_sentences=explanations.emulation_sentences(comparison),
        warm_up_rule=explanations.WARM_UP_RULE,
        warm_up=[(c.name, explanations.warm_up_sentence(c)) for c in comparison.clusters],
        statistics_sentences=explanations.statistics_sentences(comparison),
        prices=_prices(comparison),
        launches=[row for c in comparison.clusters for row in _launch_rows(c, runs)],
        machine=machine_facts(comparison.machine),
        figures=[figures[name] for name in figures if name not in COMPILER_FIGURE_NAMES],
        compilers=compiler_section(comparison, runs),
        environments=environment_section(comparison),
        compiler_figures=[figures[name] for name in figures if name in COMPILER_FIGURE_NAMES],
        tells_cost=words.tells_cost(comparison),
        findings=told(beside_verdict(comparison)),
    )


def machine_facts(machine: dict[str, object]) -> list[tuple[str, str]]:
    """Return the facts of a machine as names and values for people, nested ones in a row."""
    facts = []
    for key, value in machine.items():
        if isinstance(value, dict):
            facts.extend(machine_facts(value))
        else:
            name, text = _fact(str(key), value)
            facts.append((name.replace("_", " "), text))
    return facts


def _fact(key: str, value: object) -> tuple[str, str]:
    """Return one fact with the unit of its name behind its value."""
    if isinstance(value, list | tuple):
        return key, ", ".join(str(part) for part in value) or "none"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return key, fmt.UNKNOWN if value is None else str(value)
    if key.endswith("_bytes"):
        return key.removesuffix("_bytes"), fmt.gib(value)
    if key.endswith("_gib"):
        return key.removesuffix("_gib"), f"{fmt.number(value)} GiB"
    return key, fmt.number(value)


def _figure(name: str, comparison: Comparison, runs: Sequence[RunRecords]) -> dict[str, object]:
    title, caption, alt = figure_words(name, comparison, runs)
    if name == "overview":  # the headline is the report's own title already
        light, dark = (
            overview_figure(comparison, theme=theme, title=overview_title(comparison))
            for theme in (LIGHT, DARK)
        )
    else:
        light, dark = (
            make_figure(name, comparison, runs, theme=theme) for theme in (LIGHT, DARK)
        )
    width, height = (round(inches * 100) for inches in light.get_size_inches())
    return {
        "title": title,
        "caption": caption,
        "alt": alt,
        "width": width,
        "height": height,
        "light_uri": png_uri(rendered(light, LIGHT, "png")),
        "dark_uri": png_uri(rendered(dark, DARK, "png")),
    }


def _date(created: str) -> str:
    """Return an ISO 8601 time for people; a text that is none stays as it is."""
    try:
        moment = datetime.fromisoformat(created)
    except ValueError:
        return created
    return f"{moment.day} {moment:%B %Y, %H:%M} {moment.tzname() or ''}".strip()


def _prices(comparison: Comparison) -> list[dict[str, str]]:
    rows = {}
    for cluster in comparison.clusters:
        for group in cluster.instance_groups:
            quota_cores = group.cpu_quota_cores
            row = {
                "instance_type": group.instance_type,
                "usd_per_hour": fmt.price_digits(group.usd_per_hour),
                "kind": group.price_kind or fmt.UNKNOWN,
                "date": group.price_date or fmt.UNKNOWN,
                "vcpus": fmt.number(group.vcpus),
                "quota": "none" if quota_cores is None else fmt.cores(quota_cores),
            }
            rows[tuple(row.values())] = row
    return list(rows.values())


def _launch_rows(cluster: ClusterResult, runs: Sequence[RunRecords]) -> list[dict[str, str]]:
    launches = {launch.number: launch for launch in launches_of(cluster, runs)}
    rows = []
    for number, job_name in enumerate(cluster.runs, start=1):
        row = dict.fromkeys(
            ("state", "steps", "warm_up_steps", "startup", "end", "whole"), fmt.UNKNOWN
        )
        row |= {"job_name": job_name, "cluster": cluster.name}
        if number <= len(cluster.warm_up_steps):
            row["warm_up_steps"] = f"{cluster.warm_up_steps[number - 1]:,}"
        if (launch := launches.get(number)) is not None:
            bill = launch.bill
            row["state"] = launch.run.state
            row["steps"] = f"{launch.num_steps:,}"
            row["startup"] = fmt.seconds(bill.startup_s, unit="s")
            row["end"] = fmt.seconds(bill.end_s, unit="s")
            row["whole"] = fmt.seconds(bill.billed_s)
        rows.append(row)
    return rows
