"""What one pass of a model's forward tells of each call of a module."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class TensorShape:
    """A tensor without its values."""

    shape: tuple[int, ...]
    dtype: torch.dtype
    requires_grad: bool

    @property
    def num_bytes(self) -> int:
        """Bytes of its values."""
        count = 1
        for size in self.shape:
            count *= size
        return count * self.dtype.itemsize

    def empty(self, device: torch.device | str) -> torch.Tensor:
        """Return a tensor of it; its values are whatever lies there."""
        made = torch.empty(self.shape, dtype=self.dtype, device=device)
        return made.requires_grad_(self.requires_grad)

    def zeros(self, device: torch.device | str, *, is_written: bool) -> torch.Tensor:
        """Return zeros of it, in memory only where they are written into."""
        if is_written:
            return torch.zeros(self.shape, dtype=self.dtype, device=device)
        return torch.zeros((), dtype=self.dtype, device=device).expand(self.shape)


@dataclass(frozen=True)
class Output:
    """One leaf of what a call returned, as ``torch.utils._pytree`` flattens it."""

    kind: Literal["tensor", "argument", "written", "repeated", "constant"]
    """``tensor``: a value of its own. ``argument``: what it was given, untouched. ``written``:
    an argument that it wrote into. ``repeated``: an earlier leaf. ``constant``: no tensor."""

    label: int = -1
    """Number of the tensor in this pass; -1: it has none."""

    shape: TensorShape | None = None
    """Of a tensor."""

    at: int = -1
    """Which leaf of the arguments, or which earlier leaf."""

    value: Any = None
    """A constant."""


@dataclass(eq=False)
class ModuleCall:
    """One call of a module."""

    module: torch.nn.Module
    name: str
    """Name of the module; from the second call on with ``#2`` and so on."""

    parent: ModuleCall | None
    first_label: int
    """Tensors of a lower number were there before it began."""

    inside: int = -1
    """Label of what is computed in a module that has no others in it, but not returned."""

    first_op: int = 0
    children: list[ModuleCall] = field(default_factory=list)
    reads: int = 0
    """Labels of the tensors from outside that it computes with, as bits."""

    parameters: set[int] = field(default_factory=set)
    """Parameters that its own code reads, by number."""

    forward_flops: int = 0
    """Of its own code, without the calls in it."""

    backward_flops: int = 0
    activation_bytes: int = 0
    """What its own code keeps for the backward pass, each storage once, no parameters."""

    is_random: bool = False
    is_offloaded: bool = False
    """Whether what it keeps waits in host memory."""

    outputs: tuple[Output, ...] = ()
    structure: Any = None
    """How the leaves make what it returned."""

    first_piece: int = -1
    """Of the pieces of the model, the first one in it."""

    end_piece: int = -1
    """The one after the last in it; as ``first_piece``: there is none."""

    is_piece: bool = False
    is_everywhere: bool = False
    """It costs nothing and needs no parameters: each stage that comes to it runs it."""

    def walk(self) -> Iterator[ModuleCall]:
        """Yield it and all calls in it, in the order in which they began."""
        yield self
        for child in self.children:
            yield from child.walk()

    @property
    def is_open(self) -> bool:
        """Whether pieces are inside of it."""
        return not self.is_piece and self.end_piece > self.first_piece


@dataclass(frozen=True, kw_only=True)
class Recording:
    """One forward and backward of a model, as it was seen."""

    root: ModuleCall
    names: tuple[str, ...]
    """Names of the parameters, by number; of a tied one the first."""

    parameters: tuple[torch.nn.Parameter, ...]
    """The parameters, by number."""

    owner: dict[int, ModuleCall]
    """The call that a label belongs to."""

    inner: dict[int, int]
    """Labels that an output of a call was computed from, as bits, by its label."""

    loss: int
    """Labels that the loss was computed from, as bits."""

    loss_dtype: torch.dtype

    written: int
    """Labels of the tensors that were written into later, as bits."""

    has_custom_functions: bool
    """Whether there is an ``autograd.Function`` in the graph."""

    is_without_values: bool
    """Whether it was seen with fake tensors; else with one real microbatch."""

    def shape_of(self, label: int) -> TensorShape:
        """Return the shape of an output, by its label."""
        found = next(one.shape for one in self.owner[label].outputs if one.label == label)
        assert found is not None  # noqa: S101  what has a label is a tensor
        return found


def bits(labels: int) -> Iterator[int]:
    """Yield the numbers of the bits that are set, from the lowest."""
    while labels:
        low = labels & -labels
        yield low.bit_length() - 1
        labels ^= low
