"""Layers whose activations wait in host memory for their backward pass."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Self
from weakref import WeakValueDictionary

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from smtc_lab.parallel.units import shard_units

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

IS_OFFLOADED = "_smtc_lab_is_offloaded"
"""Attribute of a module whose activations wait in host memory."""

_LEAST_BYTES = 1024
"""Less than that is not worth a copy of its own."""

_WHOLE_FROM = 0.25
"""Views of at least this share of their storage are moved with all of it, once."""

_CASTS = ("TBackward0", "ToCopyBackward0", "TransposeBackward0", "ViewBackward0")
"""What a weight goes through before a layer saves it, under autocast too."""

_ONLY: ContextVar[tuple[Moving | None] | None] = ContextVar("only", default=None)


@contextmanager
def moved_only_by(moving: Moving | None) -> Iterator[None]:
    """Let saved tensors come to the hooks around a model, but those that one moves.

    Args:
        moving: What moves them; None: none is moved.
    """
    before = _ONLY.set((moving,))
    try:
        yield
    finally:
        _ONLY.reset(before)


def offload(model: torch.nn.Module) -> int:
    """Let what the layers of a model keep wait in host memory; return how many do.

    The same layers as for ``recompute``, which has to come before, where both are wanted. What
    is on no GPU stays where it is, and so do parameters and buffers.

    Args:
        model: Any model, before it is wrapped.
    """
    units = shard_units(model)
    moving = Moving()
    for module in units:
        setattr(module, IS_OFFLOADED, True)
        moving.follow(module)
    return len(units)


class Moving:
    """Moves saved tensors of a model into host memory and back."""

    of_type: type[torch.Tensor] = torch.Tensor
    """Type of what is moved."""

    def __init__(self) -> None:
        # by storage, version and range: what several operations save is moved once
        self._copies: WeakValueDictionary[tuple[Any, ...], _Copy] = WeakValueDictionary()

    def __reduce__(self) -> tuple[type[Self], tuple[()]]:
        return type(self), ()  # a copy of the model moves tensors of its own

    def follow(self, module: torch.nn.Module) -> None:
        """Move what a module saves, from now on."""
        module.__dict__["forward"] = partial(_moved, module, self, module.forward)

    @contextmanager
    def following(self, modules: Iterable[torch.nn.Module]) -> Iterator[None]:
        """Move what some modules save, and nothing else, meanwhile."""
        before = [(one, one.__dict__.get("forward")) for one in modules]
        for module, _ in before:
            self.follow(module)
        try:
            with moved_only_by(self):
                yield
        finally:
            for module, forward in before:
                del module.__dict__["forward"]
                if forward is not None:
                    module.__dict__["forward"] = forward

    def is_moved(self, value: torch.Tensor) -> bool:
        """Whether a tensor lies where it can be moved from."""
        return value.is_cuda

    def to_host(self, values: torch.Tensor) -> Any:  # noqa: ANN401  what ``to_device`` takes
        """Return a copy of a flat tensor in pinned host memory.

        The device's own stream orders it before whatever reuses the tensor's memory.
        """
        host = torch.empty(values.shape, dtype=values.dtype, pin_memory=values.is_cuda)
        return host.copy_(values, non_blocking=True)

    def to_device(self, host: Any, device: torch.device) -> torch.Tensor:  # noqa: ANN401  as above
        """Return a copy of what ``to_host`` returned."""
        back: torch.Tensor = host.to(device, non_blocking=True, copy=True)
        return back

    def pack(self, stays: set[int], value: torch.Tensor) -> Any:  # noqa: ANN401  as torch takes it
        """Return what autograd keeps in the place of a tensor.

        Args:
            stays: Addresses of storages that are not moved.
            value: What an operation saves.
        """
        storage = value.untyped_storage()
        if (
            address(value) in stays
            or value.layout is not torch.strided
            or type(value) is not self.of_type  # a parameter, or what holds others
            or value.is_conj()
            or value.is_neg()
            or storage.nbytes() < _LEAST_BYTES
            or not self.is_moved(value)
            or _is_weight(value)
        ):
            return value
        first, end = _range(value)
        # while it lives no other storage has this address
        known = StorageWeakRef(storage)  # type: ignore[no-untyped-call]
        key = (known.cdata, value._version, value.dtype, first, end)  # noqa: SLF001  writes are counted there
        copy = self._copies.get(key)
        if copy is None:
            flat = value.detach().as_strided((end - first,), (1,), first)
            copy = self._copies[key] = _Copy(self, known, flat)
        copy.views += 1
        return _Packed(copy, value.shape, value.stride(), int(value.storage_offset()) - first)

    def unpack(self, packed: Any) -> torch.Tensor:  # noqa: ANN401  as above
        """Return the tensor for which autograd kept something."""
        if not isinstance(packed, _Packed):
            kept: torch.Tensor = packed
            return kept
        with torch.no_grad():
            return packed.copy.back().as_strided(packed.shape, packed.stride, packed.offset)


class _Copy:
    """A copy in host memory of what some saved tensors lie in."""

    def __init__(self, moving: Moving, known: StorageWeakRef, flat: torch.Tensor) -> None:
        self._moving, self._known, self._device = moving, known, flat.device
        with torch.no_grad():
            self._host = moving.to_host(flat)
        self._back: torch.Tensor | None = None
        self._asked = 0
        self.views = 0
        """Saved tensors that lie in it."""

    def back(self) -> torch.Tensor:
        """Return it on its device, where it stays until all of its tensors were asked for."""
        back = self._back
        if back is None:
            back = self._back = self._moving.to_device(self._host, self._device)
        self._asked += 1
        if self._asked >= self.views:
            self._back, self._asked = None, 0
        return back


@dataclass(frozen=True, slots=True)
class _Packed:
    """A saved tensor, as a view of a copy."""

    copy: _Copy
    shape: torch.Size
    stride: tuple[int, ...]
    offset: int


def address(value: torch.Tensor) -> int:
    """Return the address of what a tensor lies in."""
    return int(value.untyped_storage()._cdata)  # noqa: SLF001  it has no other name


def _moved(
    module: torch.nn.Module,
    moving: Moving,
    own: Callable[..., Any],
    *args: Any,  # noqa: ANN401  any module's
    **kwargs: Any,  # noqa: ANN401  as above
) -> Any:  # noqa: ANN401  as above
    if not torch.is_grad_enabled() or _ONLY.get() not in {None, (moving,)}:
        return own(*args, **kwargs)
    # FSDP2 has gathered them by now, so they are others than the module has between steps
    stays = {address(one) for one in (*module.parameters(), *module.buffers())}
    pack = partial(moving.pack, stays)
    with torch.autograd.graph.saved_tensors_hooks(pack, moving.unpack):
        return own(*args, **kwargs)


def _range(value: torch.Tensor) -> tuple[int, int]:
    """Return from which element of its storage to before which one a tensor is moved."""
    steps = zip(value.shape, value.stride(), strict=True)
    first = int(value.storage_offset())
    end = first + sum(int((size - 1) * stride) for size, stride in steps) + 1
    whole = value.untyped_storage().nbytes() // value.element_size()
    return (0, whole) if end - first >= _WHOLE_FROM * whole else (first, end)


def _is_weight(value: torch.Tensor) -> bool:
    """Whether a tensor is a parameter in another shape or type, as far as autograd knows."""
    node = value.grad_fn
    while node is not None and node.name() in _CASTS:
        ((node, _),) = node.next_functions
    return isinstance(getattr(node, "variable", None), torch.nn.Parameter)
