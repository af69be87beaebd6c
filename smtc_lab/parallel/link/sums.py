"""Holds the sums of ranks that share layers back, as a declared network would."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import torch.distributed as dist

from smtc_lab.parallel.link.pace import sleep_until

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import torch

    from smtc_lab.parallel.link.board import ReadyBoard
    from smtc_lab.parallel.link.pace import Pace


class HeldSums:
    """Sums tensors over ranks, in no less time than the declared network takes for it.

    Nothing can be computed beside a sum, so its rank waits for it.

    Args:
        pace: Returns the declared network between some ranks; None: none is declared.
        board: Where ranks write down that they are there; None: they are not on one machine.
            A sum counts from when it is there, then.
        on_held: Called with what each sum takes by the declared network, in seconds.
    """

    def __init__(
        self,
        pace: Callable[[Sequence[int]], Pace | None],
        board: ReadyBoard | None,
        on_held: Callable[[float], None] = lambda _: None,
    ) -> None:
        self._pace, self._board, self._on_held = pace, board, on_held
        self._number = 0
        self._known: dict[Any, tuple[list[int], Pace | None]] = {}
        self.total_s = 0.0
        """What all sums so far take by the declared network, in seconds."""

    def __call__(self, values: torch.Tensor, group: Any) -> None:  # noqa: ANN401  a process group
        """Sum values over the ranks of a group, in place; all of them do, in one order."""
        if group not in self._known:
            ranks = dist.get_process_group_ranks(group)
            self._known[group] = ranks, self._pace(ranks)
        ranks, pace = self._known[group]
        if pace is None or values.device.type != "cpu":
            dist.all_reduce(values, group=group)
            return
        self._number += 1
        if self._board is not None:
            self._board.write(self._number, time.perf_counter())
        dist.all_reduce(values, group=group)
        takes_s = pace.all_reduce_s(values.nbytes)
        self.total_s += takes_s
        self._on_held(takes_s)
        sleep_until(pace.reserve(self._here_s(ranks), takes_s))

    def _here_s(self, ranks: Sequence[int]) -> float:
        """Return when all ranks had begun the newest sum."""
        if self._board is None:
            return time.perf_counter()
        told = [self._board.written_s(rank, self._number) for rank in ranks]
        return max(time.perf_counter() if each is None else each for each in told)
