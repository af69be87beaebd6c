"""What one step has in memory, from moment to moment, without having it."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from smtc_lab.parallel.activations.offload import Moving
from smtc_lab.parallel.arguments import arguments_of
from smtc_lab.parallel.pipeline.cutting.recording import NOT_IMAGINED, SeenOps, check_loss
from smtc_lab.parallel.pipeline.cutting.stand_ins import stand_ins
from smtc_lab.parallel.torch_names import needed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

FakeTensor: Any = needed("torch._subclasses.fake_tensor:FakeTensor")
FakeTensorMode: Any = needed("torch._subclasses.fake_tensor:FakeTensorMode")
tree_leaves = needed("torch.utils._pytree:tree_leaves")
tree_map_only = needed("torch.utils._pytree:tree_map_only")


@dataclass(frozen=True, kw_only=True)
class StepTrace:
    """One forward and backward of a model, in bytes."""

    parameter_bytes: int
    """All parameters, each once."""

    buffer_bytes: int
    """All buffers."""

    input_bytes: int
    """The batch."""

    gradient_bytes: int
    """All gradients."""

    activation_bytes: int
    """What the forward keeps for the backward, each storage once, no parameters."""

    host_bytes: int
    """What it keeps in host memory beside that."""

    gradients: NDArray[np.float64]
    """Gradients that are there at each moment when something came into memory, shape (N,)."""

    others: NDArray[np.float64]
    """All else but parameters, buffers and batch that is there then, shape (N,)."""

    def peak_bytes(self, gradient_share: float = 1.0) -> float:
        """Return the most of gradients and all else that is there at once.

        Args:
            gradient_share: What a device keeps of each gradient, 0 to 1.
        """
        return float((gradient_share * self.gradients + self.others).max(initial=0.0))


def trace_step(
    model: torch.nn.Module,
    inputs: Any,  # noqa: ANN401  any batch
    targets: Any,  # noqa: ANN401  as above
    loss_of: Callable[[Any, Any], torch.Tensor],
    *,
    offloaded: Sequence[torch.nn.Module] = (),
) -> StepTrace:
    """Return what a step holds. Nothing of the model changes.

    No memory is needed; where the model decides by values, or torch cannot imagine an
    operation, one real step is computed.

    Args:
        model: Any model.
        inputs: Its argument, a tuple of them, or keyword arguments by name.
        targets: What the loss needs beside the output.
        loss_of: Returns the loss of an output and its targets.
        offloaded: Modules that keep what they need for the backward in host memory.

    Raises:
        EntryPointError: The loss is not one number with a gradient.
    """
    batch = inputs, targets
    try:
        with FakeTensorMode(allow_non_fake_inputs=True):
            return _Trace(model, offloaded, is_fake=True).run(batch, loss_of)
    except NOT_IMAGINED:
        with torch.random.fork_rng():
            return _Trace(model, offloaded, is_fake=False).run(batch, loss_of)


class _Trace:
    """One step; storages are followed while it runs."""

    def __init__(
        self, model: torch.nn.Module, offloaded: Sequence[torch.nn.Module], *, is_fake: bool
    ) -> None:
        self._model, self._is_fake = model, is_fake
        self._offloaded = offloaded
        self._parameters = tuple(model.parameters())
        self._known: dict[int, int] = {}  # bytes of the storages that are there
        self._always: set[int] = set()
        self._moving = _Imagined(self._always, is_fake=is_fake)
        self._gradients: dict[int, int] = {}
        self._live = self._of_gradients = 0
        self._moments: list[tuple[int, int]] = []
        self._saved: dict[int, int] = {}

    def run(
        self, batch: tuple[Any, Any], loss_of: Callable[[Any, Any], torch.Tensor]
    ) -> StepTrace:
        parameters, buffers = self._parameters, tuple(self._model.buffers())
        given = tree_map_only(torch.Tensor, self._like, batch)
        self._always |= {_key(one) for one in _tensors(given)}
        with stand_ins(self._model, self._stand_in, parameters), torch.enable_grad():
            self._step(given, loss_of)
        return StepTrace(
            parameter_bytes=sum(map(_bytes, parameters)),
            buffer_bytes=sum(map(_bytes, buffers)),
            input_bytes=sum(map(_bytes, _tensors(batch))),
            gradient_bytes=sum(_bytes(one) for one in parameters if one.requires_grad),
            activation_bytes=sum(self._saved.values()),
            host_bytes=self._moving.host_bytes,
            gradients=np.array([one[0] for one in self._moments], dtype=np.float64),
            others=np.array([one[1] for one in self._moments], dtype=np.float64),
        )

    def _step(
        self, given: tuple[Any, Any], loss_of: Callable[[Any, Any], torch.Tensor]
    ) -> None:
        inputs, targets = given
        args, kwargs = arguments_of(inputs)
        with (
            self._moving.following(self._offloaded),
            SeenOps(self._computed),
            torch.autograd.graph.saved_tensors_hooks(self._save, lambda saved: saved),
        ):
            output = self._model(*args, **kwargs)
            loss = loss_of(output, targets)
            check_loss(loss)
        hooks = [
            one.register_post_accumulate_grad_hook(self._got_gradient)  # type: ignore[no-untyped-call]
            for one in self._model.parameters()
            if one.requires_grad
        ]
        with SeenOps(self._computed):
            loss.backward()  # type: ignore[no-untyped-call]
        for hook in hooks:
            hook.remove()

    def _like(self, value: torch.Tensor) -> torch.Tensor:
        if not self._is_fake:
            return value.detach()
        return torch.empty(value.shape, dtype=value.dtype)

    def _stand_in(self, value: torch.Tensor, number: int | None) -> torch.Tensor:
        if self._is_fake:
            like = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype)
        else:
            like = value.detach() if number is not None else value.detach().clone()
        self._always.add(_key(like))
        if number is None:
            return like
        return torch.nn.Parameter(like, requires_grad=value.requires_grad)

    def _computed(self, _func: Any, _args: Any, _kwargs: Any, out: Any) -> None:  # noqa: ANN401  an operation
        if self._moving.is_copying:
            return
        for value in _tensors(out):
            storage = value.untyped_storage()
            key = storage._cdata  # noqa: SLF001  its address
            if key in self._known or key in self._always:
                continue
            self._known[key] = storage.nbytes()
            self._live += self._known[key]
            weakref.finalize(storage, self._freed, key).atexit = False
            self._moments.append((self._of_gradients, self._live - self._of_gradients))

    def _freed(self, key: int) -> None:
        self._live -= self._known.pop(key)
        self._of_gradients -= self._gradients.pop(key, 0)

    def _got_gradient(self, parameter: torch.Tensor) -> None:
        if parameter.grad is None:
            return
        key = _key(parameter.grad)
        if key in self._known and key not in self._gradients:
            self._gradients[key] = self._known[key]
            self._of_gradients += self._known[key]

    def _save(self, value: torch.Tensor) -> torch.Tensor:
        key = _key(value)
        if key not in self._always:
            self._saved.setdefault(key, value.untyped_storage().nbytes())
        return value


class _Imagined(Moving):
    """Lets saved tensors go as if they were moved; host memory is counted, and not taken."""

    def __init__(self, stays: set[int], *, is_fake: bool) -> None:
        super().__init__()
        self._stays, self._is_fake = stays, is_fake
        self.of_type = FakeTensor if is_fake else torch.Tensor
        self.host_bytes = 0
        self.is_copying = False
        """Whether what is computed now is no part of the step."""

    def is_moved(self, value: torch.Tensor) -> bool:
        return _key(value) not in self._stays

    def to_host(self, values: torch.Tensor) -> Any:  # noqa: ANN401  as there
        self.host_bytes += _bytes(values)
        if self._is_fake:
            return values.shape, values.dtype
        self.is_copying = True
        copy = values.clone()
        self.is_copying = False
        return copy

    def to_device(self, host: Any, device: torch.device) -> torch.Tensor:  # noqa: ANN401  as there
        if self._is_fake:
            shape, dtype = host
            return torch.empty(shape, dtype=dtype, device=device)
        back: torch.Tensor = host.clone()
        return back


def _key(value: torch.Tensor) -> int:
    return int(value.untyped_storage()._cdata)  # noqa: SLF001  its address


def _bytes(value: torch.Tensor) -> int:
    return value.numel() * value.element_size()


def _tensors(values: Any) -> Iterator[torch.Tensor]:  # noqa: ANN401  any tree
    for value in tree_leaves(values):
        if isinstance(value, torch.Tensor):
            yield value
