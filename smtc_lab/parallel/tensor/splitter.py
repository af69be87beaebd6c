"""Divides the layers of a block, as the plans say."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn import functional

from smtc_lab.errors import EntryPointError
from smtc_lab.parallel.tensor.collectives import Entrance, summed
from smtc_lab.parallel.tensor.split import Split

if TYPE_CHECKING:
    from collections.abc import Callable


class Splitter:
    """Leaves this rank its parts of a model's layers.

    Parameters stay the same objects, so optimizers keep stepping them.
    """

    def __init__(
        self,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        *,
        group: Any,  # noqa: ANN401  a process group
        rank: int,
        ranks: int,
    ) -> None:
        """Divide nothing yet.

        Args:
            model: The model, with the same values on each rank.
            optimizer: Its optimizer; what it learnt is divided alike.
            group: The ranks that share the layers.
            rank: This rank in it.
            ranks: How many there are.
        """
        self.group, self.rank, self.ranks = group, rank, ranks
        self.splits: dict[int, Split] = {}
        """How each divided parameter is cut, by its ``id``."""

        self._learnt = optimizer.state
        self._names = {id(one): name for name, one in model.named_parameters()}
        self._uses = Counter(
            id(one)
            for module in model.modules()
            for one in module._parameters.values()  # noqa: SLF001  each use, also of tied ones
        )

    def entrance(self) -> Entrance:
        """Return where the layers of one block take their input."""
        return Entrance(self.group)

    def share(self, count: int, what: str) -> int:
        """Return how many of something each rank has.

        Args:
            count: How many there are.
            what: What it is, to follow the number.

        Raises:
            EntryPointError: They do not divide.
        """
        if count % self.ranks:
            fitting = [n for n in range(2, self.ranks) if count % n == 0]
            instead = f"tensor={fitting[-1]}" if fitting else "shard in place of tensor"
            raise EntryPointError(
                f"The model has {count} {what}, which tensor={self.ranks} trainers cannot "
                f"share evenly. Take {instead}."
            )
        return count // self.ranks

    def parameter(self, owner: nn.Module, name: str, split: Split) -> None:
        """Leave this rank's part of a parameter; one that is not there is left out.

        Raises:
            EntryPointError: Another module has the same one, or it does not divide.
        """
        value = getattr(owner, name)
        if value is None:
            return
        called = self._names[id(value)]
        if self._uses[id(value)] > 1:
            raise EntryPointError(
                f"The parameter {called} is tied to another module's, so tensor="
                f"{self.ranks} trainers cannot have parts of it. Untie it, or take shard in "
                "place of tensor."
            )
        shape = value.shape
        self.share(
            shape[split.dim] // split.fused, f"rows in dimension {split.dim} of {called}"
        )
        value.data = split.part(value.data, self.rank, self.ranks)
        value.grad = None
        for key, learnt in self._learnt.get(value, {}).items():
            if isinstance(learnt, torch.Tensor) and learnt.shape == shape:
                self._learnt[value][key] = split.part(learnt, self.rank, self.ranks)
        self.splits[id(value)] = split

    def column(self, layer: nn.Module, entrance: Entrance, *, fused: int = 1) -> None:
        """Divide a layer by its outputs, of which the next layer takes this rank's part.

        Args:
            layer: ``nn.Linear``, or a ``Conv1D`` of transformers.
            entrance: Where its block takes the input.
            fused: Blocks of its outputs that are divided each for itself.
        """
        is_linear = isinstance(layer, nn.Linear)
        self.parameter(layer, "weight", Split(0 if is_linear else 1, fused))
        self.parameter(layer, "bias", Split(0, fused))
        _divide(layer, "out_features" if is_linear else "nf", self.ranks)
        own = layer.forward

        def forward(value: torch.Tensor) -> torch.Tensor:
            out: torch.Tensor = own(entrance(value))
            return out

        layer.__dict__["forward"] = forward

    def row(self, layer: nn.Module, entrance: Entrance) -> None:
        """Divide the last layer of a block by its inputs; what ranks compute is summed.

        Args:
            layer: As for ``column``.
            entrance: Of its block.
        """
        is_linear = isinstance(layer, nn.Linear)
        self.parameter(layer, "weight", Split(1 if is_linear else 0))
        _divide(layer, "in_features" if is_linear else "nx", self.ranks)
        layer.__dict__["forward"] = self.row_of(layer, entrance, is_transposed=not is_linear)

    def row_of(
        self,
        layer: Any,  # noqa: ANN401  with weight and bias
        entrance: Entrance,
        *,
        is_transposed: bool = False,
    ) -> Callable[[torch.Tensor], torch.Tensor]:
        """Return the forward of a layer that is divided by its inputs."""

        def forward(value: torch.Tensor) -> torch.Tensor:
            entrance.leave()
            weight = layer.weight.t() if is_transposed else layer.weight
            total = summed(functional.linear(value, weight), self.group)
            return total if layer.bias is None else total + layer.bias.to(total.dtype)

        return forward

    def number(self, module: nn.Module, *names: str) -> None:
        """Divide numbers that a module computes shapes with; those it has not are left out."""
        for name in names:
            if hasattr(module, name):
                _divide(module, name, self.ranks)


def _divide(module: nn.Module, name: str, ranks: int) -> None:
    setattr(module, name, getattr(module, name) // ranks)
