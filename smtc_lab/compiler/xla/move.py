"""Model and optimizer, moved to XLA and back without anybody holding another object."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

import torch

from smtc_lab.compiler.torch_names import needed

_HOST_STATE = frozenset({"step", "mu_product", "eta", "mu"})
"""Numbers of torch's optimizers that Python reads in each step: they stay on the host."""


def map_tensors(change: Callable[[torch.Tensor], torch.Tensor], tree: Any) -> Any:  # noqa: ANN401  whatever the dataset collates to
    """Return a tree of the same containers, with each of its tensors changed.

    Args:
        change: Called with each tensor.
        tree: Tensors in mappings, lists and (named) tuples of any depth; anything else in it
            is kept as it is.
    """
    if isinstance(tree, torch.Tensor):
        return change(tree)
    if isinstance(tree, Mapping):
        values = {key: map_tensors(change, value) for key, value in tree.items()}
        if type(tree) is dict:
            return values
        # A copy keeps what a subclass holds beside its items: a Hugging Face batch, output.
        changed: Any = copy.copy(tree)
        for key, value in values.items():
            changed[key] = value
        return changed
    if isinstance(tree, list | tuple):
        items = [map_tensors(change, item) for item in tree]
        if hasattr(type(tree), "_fields"):
            return type(tree)(*items)
        return type(tree)(items)
    return tree


def host_copy(tree: Any) -> Any:  # noqa: ANN401  a state dict, or a tree of them
    """Return a tree with its XLA tensors brought to the host; one tensor stays one tensor.

    For checkpoints: what it returns loads without torch_xla, and tied weights are stored once,
    also where the tree holds each by a tensor of its own, as a ``state_dict()`` does.

    Args:
        tree: Mappings, lists and tuples with tensors. Tensors of the host are kept.
    """
    done: dict[int, torch.Tensor] = {}

    def to_host(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.device.type != "xla":
            return tensor
        number: int = needed("torch_xla:_XLAC._xla_get_tensor_id")(tensor)
        if number not in done:
            done[number] = tensor.detach().cpu()
        return done[number]

    return map_tensors(to_host, tree)


class Moved:
    """Parameters, buffers, gradients and optimizer state that lie on an XLA device.

    Every tensor stays the Python object that it was and gets another content, so tied weights,
    parameter groups, optimizer state, hooks and what the script itself holds need no care.
    """

    def __init__(
        self, model: torch.nn.Module, optimizer: torch.optim.Optimizer, *, device: torch.device
    ) -> None:
        """Move them there.

        Args:
            model: Its parameters and buffers.
            optimizer: Its parameters and state.
            device: The XLA device.

        Raises:
            CompilerError: This torch lets no tensor move in place.
        """
        for hooks in ("_backward_hooks", "_post_accumulate_grad_hooks"):
            needed(f"torch:Tensor.{hooks}")
        self._optimizer = optimizer
        self._tensors = list(_distinct(model, optimizer))
        contents = [_at(tensor, device) for tensor in self._tensors]
        # What the tensors held until now: kept, so that a first step that fails harms nothing.
        self._originals = [
            _place(tensor, content)
            for tensor, content in zip(self._tensors, contents, strict=True)
        ]
        self._original_state = {
            parameter: {
                name: value.clone() if _stays(name, value) else value
                for name, value in state.items()
            }
            for parameter, state in optimizer.state.items()
        }
        self._move_state(device)

    def keep(self) -> None:
        """Forget what was before: a step succeeded on the device."""
        self._originals = []
        self._original_state = {}

    def leave(self) -> None:
        """Bring all back to the host; before ``keep``, exactly as it was before."""
        if self._originals:
            for tensor, original in zip(self._tensors, self._originals, strict=True):
                _place(tensor, original)
            self._optimizer.state.update(self._original_state)
            return
        host = torch.device("cpu")
        for tensor in self._tensors:
            _place(tensor, _at(tensor, host))
        self._move_state(host)

    def _move_state(self, device: torch.device) -> None:
        capturable = {
            parameter
            for group in self._optimizer.param_groups
            for parameter in group["params"]
            if group.get("capturable")
        }
        for parameter, state in self._optimizer.state.items():
            for name, value in state.items():
                if parameter in capturable or not _stays(name, value):
                    state[name] = map_tensors(lambda tensor: tensor.to(device), value)


def _distinct(
    model: torch.nn.Module, optimizer: torch.optim.Optimizer
) -> Iterator[torch.Tensor]:
    """Yield each parameter and buffer once, however many names it has."""
    seen: set[int] = set()
    trained = (tensor for group in optimizer.param_groups for tensor in group["params"])
    for tensor in chain(model.parameters(), model.buffers(), trained):
        if id(tensor) not in seen:
            seen.add(id(tensor))
            yield tensor


def _at(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Return a leaf on a device with a tensor's values, gradient."""
    content = _moved(tensor.detach(), device).requires_grad_(tensor.requires_grad)
    if tensor.grad is not None:
        content.grad = tensor.grad.detach().to(device)
    return content


def _moved(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Return a tensor on a device.

    torch_xla keeps single numbers that are equal, such as the counters of batch norms, as one,
    which the first step makes many: the second step would be another graph.
    """
    if tensor.dim() > 0:
        return tensor.to(device)
    return tensor.reshape(1).to(device).reshape(())


def _place(tensor: torch.Tensor, content: torch.Tensor) -> torch.Tensor:
    """Give a tensor another content; returns a tensor that holds its own.

    As ``torch.utils.swap_tensors``, which refuses objects that somebody holds weakly, as
    dynamo does after a model was compiled: here the object is meant to stay.
    """
    # Hooks belong to the object: handles that remove them go on working.
    content._backward_hooks = tensor._backward_hooks  # noqa: SLF001  torch has no public name
    content._post_accumulate_grad_hooks = tensor._post_accumulate_grad_hooks  # noqa: SLF001  as above
    needed("torch._C:_swap_tensor_impl")(tensor, content)
    return content


def _stays(name: str, value: Any) -> bool:  # noqa: ANN401  whatever an optimizer keeps
    """Return whether a value of an optimizer's state is a number that Python reads."""
    return name in _HOST_STATE and isinstance(value, torch.Tensor)
