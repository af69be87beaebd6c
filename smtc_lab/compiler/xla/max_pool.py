"""Max pooling of windows that do not overlap, in operators that XLA on CPU runs fast."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

_OPTIONS = ("stride", "padding", "dilation", "ceil_mode", "return_indices")

_torch_max_pool2d = functional.max_pool2d


def max_pool2d(input: torch.Tensor, kernel_size: Any, *args: Any, **options: Any) -> Any:  # noqa: A002, ANN401  torch's signature
    """Pool as ``torch.nn.functional.max_pool2d``: same values, same gradients, ties included.

    XLA's own backward, select-and-scatter, took 6 times as long on CPU for windows of 2 by 2.
    """
    if input.device.type != "xla" or input.dim() != 4:
        return _torch_max_pool2d(input, kernel_size, *args, **options)
    given = dict(zip(_OPTIONS, args, strict=False)) | options
    window = _pair(kernel_size)
    stride = given.pop("stride", None) or kernel_size
    is_plain = _pair(given.pop("dilation", 1)) == (1, 1) and all(
        _pair(value) == (0, 0) for value in given.values()
    )
    if _pair(stride) == window and is_plain:
        apply: Any = _TiledMaxPool.apply  # typed in some releases of torch only
        tiled: torch.Tensor = apply(input, window)
        return tiled
    return _torch_max_pool2d(input, kernel_size, *args, **options)


class _TiledMaxPool(torch.autograd.Function):
    """The greatest of each window; its gradient goes to the first place that holds it.

    Channels last, as XLA's convolutions on CPU are: otherwise it transposes before and after.
    """

    @staticmethod
    def forward(ctx: Any, images: torch.Tensor, window: tuple[int, int]) -> torch.Tensor:  # noqa: ANN401  torch's signature
        n, channels, height, width = images.shape
        rows, columns = height // window[0], width // window[1]
        used = images[:, :, : rows * window[0], : columns * window[1]].permute(0, 2, 3, 1)
        windows = used.reshape(n, rows, window[0], columns, window[1], channels)
        greatest = windows.amax((2, 4), keepdim=True)
        ctx.save_for_backward(windows, greatest)
        ctx.margin = (0, 0, 0, width - columns * window[1], 0, height - rows * window[0])
        return greatest.reshape(n, rows, columns, channels).permute(0, 3, 1, 2)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:  # noqa: ANN401  as above
        windows, greatest = ctx.saved_tensors
        n, rows, kernel_rows, columns, kernel_columns, channels = windows.shape
        places = kernel_rows * kernel_columns
        order = torch.arange(places, dtype=torch.int32, device=windows.device)
        order = order.view(1, 1, kernel_rows, 1, kernel_columns, 1)
        first = torch.where(windows == greatest, order, places).amin((2, 4), keepdim=True)
        spread = gradients[0].permute(0, 2, 3, 1).reshape(n, rows, 1, columns, 1, channels)
        routed = torch.where(order == first, spread, 0.0).to(spread.dtype)
        tiles = routed.reshape(n, rows * kernel_rows, columns * kernel_columns, channels)
        return functional.pad(tiles, ctx.margin).permute(0, 3, 1, 2), None


def _pair(size: int | tuple[int, ...]) -> tuple[int, int]:
    return (size, size) if isinstance(size, int) else (size[0], size[-1])
