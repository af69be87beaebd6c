"""How a column of a step of the job is made of what its ranks recorded of it.

``StepRecord`` declares it beside each field, and a table here what is made of them besides: the
store makes SQL of it for ranks whose files are read together, and the fold here puts any number
of ranks together, some at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args, get_type_hints

import numpy as np

from smtc_lab.metrics.records.records import StepRecord

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

TOGETHER = 16
"""Ranks that are put together first, at most, so that sums are rounded alike everywhere.

So many files are joined in one question. With more, SQLite takes longer for each of them, and
more files are open at once."""

How = Literal["first", "min", "max", "sum", "mean", "ratio", "argmin"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Across:
    """How a column is made. Unknown of one rank that counts: unknown."""

    how: How
    """The first rank's; the least, the greatest, the sum, the mean of all ranks'; the ratio of
    two sums, unknown where the second one is 0; the place of the first rank that has the
    least, from 0."""

    of: str
    """Field of a ``StepRecord``."""

    less: str = ""
    """Field that is taken off it; empty: none."""

    per: str = ""
    """Field whose sum the sum is divided by, of a ``ratio``."""

    @property
    def num_parts(self) -> int:
        """Numbers of a step that tell enough of some ranks to put them together with others."""
        return 2 if self.how in {"ratio", "argmin"} else 1


ACROSS = {
    **{
        name: Across(how=get_args(declared)[1], of=name)
        for name, declared in get_type_hints(StepRecord, include_extras=True).items()
    },
    "begin_time_s": Across(how="min", of="end_time_s", less="step_time_s"),
    "rank_time_s": Across(how="mean", of="step_time_s"),
    "first_rank_samples": Across(how="first", of="num_samples"),
    "least_rank_wait_s": Across(how="min", of="rank_wait_s"),
    "waited_for_rank": Across(how="argmin", of="rank_wait_s"),
    "device": Across(how="ratio", of="device_time_s", per="step_time_s"),
}
"""Columns of a step of the job: the fields of a ``StepRecord``, and what else is made of them:
begin; mean step time of the ranks; samples of the first one; the least wait of a rank, and the
place of that rank; the share of the step times in which devices computed."""


class RankFold:
    """Puts columns of a job's steps together, from parts of some ranks at a time.

    Parts are, for each column in order, its ``num_parts`` rows: of a ratio both sums, of a mean
    the sum, of a place the least value and its place among these ranks, else the value.

    Args:
        names: Columns, of ``ACROSS``.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._made = [ACROSS[name] for name in names]
        self._parts: list[NDArray[np.float64]] = []
        self.num_ranks = 0
        """Ranks that were put together."""

    @property
    def parts(self) -> NDArray[np.float64]:
        """What is known of all these ranks together, shape (P, S): of S steps, P parts."""
        return np.array(self._parts)

    def add(self, parts: NDArray[np.float64], num_ranks: int) -> None:
        """Put ranks behind those that are there.

        Args:
            parts: Of these ranks, shape (P, S). Only steps that all ranks have are kept: S of
                all is the least S of any.
            num_ranks: Ranks that they are of.
        """
        rows = list(parts)
        if self.num_ranks:
            end = min(parts.shape[1], len(self._parts[0]) if self._parts else 0)
            rows = self._with_more([row[:end] for row in rows], end)
        self._parts = rows
        self.num_ranks += num_ranks

    def columns(self) -> NDArray[np.float64]:
        """Return the columns of the steps that all ranks have, shape (C, S)."""
        made = []
        place = 0
        for column in self._made:
            value, *more = self._parts[place : place + column.num_parts]
            place += column.num_parts
            if column.how == "mean":
                value = value / self.num_ranks
            elif column.how == "ratio":
                value = np.divide(
                    value, more[0], out=np.full(len(value), np.nan), where=more[0] != 0
                )
            elif column.how == "argmin":
                value = np.where(np.isnan(value), np.nan, more[0])
            made.append(value)
        return np.array(made)

    def _with_more(
        self, more: Sequence[NDArray[np.float64]], end: int
    ) -> list[NDArray[np.float64]]:
        had = [row[:end] for row in self._parts]
        for place, how in enumerate(self._hows()):
            value, other = had[place], more[place]
            if how in {"sum", "mean", "ratio"}:
                had[place] = value + other
            elif how == "max":
                had[place] = np.maximum(value, other)
            elif how == "argmin":
                is_less = more[place - 1] < self._parts[place - 1][:end]
                had[place] = np.where(is_less, other + self.num_ranks, value)
            elif how == "min":
                had[place] = np.minimum(value, other)
        return had

    def _hows(self) -> list[How]:
        """Return how each part is put together: of a place, the value it is of first."""
        hows: list[How] = []
        for column in self._made:
            first: How = "min" if column.how == "argmin" else column.how
            hows += [first, column.how][: column.num_parts]
        return hows


def parts_of_rank(
    names: Sequence[str], fields: Mapping[str, NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Return the parts of one rank, shape (P, S).

    Args:
        names: Columns, of ``ACROSS``.
        fields: The fields of its records by name, each of shape (S,).
    """
    parts = []
    for made in (ACROSS[name] for name in names):
        value = fields[made.of]
        parts.append(value - fields[made.less] if made.less else value)
        if made.how == "ratio":
            parts.append(fields[made.per])
        elif made.how == "argmin":
            parts.append(np.zeros(len(value)))
    return np.array(parts)
