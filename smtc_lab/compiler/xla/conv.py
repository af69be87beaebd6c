"""Convolutions in operators that XLA on CPU runs fast."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

from smtc_lab.compiler.xla.linear import linear

_OPTIONS = ("stride", "padding", "dilation", "groups")

_torch_conv2d = functional.conv2d


def conv2d(
    input: torch.Tensor,  # noqa: A002  torch's name
    weight: torch.Tensor,
    bias: torch.Tensor | None = None,
    *args: Any,  # noqa: ANN401  torch's signature
    **options: Any,  # noqa: ANN401  as above
) -> torch.Tensor:
    """Convolve as ``torch.nn.functional.conv2d``; equal up to rounding.

    The bias is added with channels last. Torch's backward sums its gradient with channels
    second, for which XLA transposed all of it: 12 of 108 ms of a step of MNIST's CNN.

    A weight larger than all patches that it is multiplied with is taken as a matrix: for a
    convolution XLA transposes it forward, backward and in each loop of the optimizer.
    """
    if input.device.type != "xla" or input.dim() != 4:
        return _torch_conv2d(input, weight, bias, *args, **options)
    given = dict(zip(_OPTIONS, args, strict=False)) | options
    convolved = _by_matrix(input, weight, **given)
    if convolved is None:
        convolved = _torch_conv2d(input, weight, None, **given).permute(0, 2, 3, 1)
    if bias is not None:
        convolved = convolved + bias.to(convolved.dtype)
    return convolved.permute(0, 3, 1, 2)


def _by_matrix(  # noqa: PLR0913  options by name, as torch has them
    images: torch.Tensor,
    weight: torch.Tensor,
    *,
    stride: Any = 1,  # noqa: ANN401  as torch takes it
    padding: Any = 0,  # noqa: ANN401  as above
    dilation: Any = 1,  # noqa: ANN401  as above
    groups: int = 1,
) -> torch.Tensor | None:
    """Return the convolution, channels last, as a product of matrices; None: not worth it."""
    if isinstance(padding, str) or groups != 1 or any(it != 1 for it in _pair(dilation)):
        return None
    (down, right), (above, beside) = _pair(stride), _pair(padding)
    outputs, _, height, width = weight.shape
    rows = (images.size(2) + 2 * above - height) // down + 1
    columns = (images.size(3) + 2 * beside - width) // right + 1
    if images.size(0) * rows * columns >= outputs or torch.is_autocast_enabled("xla"):
        return None
    padded = functional.pad(images, (beside, beside, above, above)).permute(0, 2, 3, 1)
    places = [
        padded[
            :,
            row : row + (rows - 1) * down + 1 : down,
            column : column + (columns - 1) * right + 1 : right,
        ]
        for row in range(height)
        for column in range(width)
    ]
    return linear(torch.stack(places, 4).flatten(3), weight.flatten(1))


def _pair(size: int | tuple[int, ...]) -> tuple[int, int]:
    return (size, size) if isinstance(size, int) else (size[0], size[-1])
