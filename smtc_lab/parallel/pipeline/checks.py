"""What a pipeline refuses before any rank waits for another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from smtc_lab.errors import EntryPointError
from smtc_lab.parallel.arguments import arguments_of
from smtc_lab.parallel.gradients import microbatches
from smtc_lab.parallel.optimizer import check_parameters
from smtc_lab.parallel.torch_names import needed

if TYPE_CHECKING:
    from collections.abc import Callable

_ALIKE = 1e-3
"""Sums of floating-point numbers differ by less; a mean differs by its half."""

_BatchNorm: Any = needed("torch.nn.modules.batchnorm:_BatchNorm")
tree_flatten = needed("torch.utils._pytree:tree_flatten")


def check_model(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Refuse what would train another model than one process does, or none at all.

    Raises:
        EntryPointError: Batch normalization takes statistics, the model was compiled, or the
            optimizer needs all parameters at once or has foreign ones.
    """
    check_parameters(model, optimizer)
    if isinstance(optimizer, torch.optim.LBFGS):
        raise EntryPointError(
            "LBFGS searches along all parameters at once, but each stage of a pipeline has its "
            "own. Take an optimizer that steps each parameter by itself, such as AdamW."
        )
    check_modules(model)


def check_modules(model: torch.nn.Module) -> None:
    """Refuse a model whose stages would train another one, or cannot be told apart.

    Raises:
        EntryPointError: Batch normalization takes statistics, or the model was compiled.
    """
    for name, module in model.named_modules():
        what = f"{name or 'The model'} ({type(module).__name__})"
        if isinstance(module, _BatchNorm) and (
            module.training or not module.track_running_stats
        ):
            raise EntryPointError(
                f"{what} would take its statistics of each microbatch instead of the batch, "
                "and so train another model. Take GroupNorm or LayerNorm, or freeze it "
                "by train(False)."
            )
        if hasattr(module, "_orig_mod") or getattr(module, "_compiled_call_impl", None):
            raise EntryPointError(
                f"{what} was compiled, so its stages could not be told apart. Give the "
                "pipeline the model as it was before."
            )


def split_batch(inputs: Any, targets: Any, count: int) -> list[dict[str, Any]]:  # noqa: ANN401  any batch
    """Return a batch as equal microbatches: ``args``, ``kwargs`` and ``targets`` of each.

    Raises:
        EntryPointError: It does not divide.
    """
    args, kwargs = arguments_of(inputs)
    batch = {"args": args, "kwargs": kwargs, "targets": targets}
    return list(microbatches(None, batch, count))


def check_mean(
    loss_of: Callable[[Any, Any], torch.Tensor],
    output: Any,  # noqa: ANN401  any output
    targets: Any,  # noqa: ANN401  any batch
    loss: torch.Tensor,
) -> None:
    """Refuse a loss that adds samples up, where output and targets can be halved.

    Losses of microbatches are averaged, so it would be less than that of the batch.

    Raises:
        EntryPointError: The losses of both halves of a microbatch add up to its own.
    """
    if any(
        not isinstance(one, torch.Tensor) or not one.dim() or len(one) % 2
        for one in (output, targets)
    ):
        return
    halves = zip(output.detach().chunk(2), targets.chunk(2), strict=True)
    try:
        with torch.no_grad(), torch.random.fork_rng():
            both = sum(float(loss_of(*half)) for half in halves)
    except Exception:  # noqa: BLE001  the script's function takes no halves, and may say so anyhow
        return
    whole = float(loss.detach())
    if whole and abs(whole - both) < _ALIKE * abs(whole):
        raise EntryPointError(
            "The losses of both halves of a microbatch add up to that of the whole, "
            f"{whole:.6g}, so the loss function sums over samples. A pipeline averages over "
            "microbatches and would train with less. Return a mean: reduction='mean', or the "
            "sum over the number of samples."
        )


class BatchShapes:
    """The shapes of the first batch, which the stages have buffers for."""

    def __init__(self) -> None:
        self._first: list[object] | None = None

    def check(self, part: dict[str, Any]) -> None:
        """Refuse a microbatch of other shapes.

        Raises:
            EntryPointError: It has others than the first one.
        """
        shapes = _shapes(part)
        if self._first is None:
            self._first = shapes
        if shapes == self._first:
            return
        differing = next(
            (
                (now, first)
                for now, first in zip(shapes, self._first, strict=False)
                if now != first
            ),
            (f"{len(shapes)} values", f"{len(self._first)} values"),
        )
        raise EntryPointError(
            f"A microbatch has {differing[0]} where the first one had {differing[1]}, but the "
            "stages of a pipeline send tensors of fixed shapes. Pad each batch to one length, "
            "and drop the last one where it is smaller."
        )


def _shapes(part: dict[str, Any]) -> list[object]:
    leaves, structure = tree_flatten(part)
    told: list[object] = [
        f"shape {tuple(one.shape)} of {str(one.dtype).removeprefix('torch.')}"
        if isinstance(one, torch.Tensor)
        else type(one).__name__
        for one in leaves
    ]
    return [*told, structure]
