"""Sees that trainers that should divide the samples of a step all take the same ones.

Every trainer starts with the job's seed, so a loader that shuffles without a sampler for
several trainers draws the same batches on each; one that does not shuffle does so anyway.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from smtc_lab.metrics.records.records import SAME_SAMPLES
from smtc_lab.parallel.same_batch import batch_digest

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.instance.context import InstanceContext

_KEY = "smtc-first-batch-{rank}"


class FirstBatches:
    """Compares the first batches of all trainers, through the store at which they meet.

    Whatever goes wrong with that, the script goes on.

    Args:
        context: Where this trainer stands.
        store: Returns the store; None: they have not met.
        say: Tells people; called with a kind of event and a sentence.
    """

    def __init__(
        self,
        context: InstanceContext,
        store: Callable[[], Any],
        say: Callable[[str, str], None],
    ) -> None:
        self._rank, self._world_size = context.rank, context.world_size
        self._store, self._say = store, say
        self._digest: bytes | None = None
        self._is_first = True
        self._is_told = False

    def took(self, batch: Any) -> None:  # noqa: ANN401  any batch
        """Tell the others of the first batch, before the step in which all wait for all."""
        if self._is_first:
            self._is_first = False
            with suppress(RuntimeError, TypeError, NotImplementedError):  # a tensor of its own
                self._digest = batch_digest(batch)
            self._tell()

    def compare(self) -> None:
        """Say it after the first step, where all took the same; rank 0 does."""
        self._tell()
        if self._rank != 0 or not self._is_told:
            return
        keys = [_KEY.format(rank=rank) for rank in range(self._world_size)]
        store, found = self._store(), set[bytes]()
        with suppress(RuntimeError):  # somebody is gone
            found = {store.get(key) for key in keys} if store.check(keys) else found
        if len(found) == 1:
            self._say(
                SAME_SAMPLES,
                f"All {self._world_size} trainers took the same samples in their first step, "
                "so together they learn what one of them does. Give the loader "
                "torch.utils.data.DistributedSampler, or make it with "
                "smtc_lab.Session().dataloader(). Every trainer starts with the job's seed.",
            )

    def _tell(self) -> None:
        store = self._store()
        if self._is_told or self._digest is None or store is None:
            return
        with suppress(RuntimeError):  # as above
            store.set(_KEY.format(rank=self._rank), self._digest)
            self._is_told = True
