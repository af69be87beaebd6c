"""The model's forward on XLA: batches of the host, Hugging Face's masks, mixed precision."""

from __future__ import annotations

import sys
from contextlib import ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import torch
from torch.amp.autocast_mode import autocast

from smtc_lab.compiler.fast_functions import FASTER_COMPILED, replaced
from smtc_lab.compiler.module_call import OwnHook
from smtc_lab.compiler.xla.linear import linear
from smtc_lab.compiler.xla.move import map_tensors
from smtc_lab.compiler.xla.setup import device_kind

if TYPE_CHECKING:
    from collections.abc import Iterator

_FASTER_ON_CPU: dict[str, Any] = {**FASTER_COMPILED, "linear": linear}
"""Functions of ``torch.nn.functional`` by name, with what does the same faster."""


class XlaForward:
    """What surrounds each forward of a model that lies on an XLA device.

    A model that is called with tensors of the host gets them on the device. Called outside the
    training step, as to evaluate, it hands its output to the host, where the script expects it.
    """

    def __init__(self, model: torch.nn.Module, *, device: torch.device, bf16: bool) -> None:
        """Put the hooks on the model.

        Args:
            model: The outermost module.
            device: The XLA device.
            bf16: Whether its forward runs under automatic mixed precision with bfloat16.
        """
        self.in_step = False
        self.is_hugging_face = any(
            type(module).__module__.startswith("transformers.") for module in model.modules()
        )
        self._device = device
        self._bf16 = bf16
        self._is_cpu = device_kind() == "xla:CPU"
        self._running: list[tuple[ExitStack, bool]] = []
        self._handles = [
            model.register_forward_pre_hook(OwnHook(self._before), with_kwargs=True),
            model.register_forward_hook(OwnHook(self._after), always_call=True),
        ]

    def remove(self) -> None:
        """Take the hooks away."""
        for handle in self._handles:
            handle.remove()

    @contextmanager
    def step(self) -> Iterator[None]:
        """Surround a training step: automatic mixed precision of the script acts on XLA.

        On CPU some functions are replaced by faster ones, in the backward too, which computes
        checkpointed layers again.
        """
        self.in_step = True
        faster = replaced(_FASTER_ON_CPU) if self._is_cpu else nullcontext()
        try:
            with (
                patch.object(autocast, "__init__", _autocast_on_xla),
                faster,
            ):
                yield
        finally:
            self.in_step = False

    def _before(
        self,
        module: torch.nn.Module,  # noqa: ARG002  torch's signature
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> tuple[Any, Any]:
        came_from_host = False

        def move(tensor: torch.Tensor) -> torch.Tensor:
            nonlocal came_from_host
            came_from_host |= tensor.device.type == "cpu"
            return tensor.to(self._device)

        moved = map_tensors(move, args), map_tensors(move, kwargs)
        around = ExitStack()
        self._running.append((around, came_from_host and not self.in_step))
        if self.is_hugging_face:
            # Its mask checks read values on the host unless a compiler traces them.
            around.enter_context(patch.object(torch.compiler, "is_compiling", lambda: True))
        if self._bf16:
            around.enter_context(torch.autocast("xla", dtype=torch.bfloat16))
        return moved

    def _after(
        self,
        module: torch.nn.Module,  # noqa: ARG002  torch's signature
        args: tuple[Any, ...],  # noqa: ARG002  as above
        output: Any,  # noqa: ANN401  whatever the model returns
    ) -> Any:  # noqa: ANN401  as above
        around, to_host = self._running.pop()
        around.close()
        if self._bf16:
            output = map_tensors(_widen, output)
        if to_host:
            output = map_tensors(torch.Tensor.cpu, output)
        return output


def _widen(tensor: torch.Tensor) -> torch.Tensor:
    """Return a bfloat16 tensor as float32, so that the loss is computed in it."""
    return tensor.float() if tensor.dtype == torch.bfloat16 else tensor


_torch_init = autocast.__init__


def _autocast_on_xla(self: autocast, device_type: str, *args: Any, **options: Any) -> None:  # noqa: ANN401  torch's signature
    """Make an autocast that the script means for its device act on XLA.

    Torch's own checkpointing restores the one of XLA and that of the CPU, and means both.
    """
    asks = sys._getframe(1).f_globals.get("__name__")  # noqa: SLF001  the documented way to the caller
    if device_type in {"cpu", "cuda"} and asks != "torch.utils.checkpoint":
        device_type = "xla"
    _torch_init(self, device_type, *args, **options)
