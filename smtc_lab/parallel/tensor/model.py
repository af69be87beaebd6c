"""Gradients and checkpoints of a model of whose layers this rank has parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist

from smtc_lab.errors import EntryPointError
from smtc_lab.parallel.full_state import from_rank_0
from smtc_lab.parallel.gradients import is_sharded, scale_down
from smtc_lab.parallel.group import on_the_wire
from smtc_lab.parallel.optimizer import sharded_like

if TYPE_CHECKING:
    from collections.abc import Mapping

    from smtc_lab.parallel.tensor.parts import TensorParts


class TensorModel:
    """A model in parts, as a checkpoint of all trainers sees it.

    Its parts may be sharded or replicated further; all ranks call each method together.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        optimizer: torch.optim.Optimizer,
        parts: TensorParts,
        *,
        wrapped: torch.nn.Module,
        speaks: bool,
    ) -> None:
        """Keep what is given.

        Args:
            model: The model with its parts.
            optimizer: What steps them.
            parts: How they make the whole.
            wrapped: What the script trains: the model, or what it was wrapped in.
            speaks: Whether this replica is the one that is saved.
        """
        self.model, self.optimizer = wrapped, optimizer
        self._inner, self._parts, self._speaks = model, parts, speaks

    @property
    def is_built(self) -> bool:
        """Whether it has its parts already."""
        return True

    def clip_grad_norm(self, max_norm: float, norm_type: float = 2.0) -> torch.Tensor:
        """Scale gradients down to a norm; return the norm before, of the whole model."""
        total = self.grad_norm(norm_type)
        trained = [one for one in self._inner.parameters() if one.grad is not None]
        scale_down(trained, max_norm, total)
        return total

    def grad_norm(self, norm_type: float = 2.0) -> torch.Tensor:
        """Return the norm of the gradients of the whole model."""
        gradients = [
            (name, one.grad)
            for name, one in self._inner.named_parameters()
            if one.grad is not None
        ]
        total = self._parts.norm_power(gradients, norm_type)
        return total if norm_type == float("inf") else total ** (1 / norm_type)

    def full_state(self) -> dict[str, Any]:
        """Return ``model`` and ``optimizer`` as of one process, on rank 0; else nothing."""
        if not self._speaks:
            return {}
        keeps = not dist.get_rank()
        values = {
            name: self._whole(name, value, value)
            for name, value in self._inner.state_dict(keep_vars=True).items()
        }
        names = {id(one): name for name, one in self._inner.named_parameters()}
        learnt = {
            names[id(one)]: {
                key: self._whole(names[id(one)], value, one) for key, value in found.items()
            }
            for group in self.optimizer.param_groups
            for one in group["params"]
            if (found := self.optimizer.state.get(one))
        }
        groups = [
            {**group, "params": [names[id(one)] for one in group["params"]]}
            for group in self.optimizer.param_groups
        ]
        if not keeps:
            return {}
        return {"model": values, "optimizer": {"state": learnt, "param_groups": groups}}

    def load_full_state(self, state: Mapping[str, Any] | None) -> None:
        """Take over what ``full_state`` returned, here or with any other layout.

        Args:
            state: ``model``, and ``optimizer`` where it is to be loaded too; on rank 0.

        Raises:
            EntryPointError: Something is missing in it, or has another shape.
        """
        given: Mapping[str, Any] = {} if dist.get_rank() else state or {}
        told = from_rank_0({} if dist.get_rank() else self._described(given))
        if told["missing"]:
            raise EntryPointError(told["missing"])
        with torch.no_grad():
            for name, value in self._inner.state_dict(keep_vars=True).items():
                if isinstance(value, torch.Tensor):
                    whole = given["model"][name] if given else None
                    value.detach().copy_(self._received(name, whole, value, value.dtype))
        if told["groups"] is not None:
            learnt = given["optimizer"]["state"] if given else {}
            self._load_optimizer(told, learnt)

    def _load_optimizer(self, told: dict[str, Any], given: Mapping[str, Any]) -> None:
        names = {id(one): name for name, one in self._inner.named_parameters()}
        state: dict[int, dict[str, Any]] = {}
        groups, count = [], 0
        for mine, group in zip(self.optimizer.param_groups, told["groups"], strict=True):
            first = count
            for one in mine["params"]:
                name = names[id(one)]
                kinds = told["learnt"].get(name, {})
                found = given.get(name, {})
                made = {
                    key: self._received(name, found.get(key), one, kind.dtype)
                    if isinstance(kind, torch.Tensor) and not kind.numel()
                    else kind
                    for key, kind in kinds.items()
                }
                if made:
                    state[count] = made
                count += 1
            groups.append({**group, "params": list(range(first, count))})
        self.optimizer.load_state_dict({"state": state, "param_groups": groups})

    def _described(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is not in tensors of the parameters' shapes; those are empty."""
        missing, shapes = self._missing(state), self._shapes()
        if missing or "optimizer" not in state:
            return {"missing": missing, "groups": None}
        learnt = {
            name: {
                key: value.new_empty(0)
                if isinstance(value, torch.Tensor) and tuple(value.shape) == shapes.get(name)
                else value
                for key, value in found.items()
            }
            for name, found in state["optimizer"].get("state", {}).items()
        }
        groups = state["optimizer"].get("param_groups", [])
        return {"missing": "", "groups": groups, "learnt": learnt}

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {
            name: self._parts.whole_shape(name, value.shape)
            for name, value in self._inner.state_dict(keep_vars=True).items()
            if isinstance(value, torch.Tensor)
        }

    def _missing(self, state: Mapping[str, Any]) -> str:
        if "model" not in state:
            return (
                f"The state has {', '.join(sorted(state)) or 'nothing'}, but no model. Load "
                "what session.save_checkpoint() wrote."
            )
        for name, shape in self._shapes().items():
            found = state["model"].get(name)
            if found is None:
                return f"The state has no {name}. Load what was saved of this model."
            if tuple(found.shape) != shape:
                return (
                    f"{name} is of shape {tuple(found.shape)} in the state, but of {shape} in "
                    "the model. Load what was saved of this model."
                )
        return ""

    def _whole(self, name: str, value: Any, like: torch.Tensor) -> Any:  # noqa: ANN401  any part of a state
        """Return what one process has of a value; only rank 0 keeps it."""
        if not isinstance(value, torch.Tensor):
            return value
        if value.shape == like.shape:
            local: Any = value.detach()
            if is_sharded(local):
                local = local.full_tensor()
            value = self._parts.whole(name, local)
        elif name in self._parts.splits and value.numel() > 1:
            raise EntryPointError(
                f"{type(self.optimizer).__name__} keeps a tensor of shape "
                f"{tuple(value.shape)} for {name}, of which each trainer has a part. Take an "
                "optimizer that keeps tensors of the parameters' shapes, such as AdamW."
            )
        return None if dist.get_rank() else value.detach().to("cpu", copy=True)

    def _received(
        self,
        name: str,
        whole: torch.Tensor | None,
        like: torch.Tensor,
        dtype: torch.dtype,
    ) -> torch.Tensor:
        """Return this rank's part of what rank 0 has, sharded as a parameter is."""
        shape = self._parts.whole_shape(name, like.shape)
        if whole is None:
            whole = torch.empty(shape, dtype=dtype)
        sent = on_the_wire(whole.to(dtype)).contiguous()
        dist.broadcast(sent, 0)
        part = self._parts.part(name, sent).to(like.device)
        return sharded_like(part.clone(), like)
