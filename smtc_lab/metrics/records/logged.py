"""What a script logged of its training, as columns: its losses, its accuracy, anything."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from smtc_lab.errors import StoreError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_NAMED = 20


@dataclass(frozen=True, kw_only=True, eq=False)
class LoggedMetric:
    """The values of one metric that one process logged, N of them, at least one, in order."""

    name: str
    """What the script calls it; nothing in it is obeyed by a terminal."""

    source: str
    """Who logged it: ``<host>-rank<rank>``; a host where it was found in what was printed."""

    rank: int | None
    """The trainer that logged it; None: it was found in what was printed."""

    step: NDArray[np.float64]
    """The step of each value, shape (N,): of the run, from 0, or what the script counts. NaN:
    unknown, as no step had ended."""

    time_s: NDArray[np.float64]
    """When each was logged, in seconds since the epoch, shape (N,)."""

    value: NDArray[np.float64]
    """The values, shape (N,); NaN and infinite ones too."""

    @property
    def last(self) -> float:
        """The newest value."""
        return float(self.value[-1])

    @property
    def least(self) -> float:
        """The least value; NaN: each is NaN."""
        return float(np.fmin.reduce(self.value))

    @property
    def greatest(self) -> float:
        """The greatest value; NaN: each is NaN."""
        return float(np.fmax.reduce(self.value))


@dataclass(frozen=True, kw_only=True, eq=False)
class LoggedMetrics:
    """All metrics of a run.

    ::

        metrics = run.metrics()
        metrics.names                                       # ("eval/loss", "loss")
        metrics["loss"].step, metrics["loss"].value, metrics["loss"].last
        metrics["loss", 1].value                            # of rank 1
    """

    series: tuple[LoggedMetric, ...]
    """One for each name and process that logged it, by name, then by rank; what was found in
    what was printed comes last."""

    @cached_property
    def _by_name(self) -> dict[str, dict[int | None, LoggedMetric]]:
        found: dict[str, dict[int | None, LoggedMetric]] = {}
        for one in self.series:
            found.setdefault(one.name, {}).setdefault(one.rank, one)
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the metrics, sorted."""
        return tuple(self._by_name)

    @property
    def last(self) -> dict[str, float]:
        """The newest value of each metric by its name, of the first rank that logged it."""
        return {name: self[name].last for name in self.names}

    def __getitem__(self, which: str | tuple[str, int | None]) -> LoggedMetric:
        """Return a metric.

        Args:
            which: Its name, for the first rank that logged it; or its name and a rank.

        Raises:
            StoreError: It was not logged; says what was.
        """
        name, *rank = (which,) if isinstance(which, str) else which
        of_ranks = self._by_name.get(str(name), {})
        found = of_ranks.get(rank[0]) if rank else next(iter(of_ranks.values()), None)
        if found is not None:
            return found
        if of_ranks:
            raise StoreError(
                f"Rank {rank[0]} logged no metric {name!r}. Choose among "
                f"{', '.join(map(str, of_ranks))}."
            )
        named = ", ".join(self.names[:_MOST_NAMED]) or "none"
        raise StoreError(f"The run has no metric {str(name)[:80]!r}. It has: {named}.")

    def to_pandas(self) -> Any:  # noqa: ANN401  pandas need not be there
        """Return a ``pandas.DataFrame``: name, source, rank, step, time_s, value of each value.

        Raises:
            StoreError: pandas is not installed.
        """
        try:
            pandas = importlib.import_module("pandas")  # which need not be there
        except ImportError as error:
            raise StoreError(
                "pandas is not installed, so there is no table of the metrics. Run: pip "
                "install pandas. The columns are there without it: metrics['loss'].value."
            ) from error

        counts = [len(one.value) for one in self.series]
        table = {
            name: np.repeat(np.array([getattr(one, name) for one in self.series]), counts)
            for name in ("name", "source", "rank")
        }
        numbers = {
            name: np.concatenate([np.empty(0), *(getattr(one, name) for one in self.series)])
            for name in ("step", "time_s", "value")
        }
        return pandas.DataFrame({**table, **numbers})
