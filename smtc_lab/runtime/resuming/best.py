"""Which checkpoints stay because a script found them the best."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from smtc_lab.errors import EntryPointError
from smtc_lab.runtime.checkpoint import best_steps, score_checkpoint
from smtc_lab.runtime.resuming.agreement import score_of_rank_0

if TYPE_CHECKING:
    from pathlib import Path

Better = Literal["lowest", "greatest"]


class BestCheckpoints:
    """The checkpoints of one trainer that have a score.

    Args:
        folder: Where they lie.
        count: How many stay, 0 or more.
        better: Which score is better: the lowest, as of a loss, or the greatest.

    Raises:
        EntryPointError: Number or word cannot be.
    """

    def __init__(self, folder: Path, *, count: int, better: Better) -> None:
        if type(count) is not int or count < 0:
            raise EntryPointError(
                f"session.checkpoint(keep_best={count!r}) cannot be. Give a whole number of at "
                "least 0."
            )
        if better not in {"lowest", "greatest"}:
            raise EntryPointError(
                f"session.checkpoint(best={better!r}) cannot be. Give 'lowest', as of a loss, "
                "or 'greatest'."
            )
        self.count = count
        """How many stay."""
        self._folder, self._greatest = folder, better == "greatest"

    def steps(self) -> list[int]:
        """Return the steps of those that stay, from the best."""
        return best_steps(self._folder, greatest=self._greatest)[: self.count]

    def score(self, step: int, score: float) -> bool:
        """Keep the score of a step, and return whether it is the best one.

        All trainers call this; that of rank 0 counts.

        Raises:
            EntryPointError: None are kept, or it is no number.
            OSError: It cannot be written.
        """
        if not self.count:
            raise EntryPointError(
                "kept.score() was called, but session.checkpoint() keeps no best ones. Give "
                "it keep_best=1, or more."
            )
        score = score_of_rank_0(float(score))
        if math.isnan(score):
            raise EntryPointError(
                f"The score of step {step} is not a number (nan). Look for what made it so; "
                "the best ones before stay."
            )
        score_checkpoint(self._folder, step, score)
        return best_steps(self._folder, greatest=self._greatest)[:1] == [step]
