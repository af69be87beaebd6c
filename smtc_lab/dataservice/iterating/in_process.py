"""Batches that the trainer makes itself, in turn with its steps."""

from __future__ import annotations

import functools
import time
from typing import TYPE_CHECKING, Any

from smtc_lab.dataservice.client.local import host_name
from smtc_lab.dataservice.client.statistics import LOCAL, LoaderStatistics
from smtc_lab.dataservice.iterating.iterators import IteratedLoader, SeededIterator
from smtc_lab.dataservice.protocol.messages import Answer, failure_text, to_error
from smtc_lab.dataservice.seeding import preserved_random_state
from smtc_lab.dataservice.source import BatchFailure, make_batch, source_of

if TYPE_CHECKING:
    from collections.abc import Callable


def made_here(
    next_maker: Callable[[], Callable[[], object]],
    pin: Callable[[Answer], Answer] | None,
    statistics: LoaderStatistics,
) -> object:
    """Return the next batch, made in the trainer; its own random generators stay as they are.

    Args:
        next_maker: Returns what makes it; the sampler keeps the random state it leaves.
        pin: Copies it to pinned memory; None: no need.
        statistics: Where it counts.
    """
    try:
        make = next_maker()
        started_s = time.perf_counter()
        with preserved_random_state():
            batch = make()
    except StopIteration:
        statistics.hand_over()
        raise
    except BatchFailure as failure:
        said = failure_text(failure, f"{host_name()} (in the trainer)")
        cause = failure.__cause__
        raise to_error(said, None if cause is None else type(cause)) from cause
    outcome = Answer(batch, None, LOCAL, 0, time.perf_counter() - started_s)
    if pin is not None:
        outcome = pin(outcome)
    statistics.add_batch(outcome, time.perf_counter() - started_s, was_ready=False)
    if statistics.is_due():
        statistics.hand_over()
    if outcome.error is not None:
        raise outcome.error
    return outcome.value


class InProcessIterator(SeededIterator):
    """Prepares batches in the trainer, as torch does it with ``num_workers=0``.

    Unlike torch's, it leaves the trainer's own random generators as they are.
    """

    def __init__(self, loader: IteratedLoader[Any]) -> None:
        super().__init__(loader)
        self._source = source_of(loader)
        self._statistics = LoaderStatistics(loader.record)

    def _next_data(self) -> object:
        return made_here(self._next_maker, self._pin(), self._statistics)

    def _next_maker(self) -> Callable[[], object]:
        """Return what makes the next batch."""
        indices, place = self._next_place()
        return functools.partial(make_batch, self._source, indices, place)
