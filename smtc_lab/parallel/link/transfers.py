"""Holds what stages of a pipeline send each other back, as a declared network would."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

from smtc_lab.parallel.link.pace import sleep_until

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from smtc_lab.parallel.link.board import ReadyBoard
    from smtc_lab.parallel.link.pace import Pace

_STEPS_AT_ONCE = 2
"""All ranks meet when a step ends, so none is further ahead of another one."""


def board_slots(num_stages: int, microbatches: int) -> int:
    """Return how many transfers a rank may have under way."""
    return 2 * num_stages * microbatches * _STEPS_AT_ONCE + 1


class HeldTransfers:
    """What one rank sends to the stages of others, and receives from them.

    A sender writes down when the declared network would have brought what it sends, from the
    moment when it was computed. It goes on at once; a receiver begins to compute no sooner
    than that. So transfers go on beside what both compute, and those that a card sends at the
    same time queue.

    Args:
        chunks: Stages of this rank by number, as torch's schedule calls them.
        num_stages: Stages of the pipeline.
        microbatches: Microbatches of a batch.
        pace: Returns the clock of what goes between this rank and another one, which those that
            share a wire share; None: no network is declared between them.
        board: Where ranks write that down; None: they are not on one machine. What is received
            counts from when it has come, then.
    """

    def __init__(
        self,
        chunks: Mapping[int, Any],
        *,
        num_stages: int,
        microbatches: int,
        pace: Callable[[int], Pace | None],
        board: ReadyBoard | None,
    ) -> None:
        self._chunks = chunks
        self._num_stages, self._microbatches = num_stages, microbatches
        self._pace, self._board = pace, board
        self._batches = 0
        self._expected: dict[int, tuple[int, int]] = {}
        """Rank and bytes of what is to be received, by number."""

    def start(self, schedule: Any) -> None:  # noqa: ANN401  torch's
        """Take over where torch's stages send, receive and compute. To be called once.

        Args:
            schedule: torch's, which runs these stages.
        """
        for stage, chunk in self._chunks.items():
            for is_backward, way in enumerate(("fwd", "bwd")):
                before = stage + 1 if is_backward else stage - 1
                sent = partial(self._number, stage, is_backward)
                received = partial(self._number, before, is_backward)
                computes = ("forward_one_chunk", "backward_one_chunk")[is_backward]
                _replace(chunk, f"get_{way}_send_ops", partial(self._sent, sent))
                _replace(chunk, f"get_{way}_recv_ops", partial(self._awaited, received))
                _replace(chunk, computes, partial(self._computed, received))
        _replace(schedule, "step", self._stepped)

    def _number(self, stage: int, is_backward: int, microbatch: int) -> int:
        """Return the number of what a stage has computed, the same on every rank; from 1."""
        nth = self._batches * self._microbatches + microbatch
        return 1 + (nth * self._num_stages + stage) * 2 + is_backward

    def _stepped(self, run: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  torch's
        self._batches += 1
        self._expected.clear()  # a step that failed has left some
        return run(*args, **kwargs)

    def _sent(
        self, number: Callable[[int], int], get: Callable[[int], list[Any]], microbatch: int
    ) -> list[Any]:
        """Say when others will have what is about to be sent."""
        ops = get(microbatch)
        pace = self._pace(ops[0].peer) if ops else None
        if pace is not None and self._board is not None:
            end_s = pace.reserve(time.perf_counter(), pace.send_s(_num_bytes(ops)))
            self._board.write(number(microbatch), end_s)
        return ops

    def _awaited(
        self, number: Callable[[int], int], get: Callable[[int], list[Any]], microbatch: int
    ) -> list[Any]:
        """Take note of what is about to be received."""
        ops = get(microbatch)
        if ops:
            self._expected[number(microbatch)] = ops[0].peer, _num_bytes(ops)
        return ops

    def _computed(
        self,
        number: Callable[[int], int],
        compute: Callable[..., Any],
        microbatch: int,
        *args: Any,  # noqa: ANN401  torch's
        **kwargs: Any,  # noqa: ANN401  torch's
    ) -> Any:  # noqa: ANN401  torch's
        """Compute no sooner than the declared network has brought what is needed."""
        expected = self._expected.pop(number(microbatch), None)
        if expected is not None:
            self._hold(number(microbatch), *expected)
        return compute(microbatch, *args, **kwargs)

    def _hold(self, number: int, rank: int, num_bytes: int) -> None:
        pace = self._pace(rank)
        if pace is None:
            return
        end_s = None if self._board is None else self._board.written_s(rank, number)
        if end_s is None:
            end_s = pace.reserve(time.perf_counter(), pace.send_s(num_bytes))
        sleep_until(end_s)


def _num_bytes(ops: list[Any]) -> int:
    """Return how many bytes operations of torch send or receive together."""
    return sum(one.tensor.nbytes for one in ops)


def _replace(owner: Any, name: str, by: Callable[..., Any]) -> None:  # noqa: ANN401  torch's
    """Let a method of an object go through a function, which is given it first."""
    setattr(owner, name, partial(by, getattr(owner, name)))
