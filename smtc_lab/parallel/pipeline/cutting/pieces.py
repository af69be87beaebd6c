"""A recorded model as a sequence of pieces, and what crosses where it is cut."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from smtc_lab.parallel.activations.recompute import IS_RECOMPUTED
from smtc_lab.parallel.pipeline.cutting.calls import bits
from smtc_lab.parallel.pipeline.cutting.ranges import PieceCost

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import torch

    from smtc_lab.parallel.pipeline.cutting.calls import ModuleCall, Recording

_LEAST_SHARE = 1 / 256
"""A module with less of the model's operations and parameters is not looked into."""


@dataclass(frozen=True, kw_only=True)
class Cut:
    """What is needed from before a piece, by what is computed from there on."""

    labels: tuple[int, ...]
    """The tensors that cross, in the order in which they were made."""

    opened: frozenset[ModuleCall]
    """Modules from before whose own code runs again, because of what it leaves behind."""

    hidden: str | None
    """Why there can be no cut here; None: there can be."""

    num_bytes: int = 0
    """Bytes that cross forward; gradients come back for those that have one."""


@dataclass(eq=False)
class Pieces:
    """A model as a sequence of modules that run one after the other."""

    recording: Recording
    sequence: tuple[ModuleCall, ...] = ()
    _cuts: dict[int, Cut] = field(default_factory=dict)
    _reads: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.sequence = tuple(_split(self.recording))
        live = self._live()
        containers = {
            label: self.recording.inner[label]
            for label in bits(live)
            if self.recording.owner[label].is_open
        }
        self._containers = sorted(containers.items())
        read = self.recording.loss
        self._reads = [read] * (len(self.sequence) + 1)
        for place in range(len(self.sequence) - 1, -1, -1):
            read |= self.sequence[place].reads
            self._reads[place] = read

    def __len__(self) -> int:
        return len(self.sequence)

    def cut(self, at: int) -> Cut:
        """Return what crosses where the sequence is cut before a piece.

        Args:
            at: Number of the piece, from 0.
        """
        if at not in self._cuts:
            self._cuts[at] = self._found(at)
        return self._cuts[at]

    def costs(
        self,
        *,
        seconds: Sequence[float] | None = None,
        flops_per_byte: float = 0.0,
        state_factor: float = 4.0,
    ) -> list[PieceCost]:
        """Return what each piece costs.

        Args:
            seconds: Time of each piece for one microbatch, forward and backward; None: costs
                are operations.
            flops_per_byte: Operations that a device does while one byte crosses.
            state_factor: Bytes that are held for each byte of a parameter: 4 with AdamW, with
                gradient and two moments.
        """
        operations = [float(flops(call)) for call in self.sequence]
        costs = operations if seconds is None else list(seconds)
        per_byte = flops_per_byte * sum(costs) / (sum(operations) or 1.0)
        found = []
        for place, call in enumerate(self.sequence):
            cut = self.cut(place)
            crossing = float("inf") if cut.hidden else per_byte * 2 * cut.num_bytes
            found.append(
                PieceCost(
                    name=call.name,
                    cost=costs[place],
                    send_cost=crossing if place else 0.0,
                    static_bytes=state_factor * self.parameter_bytes(parameters(call)),
                    activation_bytes=float(activation_bytes(call)),
                    working_bytes=float(_layer_bytes(call)),
                    received_bytes=float(cut.num_bytes) if place and call.is_offloaded else 0.0,
                )
            )
        return found

    def parameters_of(self, first: int, end: int) -> set[int]:
        """Return the numbers of the parameters that a stage of these pieces reads.

        Those of modules that it opens are among them: their own code runs on each stage that
        comes to it.
        """
        found: set[int] = set()
        opened = self.cut(first).opened if first else frozenset()
        for call in self.recording.root.walk():
            is_own = call.is_piece and first <= call.first_piece < end
            is_open = not call.is_piece and (
                call.end_piece > first or call in opened or call.parent is None
            )
            if is_own:
                found |= parameters(call)
            elif is_open and call.first_piece < end and not _is_inside_piece(call):
                found |= call.parameters
        return found

    def offload(self, modules: Iterable[torch.nn.Module]) -> None:
        """Count as if what some modules keep waited in host memory, too, from now on."""
        own = set(modules)
        for call in self.recording.root.walk():
            is_inside = call.parent is not None and call.parent.is_offloaded
            call.is_offloaded |= call.module in own or is_inside

    def parameter_bytes(self, numbers: Iterable[int]) -> int:
        """Return the bytes of some parameters, by their numbers."""
        return sum(
            one.numel() * one.element_size()
            for one in (self.recording.parameters[number] for number in numbers)
        )

    def _live(self) -> int:
        """Return the labels that anything needs, as bits."""
        live = self.recording.loss
        for piece in self.sequence:
            live |= piece.reads
        for label in sorted(self.recording.inner, reverse=True):
            if live >> label & 1 and self.recording.owner[label].is_open:
                live |= self.recording.inner[label]
        return live

    def _found(self, at: int) -> Cut:
        before = (1 << self.sequence[at].first_label) - 1
        read = self._reads[at]
        for label, inner in reversed(self._containers):
            if label < self.sequence[at].first_label:
                break
            read |= inner
        opened: set[ModuleCall] = set()
        needed, hidden = read & before, None
        while True:
            count, opening = len(opened), needed
            for label in bits(needed):
                call = self.recording.owner[label]
                if call.is_everywhere:
                    opening &= ~(1 << label)
                elif call.inside == label:
                    hidden = hidden or _hidden(call)
                opened.update(one for one in _around(call) if one.end_piece <= at)
                if call in opened:
                    opening = opening & ~(1 << label) | self.recording.inner[label] & before
            if opening == needed and len(opened) == count:
                break
            needed = opening
        labels = tuple(
            label for label in bits(needed) if self.recording.owner[label].inside != label
        )
        return Cut(
            labels=labels,
            opened=frozenset(opened),
            hidden=hidden,
            num_bytes=sum(self.recording.shape_of(label).num_bytes for label in labels),
        )


