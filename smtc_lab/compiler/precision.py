"""Precision of the matrix products of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from smtc_lab.compiler.module_call import eager_call, replace_call, replaced_call
from smtc_lab.compiler.torch_names import needed

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.spec.compiler import Precision

_PROBE_SIZE = 512


def set_matmul_precision(precision: Precision) -> None:
    """Set how float32 matrix products are computed in this process; bf16 leaves them whole."""
    torch.set_float32_matmul_precision("highest" if precision == "bf16" else precision)


def matmul_error(device: torch.device) -> float:
    """Return the relative error of a float32 matrix product under the present setting.

    Frobenius norm of the difference to the product in float64, over the norm of the latter.
    About 3e-7: full float32. About 3e-4: TF32 or three bfloat16 products. About 3e-3:
    bfloat16. What ``high`` and ``medium`` mean depends on the processor, so it is measured.
    """
    generator = torch.Generator().manual_seed(0)
    left, right = (
        torch.randn(_PROBE_SIZE, _PROBE_SIZE, generator=generator).to(device) for _ in range(2)
    )
    exact = left.double() @ right.double()
    return float(torch.linalg.norm((left @ right).double() - exact) / torch.linalg.norm(exact))


class Bfloat16Call:
    """A call of a model under automatic mixed precision.

    Its outputs come back as float32, as Accelerate returns them, so that a loss outside of the
    model is computed in float32.
    """

    def __init__(self, call: Callable[..., Any], device_type: str) -> None:
        self._call = call
        self._device_type = device_type
        self._map = needed("torch.utils._pytree:tree_map")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  whatever the model takes
        """Call the model."""
        with torch.autocast(self._device_type, torch.bfloat16):
            output = self._call(*args, **kwargs)
        return self._map(_to_float32, output)


def use_bfloat16(model: torch.nn.Module) -> Callable[[], None]:
    """Run calls of a model under automatic mixed precision; return what undoes it.

    Wraps the compiled call where the model has one.

    Raises:
        CompilerError: This torch has no place for it.
    """
    call = replaced_call(model) or eager_call(model)
    return replace_call(model, Bfloat16Call(call, device_of(model).type))


def device_of(model: torch.nn.Module) -> torch.device:
    """Return where a model computes: the device of its first parameter, or the CPU."""
    parameter = next(model.parameters(), None)
    return torch.device("cpu") if parameter is None else parameter.device


def _to_float32(value: Any) -> Any:  # noqa: ANN401  leaf of a model's output
    is_half = isinstance(value, torch.Tensor) and value.dtype is torch.bfloat16
    return value.float() if is_half else value
