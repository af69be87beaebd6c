"""Titles, captions and alternative texts of the figures of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from smtc_lab.views.report import explanations
from smtc_lab.views.text import compiler as compiler_words
from smtc_lab.views.text import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.metrics.compared.comparison import Comparison
    from smtc_lab.metrics.records.records import RunRecords


class FigureWords(NamedTuple):
    """What is said of a figure."""

    title: str
    """What it is."""

    caption: str
    """How to read it."""

    alt: str
    """What it shows, for those who do not see it."""


def overview_title(comparison: Comparison) -> str:
    """Return the title of the overview, whose finding the report's own title says already."""
    return "Step time and cost" if words.tells_cost(comparison) else "Step time"


def figure_words(name: str, comparison: Comparison, runs: Sequence[RunRecords]) -> FigureWords:
    """Return what is said of a figure of ``figure_names``; the text states what it shows."""
    step_time = words.step_time_finding(comparison)
    cost = words.cost_sentence(comparison)
    match name:
        case "overview":
            seen = f"{step_time} {cost}" if words.tells_cost(comparison) else step_time
            said = FigureWords(
                "overview",
                f"{overview_title(comparison)} of each, with 95 % intervals.",
                f"{words.headline(comparison)}. {seen}",
            )
        case "step_time":
            said = FigureWords(
                "step time over steps",
                "Every step of every launch. The shaded begin of a launch is its warm-up; a "
                "level line behind it says that the pipeline has settled.",
                f"Step time over steps. {step_time}",
            )
        case "distribution":
            said = FigureWords(
                "distribution of step times",
                "Share of steps that took at most so long. Marks are means.",
                explanations.spread_finding(comparison, runs),
            )
        case "cost":
            said = FigureWords("cost of 1,000 steps", "Price times mean step time.", cost)
        case "cumulative":
            said = FigureWords(
                "time saved against the baseline",
                "A line below 0 has not earned its overhead back yet.",
                compiler_words.cumulative_sentence(comparison),
            )
        case "factors":
            said = FigureWords(
                "effect of each setting",
                "Each ratio is of two set-ups that differ in this setting alone.",
                compiler_words.factors_sentence(comparison),
            )
        case _:
            said = FigureWords(
                "utilization",
                "The device waits where its line is low. CPU at its top says that it waits for "
                "the preparation of data.",
                words.utilization_sentence(comparison),
            )
    return said