def flops(call: ModuleCall) -> int:
    """Return the operations of a call, forward and backward, with all calls in it."""
    return sum(one.forward_flops + one.backward_flops for one in call.walk())


def activation_bytes(call: ModuleCall) -> int:
    """Return what a call keeps on its device for its backward, with all calls in it."""
    return sum(one.activation_bytes for one in call.walk() if not one.is_offloaded)


def host_bytes(call: ModuleCall) -> int:
    """Return what a call keeps in host memory for its backward, with all calls in it."""
    return sum(one.activation_bytes for one in call.walk() if one.is_offloaded)


def parameters(call: ModuleCall) -> set[int]:
    """Return the numbers of the parameters that a call reads, with all calls in it."""
    return set().union(*(one.parameters for one in call.walk()))


def _split(recording: Recording) -> Iterator[ModuleCall]:
    """Yield the pieces of a model, and mark what is inside and around them."""
    root = recording.root
    sizes = [one.numel() for one in recording.parameters]
    least_flops, least_size = flops(root) * _LEAST_SHARE, sum(sizes) * _LEAST_SHARE
    count = 0

    def visit(call: ModuleCall) -> Iterator[ModuleCall]:
        nonlocal count
        call.first_piece = count
        is_large = call is root or (
            flops(call) > least_flops
            or sum(sizes[number] for number in parameters(call)) > least_size
        )
        if call is root or (call.children and is_large and _can_open(call)):
            for child in call.children:
                yield from visit(child)
            if count == call.first_piece:
                call.is_everywhere = True
        elif _is_everywhere(call):
            call.is_everywhere = True
        else:
            call.is_piece = True
            count += 1
            yield call
        call.end_piece = count
        if not call.is_open:
            for inside in call.walk():
                inside.first_piece, inside.end_piece = call.first_piece, call.end_piece

    yield from visit(root)


def _can_open(call: ModuleCall) -> bool:
    """Whether a cut may run through a call's own code, which then runs on both sides."""
    is_recomputed = call.module.training and (
        getattr(call.module, "gradient_checkpointing", False)
        or hasattr(call.module, IS_RECOMPUTED)
    )
    return not (call.forward_flops or call.is_random or is_recomputed)


def _is_everywhere(call: ModuleCall) -> bool:
    if any(one.parameters or one.forward_flops or one.is_random for one in call.walk()):
        return False
    needs_nothing = not call.reads
    return needs_nothing or all(one.label < 0 for one in call.outputs)


def _around(call: ModuleCall) -> Iterator[ModuleCall]:
    """Yield the calls around a call, from the innermost; not the model itself."""
    around = call.parent
    while around is not None and around.parent is not None:
        yield around
        around = around.parent


def _layer_bytes(call: ModuleCall) -> int:
    """Return what comes back from host memory at once for a call: what its layer keeps."""
    layer = call
    while layer.parent is not None and layer.parent.is_offloaded:
        layer = layer.parent
    return host_bytes(layer)


def _is_inside_piece(call: ModuleCall) -> bool:
    return any(one.is_piece for one in _around(call))


def _hidden(call: ModuleCall) -> str:
    return (
        f"{call.name} ({type(call.module).__name__}) hands tensors to later modules that are "
        "not in what it returns"
    )
