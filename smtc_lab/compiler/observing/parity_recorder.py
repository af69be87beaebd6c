"""Records what a parity launch learns: each loss, each parameter's norm, the last weights."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.nn.parallel import DistributedDataParallel

from smtc_lab.compiler.torch_names import home_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

_DROPOUTS = (
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "alpha_dropout",
    "feature_alpha_dropout",
)
_DROPOUT_POSITION = 4  # query, key, value, attn_mask, dropout_p


def make_comparable(*, backend: str) -> None:
    """Take out of this process what makes two backends differ by chance: dropout, first of all.

    To be called right after ``import torch``, before a script takes functions out of it.

    Args:
        backend: The backend that runs; ``inductor`` then draws the random numbers of eager.

    Raises:
        CompilerError: It cannot, with this torch.
    """
    functional: Any = torch.nn.functional
    for name in _DROPOUTS:
        setattr(functional, name, _without_dropout(getattr(functional, name)))
    torch.dropout = _never_training(torch.dropout)
    functional.scaled_dot_product_attention = _attention_without_dropout(
        functional.scaled_dot_product_attention
    )
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
    if backend in {"inductor", "auto"}:
        home_of("torch._inductor.config:fallback_random").fallback_random = True


class ParityRecorder:
    """Follows one model for a few steps, and writes ``parity-rank<r>.npz``.

    The file holds ``losses`` float64 (K,), ``names`` str (P,), ``norms`` float64 (K, P): the
    L2 norm of each parameter after each step, and, of rank 0, ``weight:<name>``: the
    parameters after the last step as float32, on the host. The loss of a step is the sum of
    the tensors on which ``backward`` was called in it; NaN where there was none. Parameters
    have the names that the script's own model gives them, whatever wraps it; those that
    trainers shard are gathered. Where each trainer has other layers, or parts of them, rank 0
    has all parameters and the others have none.
    """

    def __init__(self, *, folder: Path, rank: int, num_steps: int) -> None:
        """Follow every ``backward`` of this process from now on.

        Args:
            folder: Where the file goes; it is made if it is not there.
            rank: Rank of this trainer.
            num_steps: Steps to record, at least 1.
        """
        self._rank = rank
        self._last: dict[str, NDArray[np.float64]] | None = None
        self._file = folder / f"parity-rank{rank}.npz"
        self._num_steps = num_steps
        self._model: torch.nn.Module | None = None
        self._gather: Callable[[], Mapping[str, Any]] | None = None
        self._pending: list[torch.Tensor] = []
        self._losses: list[float] = []
        self._norms: list[list[float]] = []
        self._plain_backward: Callable[..., None] | None = torch.autograd.backward
        torch.autograd.backward = self._backward

    def watch(
        self,
        model: torch.nn.Module,
        gather: Callable[[], Mapping[str, Any]] | None = None,
    ) -> None:
        """Follow the parameters of a model; only the first one that is given.

        Recurrent layers drop out inside one operator, so they are told here not to.

        Args:
            model: The model.
            gather: Returns, to rank 0, the model's state as of one process; all trainers call
                it. None: each has the parameters itself, or shards of them.
        """
        if self._model is not None:
            return
        model = own_model(model)
        self._model, self._gather = model, gather
        for module in model.modules():
            if isinstance(module, torch.nn.RNNBase):
                module.dropout = 0.0

    def take_loss(self, loss: torch.Tensor) -> None:
        """Take this as the loss of the step: a schedule goes backward from other tensors."""
        self._pending = [loss.detach()]

    def step_ended(self) -> bool:
        """Record the step that has just ended.

        Returns:
            Whether all steps are recorded and written: the launch may end.
        """
        if self._plain_backward is None:
            return True
        losses = [float(loss) for loss in self._pending]
        self._losses.append(sum(losses) if losses else float("nan"))
        self._pending.clear()
        self._last = self._weights()
        self._norms.append([float(np.linalg.norm(one)) for one in self._last.values()])
        if len(self._losses) == self._num_steps:
            self.close()
            return True
        return False

    def close(self) -> None:
        """Write what was recorded, if it was not yet, and follow no longer."""
        if self._plain_backward is None:
            return
        torch.autograd.backward = self._plain_backward
        self._plain_backward = None
        # Not gathered again: the other trainers may have ended.
        weights = self._weights() if self._last is None else self._last
        arrays: dict[str, Any] = {
            "losses": np.array(self._losses, np.float64),
            "names": np.array(list(weights), np.str_),
            "norms": np.array(self._norms, np.float64).reshape(len(self._norms), len(weights)),
        }
        for name, weight in weights.items() if self._rank == 0 else ():
            arrays[f"weight:{name}"] = weight.astype(np.float32)
        self._file.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self._file.with_suffix(".unfinished")
        with unfinished.open("wb") as file:
            np.savez(file, **arrays)
        os.replace(unfinished, self._file)  # noqa: PTH105  a reader sees all of it, or nothing

    def _weights(self) -> dict[str, NDArray[np.float64]]:
        if self._model is None:
            return {}
        found = dict(self._model.named_parameters())
        if self._gather is not None:
            state = self._gather()
            found = {name: state[name] for name in found if name in state}
        return {
            name: _whole(parameter).cpu().double().numpy(force=True).copy()
            for name, parameter in found.items()
        }

    def _backward(self, tensors: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401  stands in for torch's own
        given = [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)
        # others are edges of the graph, from which schedules go backward
        losses = [one for one in given if isinstance(one, torch.Tensor)]
        self._pending.extend(loss.detach().sum() for loss in losses)
        if self._plain_backward is not None:
            self._plain_backward(tensors, *args, **kwargs)


def own_model(model: torch.nn.Module) -> torch.nn.Module:
    """Return the script's own model out of what wraps it."""
    while True:
        if isinstance(model, DistributedDataParallel):
            model = model.module
        elif isinstance(inner := model._modules.get("_orig_mod"), torch.nn.Module):  # noqa: SLF001  what torch.compile returns
            model = inner
        else:
            return model


def _whole(parameter: torch.Tensor) -> torch.Tensor:
    """Return a parameter with the shards of all trainers, who all ask for it."""
    values: Any = parameter.detach()
    # Not by its class: importing that takes others, who shard nothing, half a second.
    whole: torch.Tensor = values.full_tensor() if hasattr(values, "full_tensor") else values
    return whole


def _without_dropout(plain: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of ``torch.nn.functional`` that drops nothing."""

    def dropout(
        input: torch.Tensor,  # noqa: A002  torch's own name
        p: float = 0.5,
        training: bool = True,  # noqa: ARG001, FBT001, FBT002  torch's own signature
        inplace: bool = False,  # noqa: FBT001, FBT002  torch's own signature
    ) -> Any:  # noqa: ANN401  torch's own
        return plain(input, p=p, training=False, inplace=inplace)

    return dropout


def _never_training(plain: Callable[..., Any]) -> Callable[..., Any]:
    def dropout(input: torch.Tensor, p: float, train: bool) -> Any:  # noqa: A002, ANN401, ARG001, FBT001  torch's own
        return plain(input, p, False)

    return dropout


def _attention_without_dropout(plain: Callable[..., Any]) -> Callable[..., Any]:
    def scaled_dot_product_attention(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  torch's own
        kwargs["dropout_p"] = 0.0
        if len(args) > _DROPOUT_POSITION:
            del kwargs["dropout_p"]
            args = (*args[:_DROPOUT_POSITION], 0.0, *args[_DROPOUT_POSITION + 1 :])
        return plain(*args, **kwargs)

    return scaled_dot_product_attention
