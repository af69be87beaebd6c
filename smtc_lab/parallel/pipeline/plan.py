"""What one stage does at each call of a module, in the order of the model's own forward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from smtc_lab.parallel.pipeline.cutting.calls import TensorShape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from smtc_lab.parallel.pipeline.cutting.calls import ModuleCall
    from smtc_lab.parallel.pipeline.cutting.pieces import Pieces


@dataclass(frozen=True, kw_only=True)
class Event:
    """One call of a module, as a stage meets it."""

    call: ModuleCall
    kind: Literal["stub", "run", "open", "end"]
    """``stub``: a stage before has run it. ``run``: it runs as it is. ``open``: its own code
    runs, and events follow for what it calls. ``end``: the next stage begins here."""

    keeps: tuple[tuple[int, int], ...] = ()
    """Leaves of what it returns that are sent on: which leaf, and as which tensor."""


@dataclass(frozen=True, kw_only=True)
class StagePlan:
    """One stage of a model."""

    first: int
    """Its first piece."""

    end: int
    """The piece after its last."""

    events: tuple[Event, ...]

    received: dict[int, int]
    """Which of the tensors that are received has a label."""

    inputs: tuple[TensorShape, ...]
    """What it receives; of the first stage nothing."""

    outputs: tuple[TensorShape, ...]
    """What it sends; of the last stage the loss."""

    written: int
    """Labels of tensors that are written into later, as bits."""

    parameters: frozenset[int]
    """Numbers of the parameters that it reads."""

    is_last: bool


def plan_stage(pieces: Pieces, first: int, end: int) -> StagePlan:
    """Return what a stage does that runs the pieces from ``first`` to before ``end``."""
    recording, is_last = pieces.recording, end == len(pieces)
    received = pieces.cut(first).labels if first else ()
    sent = () if is_last else pieces.cut(end).labels
    opened = (pieces.cut(first).opened if first else frozenset()) | (
        frozenset() if is_last else pieces.cut(end).opened
    )
    walk = _Walk(first, end, opened, {label: place for place, label in enumerate(sent)})
    events = tuple(walk.inside(recording.root))
    kept = {place for event in events for _, place in event.keeps}
    assert kept == set(range(len(sent))), (kept, sent)  # noqa: S101  each has one owner
    loss = TensorShape((), recording.loss_dtype, requires_grad=True)
    return StagePlan(
        first=first,
        end=end,
        events=events,
        received={label: place for place, label in enumerate(received)},
        inputs=tuple(map(recording.shape_of, received)),
        outputs=(loss,) if is_last else tuple(map(recording.shape_of, sent)),
        written=recording.written,
        parameters=frozenset(pieces.parameters_of(first, end)),
        is_last=is_last,
    )


class _Walk:
    """Goes through the calls of a model as one stage meets them."""

    def __init__(
        self, first: int, end: int, opened: frozenset[ModuleCall], sent: dict[int, int]
    ) -> None:
        self._first, self._end, self._opened, self._sent = first, end, opened, sent

    def inside(self, call: ModuleCall) -> Iterator[Event]:
        """Yield the events of what a call calls; nothing follows the end."""
        for child in call.children:
            ended = False
            for event in self._met(child):
                yield event
                ended = event.kind == "end"
            if ended:
                return

    def _met(self, call: ModuleCall) -> Iterator[Event]:
        keeps = tuple(
            (leaf, self._sent[output.label])
            for leaf, output in enumerate(call.outputs)
            if output.label in self._sent
        )
        has_pieces = call.end_piece > call.first_piece
        if has_pieces and call.first_piece >= self._end:
            yield Event(call=call, kind="end")
        elif has_pieces and call.end_piece <= self._first and call not in self._opened:
            yield Event(call=call, kind="stub", keeps=keeps)
        elif self._is_opened(call):
            yield Event(call=call, kind="open", keeps=keeps)
            yield from self.inside(call)
        else:
            yield Event(call=call, kind="run", keeps=keeps)

    def _is_opened(self, call: ModuleCall) -> bool:
        is_whole = self._first <= call.first_piece and call.end_piece <= self._end
        return call in self._opened or (call.is_open and not is_whole)
