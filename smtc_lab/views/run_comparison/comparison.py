"""Runs beside each other: what differs, what is known of each, and what they logged."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from smtc_lab.display import BundleDisplayed
from smtc_lab.errors import SpecError
from smtc_lab.machine.installed import pandas
from smtc_lab.metrics.result import Evidence, Result
from smtc_lab.study.experiments.run_diff import Difference
from smtc_lab.views.run_table.facts import METRIC

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Along = Literal["step", "seconds", "samples", "dollars"]
"""What a metric is drawn over."""

Numbers = tuple[float | None, ...]


class ComparedCurve(Result):
    """What a run logged of one metric, in B bins of at least one value; None: no number."""

    metric: str
    """What the script calls it."""

    step: Numbers
    """Step of each bin, B numbers that never decrease."""

    time_s: Numbers
    """Time since the begin of the run in seconds, B numbers that never decrease."""

    usd: Numbers
    """What the run had cost by then in USD; empty: a price is unknown, or it is emulated."""

    value: Numbers
    """Mean of the finite values of each bin."""

    low: Numbers
    """Least one of each bin; empty: as ``value``."""

    high: Numbers
    """Greatest one of each bin; empty: as ``value``."""

    num_values: int
    """Values that were logged."""

    num_finite: int
    """Those that are finite numbers."""

    def along(self, which: Along, samples_per_step: float | None) -> Numbers:
        """Return B places on an axis; empty: unknown.

        Args:
            which: The axis.
            samples_per_step: Of the run; None: unknown.
        """
        if which == "samples":
            known = samples_per_step or 0.0
            return tuple(known * (step or 0.0) for step in self.step) if known else ()
        return {"step": self.step, "seconds": self.time_s, "dollars": self.usd}[which]


class ComparedRun(Result):
    """One run among those that are compared."""

    name: str
    """Its name."""

    label: str
    """What of its name is not the same in all."""

    problem: str
    """Why it, or a part of it, cannot be read; empty: all was read."""

    evidence: Evidence | None
    """Where its times come from; None: unknown."""

    samples_per_step: float | None
    """Samples that all trainers together take in a step; None: unknown."""

    numbers: dict[str, float]
    """Facts that are numbers, as in the table of runs: ``cost_usd``, ``param.lr``, …"""

    texts: dict[str, str]
    """All other facts: ``state``, ``script``, …"""

    curves: tuple[ComparedCurve, ...]
    """What it logged."""

    @property
    def facts(self) -> dict[str, float | str]:
        """Everything that is known of it, by the names of the table of runs."""
        return {**self.texts, **self.numbers}

    def curve(self, metric: str) -> ComparedCurve | None:
        """Return what it logged of a metric; None: nothing."""
        return next((curve for curve in self.curves if curve.metric == metric), None)


class RunComparison(Result, BundleDisplayed):
    """Runs beside each other; shows itself as a table, and in a notebook as charts.

    ::

        compared = lab.compare_runs("digits-1", "digits-2", "digits-3")
        compared.figure("loss", along="dollars")
        compared.scatter("param.lr", "metric.loss.min")
    """

    _html_view: ClassVar[str] = "smtc_lab.views.run_comparison.shown"
    _bundle_view: ClassVar[str] = "smtc_lab.views.run_comparison.shown"

    version: Literal[1] = 1
    """Version of what is kept."""

    kind: Literal["run-comparison"] = "run-comparison"
    """What it is, among what notebooks keep."""

    runs: tuple[ComparedRun, ...]
    """The runs, in the order in which they were given."""

    differences: tuple[Difference, ...]
    """What differs, hyperparameters and arguments first; a value for each run."""

    num_left_out: int
    """Differences beyond the first 500."""

    unknown: tuple[str, ...]
    """Sections that one of the runs did not write down."""

    metrics: tuple[str, ...]
    """Names of the metrics, those first that most runs logged; also of those without curves."""

    def to_pandas(self) -> Any:  # noqa: ANN401  pandas need not be there
        """Return a ``pandas.DataFrame`` of what differs: a column for each run.

        Raises:
            SpecError: pandas is not installed.
        """
        has = ".differences has a row for each thing that differs"
        library = pandas(without=has, refusal=SpecError)
        return library.DataFrame(
            [one.values for one in self.differences],
            columns=[run.name for run in self.runs],
            index=library.MultiIndex.from_tuples(
                [(one.section, one.name) for one in self.differences],
                names=["section", "name"],
            )
            if self.differences
            else None,
        )

    def figure(self, metric: str, *, along: Along = "step") -> Figure:
        """Return one metric of all runs as a matplotlib figure.

        Raises:
            SpecError: No run logged it, or there is no such axis.
        """
        figure: Figure = _figures().metric_figure(self, metric, along)
        return figure

    def scatter(self, x: str, y: str) -> Figure:
        """Return each run as a point of a matplotlib figure.

        Args:
            x: A number of the facts: ``param.lr``, ``metric.loss.min``, ``cost_usd``; without
                ``param.`` or ``metric.`` where that is clear.
            y: Another one.

        Raises:
            SpecError: No run has one of them as a number.
        """
        figure: Figure = _figures().scatter_figure(self, x, y)
        return figure

    def __str__(self) -> str:
        text: str = importlib.import_module(self._html_view).text_of(self)
        return text

    __repr__ = __str__


def _figures() -> Any:  # noqa: ANN401  a module that knows this one, and loads matplotlib
    return importlib.import_module("smtc_lab.views.run_comparison.figures")


def last_and_least(run: ComparedRun, metric: str) -> tuple[float | None, float | None]:
    """Return the newest and the least value of a metric; None: no number, or not logged."""
    name = f"{METRIC}{metric}"
    return run.numbers.get(name), run.numbers.get(f"{name}.min")
