"""Which stream of an iterable-style dataset a trainer asks next, in torch's order."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple


class Turn(NamedTuple):
    """One batch to ask for."""

    order: int
    """How many turns came before it; batches are delivered in this order when ``in_order``."""

    stream: int
    """Number of the stream, from 0."""

    position: int
    """Number of the batch in its stream, from 0."""


class Rotation:
    """The turns of one epoch: round robin over the streams that have not ended.

    Turns are taken ahead of the answers, so some are taken that have no batch. Without these,
    the batches in the order of their turns are those of ``torch.utils.data.DataLoader`` with
    ``num_workers=num_streams``, however far ahead the turns are taken.
    """

    def __init__(self, num_streams: int, *, in_order: bool) -> None:
        """Begin an epoch.

        Args:
            num_streams: The loader's ``num_workers``; 0 is one stream.
            in_order: Whether the batches are delivered in the order of the turns. Otherwise the
                stream with the fewest turns pending is next, so a slow one is asked less.
        """
        self._in_order = in_order
        # The stream whose turn is next, and so on.
        self._streams = deque(range(max(num_streams, 1)))
        self._num_asked = [0] * len(self._streams)
        self._pending: list[dict[int, Turn]] = [{} for _ in self._streams]
        self._num_turns = 0

    def next(self) -> Turn | None:
        """Return the next turn; None: every stream has ended."""
        if not self._streams:
            return None
        stream = self._streams[0]
        if not self._in_order:
            stream = min(self._streams, key=lambda each: len(self._pending[each]))
        self._streams.remove(stream)
        self._streams.append(stream)
        turn = Turn(self._num_turns, stream, self._num_asked[stream])
        self._num_turns += 1
        self._num_asked[stream] += 1
        self._pending[stream][turn.position] = turn
        return turn

    def delivered(self, turn: Turn) -> bool:
        """Note that a turn's batch, or its error, is given to the trainer.

        Returns:
            False: its stream has ended before, so it is not.
        """
        return self._pending[turn.stream].pop(turn.position, None) is not None

    def ended(self, stream: int, position: int) -> list[Turn]:
        """Note that a stream has no batch at a position, and so none after it.

        Returns:
            The pending turns that thereby have no batch, that of ``position`` with them. Each
            is returned once, so a second answer of this kind is harmless.
        """
        if stream in self._streams:
            self._streams.remove(stream)
        pending = self._pending[stream]
        return [pending.pop(other) for other in sorted(pending) if other >= position]
