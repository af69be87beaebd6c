"""The ranks of other pipelines of the same model that run the same stages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist

from smtc_lab.parallel.full_state import from_first
from smtc_lab.parallel.gradients import is_sharded
from smtc_lab.parallel.replicas import average_gradients, take_from_first

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from smtc_lab.parallel.tensor.parts import TensorParts


@dataclass(frozen=True, kw_only=True)
class Peers:
    """Who else has the parameters of this rank's stages, whole or in parts."""

    replicas: Any = None
    """Process group of the ranks that run the same with batches of their own; None: there are
    no others."""

    shards: Any = None
    """Device mesh of those of them that share parameters; None: each has them whole."""

    is_first_replica: bool = True
    """Whether this replica is the one that is saved."""

    parts: TensorParts | None = None
    """How ranks that take the same batch share the layers; None: they do not."""

    holders: Any = None
    """Process group of all of these ranks; None: there are no others."""

    @property
    def is_first(self) -> bool:
        """Whether this pipeline speaks for all."""
        return self.holders is None or dist.get_rank(self.holders) == 0

    def begin_alike(self, parameters: Iterable[torch.nn.Parameter]) -> None:
        """Give parameters the values of the first replica."""
        if self.replicas is not None:
            take_from_first(parameters, self.replicas)

    def average(
        self,
        parameters: Iterable[torch.nn.Parameter],
        all_reduce: Callable[[torch.Tensor, Any], None],
    ) -> None:
        """Average gradients over the replicas; those of shards are averaged already.

        Args:
            parameters: Of this rank's stages.
            all_reduce: Sums values over a process group, in place.
        """
        if self.replicas is not None:
            whole = [one for one in parameters if not is_sharded(one)]
            average_gradients(whole, self.replicas, all_reduce)

    def whole(self, name: str, value: Any, like: torch.Tensor) -> Any:  # noqa: ANN401  any part of a state
        """Return a value as of one process; ranks that share layers ask for it together.

        Args:
            name: Name of a parameter.
            value: It, or what an optimizer learnt of it.
            like: The parameter.
        """
        if not isinstance(value, torch.Tensor) or value.shape != like.shape:
            return value
        local: Any = value.detach()
        if is_sharded(local):
            local = local.full_tensor()
        return local if self.parts is None else self.parts.whole(name, local)

    def shape(self, name: str, value: torch.Tensor) -> tuple[int, ...]:
        """Return the shape that one process has of a parameter of this rank."""
        shape = value.shape
        return tuple(shape) if self.parts is None else self.parts.whole_shape(name, shape)

    def spread(self, part: dict[str, Any]) -> dict[str, Any]:
        """Return what the first of these ranks has: this rank's parts of it.

        Args:
            part: ``model`` and ``state`` of some stages; elsewhere it is not looked at.
        """
        if self.holders is not None:
            part = from_first(part, self.holders)
        if self.parts is None or "model" not in part:
            return part
        cut, wholes = self.parts.part, part["model"]
        state = {
            name: {
                key: cut(name, value)
                if isinstance(value, torch.Tensor) and value.shape == wholes[name].shape
                else value
                for key, value in learnt.items()
            }
            for name, learnt in part["state"].items()
        }
        model = {name: cut(name, value) for name, value in wholes.items()}
        return {**part, "model": model, "state": state}
