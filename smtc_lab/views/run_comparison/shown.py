"""How compared runs show themselves: as text, and as what a notebook keeps."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from smtc_lab.text_table import aligned
from smtc_lab.views.figures.drawing import mime_bundle
from smtc_lab.views.run_comparison.comparison import last_and_least
from smtc_lab.views.text import format as fmt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.views.run_comparison.comparison import RunComparison

RUN_COMPARISON_MIME = "application/vnd.smtc-lab.run-comparison+json"
"""Our own type: a ``RunComparison`` as JSON."""

_PREFIXES = ("hyperparameters.", "arguments.")
_MOST_COLUMNS = 8
_MOST_NAMED = 4
_MOST_METRICS = 10
_WIDEST = 32


def bundle_of(compared: RunComparison) -> dict[str, Any]:
    """Return the mime bundle of compared runs."""
    return mime_bundle(
        {RUN_COMPARISON_MIME: compared.model_dump(mode="json")},
        html=to_html(compared),
        text=text_of(compared),
        picture=None,
    )


def to_html(compared: RunComparison) -> str:
    """Return compared runs as HTML that needs no script."""
    return f"<pre>{escape(text_of(compared))}</pre>"


def sentence(compared: RunComparison) -> str:
    """Return how many runs these are, and in what they differ in short."""
    names = list(dict.fromkeys(short_name(one.name) for one in compared.differences))
    num_more = len(names) - _MOST_NAMED + compared.num_left_out
    if num_more > 0:
        names = [*names[:_MOST_NAMED], f"{num_more} more"]
    *first, last = names or ["nothing that is known"]
    told = f"{', '.join(first)} and {last}" if first else last
    return f"{len(compared.runs)} runs; they differ in {told}."


def short_name(name: str) -> str:
    """Return what differs without where it is declared: ``lr``."""
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    return name


def text_of(compared: RunComparison) -> str:
    """Return compared runs for a terminal: what differs, and what they logged."""
    shown = compared.runs[:_MOST_COLUMNS]
    head = tuple(_cell(run.label) for run in shown)
    parts = [sentence(compared)]
    if compared.differences:
        rows = [
            (one.section, short_name(one.name), *one.values[:_MOST_COLUMNS])
            for one in compared.differences
        ]
        parts.append(_table(("", "", *head), rows))
    metrics = [
        (_cell(name), *(_last_least(*last_and_least(run, name)) for run in shown))
        for name in compared.metrics[:_MOST_METRICS]
    ]
    if metrics:
        parts.append(_table(("last (least)", *head), metrics))
    else:
        parts.append("None of them logged a metric.")
    parts += [f"{run.name}: {run.problem}" for run in compared.runs if run.problem]
    if compared.unknown:
        parts.append(f"Not written down of some of them: {', '.join(compared.unknown)}.")
    hidden = len(compared.runs) - len(shown)
    if hidden > 0:
        parts.append(f"{fmt.count(hidden, 'more run')} in .differences and .to_pandas().")
    return "\n\n".join(parts)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(aligned([head, *(tuple(map(_cell, row)) for row in rows)]))


def _cell(text: str) -> str:
    return fmt.plain(text, _WIDEST)


def _last_least(last: float | None, least: float | None) -> str:
    if last is None and least is None:
        return "—"
    known = ["no number" if one is None else f"{one:.4g}" for one in (last, least)]
    return f"{known[0]} ({known[1]})"
