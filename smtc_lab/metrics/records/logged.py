"""What a script logged of its training, as columns: its losses, its accuracy, anything."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from smtc_lab.errors import StoreError
from smtc_lab.machine.installed import pandas

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_NAMED = 20


@dataclass(frozen=True, kw_only=True, eq=False)
class LoggedMetric:
    """The values of one metric that one process logged, N of them, at least one, in order."""

    name: str
    """What the script calls it; nothing in it is obeyed by a terminal."""

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
    """All metrics of a run: ``metrics["loss"].value``; of rank 1: ``metrics["loss", 1]``."""

    series: tuple[LoggedMetric, ...]
    """One for each name and process that logged it, by name, then by rank; what was found in
    what was printed comes last."""

    @cached_property
    def _found(self) -> dict[Any, LoggedMetric]:
        """By name, the first rank's; and by name and rank."""
        ranks = {(one.name, one.rank): one for one in self.series}
        return {**{one.name: one for one in reversed(self.series)}, **ranks}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the metrics, sorted."""
        return tuple(dict.fromkeys(one.name for one in self.series))

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
        if which in self._found:
            return self._found[which]
        named = ", ".join(self.names[:_MOST_NAMED]) or "none"
        raise StoreError(f"The run has no metric {str(which)[:80]!r}. It has: {named}.")

    def to_pandas(self) -> Any:  # noqa: ANN401  pandas need not be there
        """Return a ``pandas.DataFrame`` of name, rank, step, time_s and value.

        Raises:
            StoreError: pandas is not installed.
        """
        has = "the columns are there: metrics['loss'].value"
        library = pandas(without=has, refusal=StoreError)
        counts = [len(one.value) for one in self.series]
        table = {
            name: np.repeat(np.array([getattr(one, name) for one in self.series]), counts)
            for name in ("name", "rank")
        }
        for name in ("step", "time_s", "value"):
            table[name] = np.concatenate([[], *(getattr(one, name) for one in self.series)])
        return library.DataFrame(table)
