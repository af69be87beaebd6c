"""Tensors that are more than plain memory, arrays of objects, and images."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import numpy as np
import torch

from smtc_lab.dataservice.batch_types.batch_type import (
    BatchType,
    Taken,
    exactly,
    of_text,
    plain_text,
)
from smtc_lab.dataservice.torch_names import needed
from smtc_lab.errors import DataServiceError

_COMPRESSED = {
    str(layout): layout
    for layout in (torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc)
}
_BY_ROWS = frozenset({torch.sparse_csr, torch.sparse_bsr})
_QUANTIZED = {
    "torch.quint8": torch.uint8,
    "torch.qint8": torch.int8,
    "torch.qint32": torch.int32,
}
"""What each is made of."""
_PER_TENSOR = frozenset({torch.per_tensor_affine, torch.per_tensor_symmetric})
_DTYPES = {str(it): it for it in vars(torch).values() if isinstance(it, torch.dtype)}
_IMAGE_MODES = frozenset(
    [
        "1",
        "L",
        "P",
        "RGB",
        "RGBA",
        "CMYK",
        "YCbCr",
        "LAB",
        "HSV",
        "I",
        "F",
        "LA",
        "PA",
        "RGBX",
        "RGBa",
        "La",
        "I;16",
        "I;16L",
        "I;16B",
    ]
)
_IMAGES = "PIL.Image"
_TV_TENSORS = "torchvision.tv_tensors"
_MOST_ELEMENTS = 2**31


def _take_sparse(value: torch.Tensor) -> Taken | None:
    shape = list(value.shape)
    if value.layout is torch.sparse_coo:
        whole = value.detach()
        return Taken(
            ["coo", shape, whole.is_coalesced()],
            [whole._indices(), whole._values()],  # noqa: SLF001  the public ones demand that it is coalesced
        )
    if value.layout in _COMPRESSED.values():
        by_rows = value.layout in _BY_ROWS
        outer = value.crow_indices() if by_rows else value.ccol_indices()
        inner = value.col_indices() if by_rows else value.row_indices()
        return Taken([str(value.layout), shape], [outer, inner, value.detach().values()])
    return None


def _make_sparse(head: list[Any], parts: list[Any]) -> object:
    """Make it; torch checks what it needs for safety only where it is told to."""
    if head[0] == "coo":
        indices, values = parts
        made = torch.sparse_coo_tensor(indices, values, size=head[1], check_invariants=True)
        return made.coalesce() if head[2] is True else made
    outer, inner, values = parts
    return torch.sparse_compressed_tensor(
        outer,
        inner,
        values,
        size=head[1],
        layout=_COMPRESSED[head[0]],
        check_invariants=True,
    )


def _take_nested(value: torch.Tensor) -> Taken | None:
    if not value.is_nested:
        return None
    return Taken([value.layout is torch.jagged], list(value.detach().unbind()))


def _make_nested(head: list[Any], parts: list[Any]) -> object:
    if not all(isinstance(one, torch.Tensor) and one.dim() for one in parts):
        raise TypeError("it is made of other things than tensors")
    layout = torch.jagged if head[0] is True else torch.strided
    return torch.nested.nested_tensor(parts, layout=layout)


def _take_quantized(value: torch.Tensor) -> Taken | None:
    if not value.is_quantized:
        return None
    name = str(value.dtype)
    if value.qscheme() in _PER_TENSOR:
        return Taken([name, value.q_scale(), value.q_zero_point()], [value.int_repr()])
    scales, points = value.q_per_channel_scales(), value.q_per_channel_zero_points()
    return Taken([name, value.q_per_channel_axis()], [value.int_repr(), scales, points])


def _make_quantized(head: list[Any], parts: list[Any]) -> object:
    if _QUANTIZED[head[0]] is not parts[0].dtype:
        raise TypeError(f"{head[0]} is not made of {parts[0].dtype}")
    if len(parts) == 1:
        return needed("torch:_make_per_tensor_quantized_tensor")(parts[0], *head[1:])
    if not 0 <= head[1] < parts[0].dim() or len(parts[1]) != parts[0].shape[head[1]]:
        raise ValueError(f"there is no axis {head[1]} of this size")
    whole, scales, points = parts
    make = needed("torch:_make_per_channel_quantized_tensor")
    return make(whole, scales, points, head[1])


def is_laid_out(tensor: torch.Tensor) -> bool:
    """Return whether a strided tensor is more than its values in the order of its dimensions.

    Its dimensions lie in another order in memory (as with ``channels_last``), or it requires
    a gradient.

    Raises:
        DataServiceError: Its gradient would go back to what is left behind.
    """
    if not tensor.requires_grad:
        return not tensor.is_contiguous() and _order_of(tensor) is not None
    if not tensor.is_leaf:
        raise DataServiceError(
            f"The batch holds a tensor of shape {list(tensor.shape)} that requires a gradient "
            f"and was computed from others ({tensor.grad_fn}), which stay in the data worker. "
            "Call .detach() on it in the dataset or collate_fn."
        )
    return True


def _order_of(tensor: torch.Tensor) -> list[int] | None:
    """Return the dimensions as they lie in memory; None: they have gaps or overlap."""
    strides = tensor.stride()
    order = sorted(range(tensor.dim()), key=lambda place: (-strides[place], place))
    return order if tensor.permute(order).is_contiguous() else None


def _take_laid_out(value: torch.Tensor) -> Taken | None:
    if value.layout is not torch.strided or value.is_quantized or not is_laid_out(value):
        return None
    whole = value.detach()
    order = _order_of(whole) or list(range(whole.dim()))
    return Taken([value.requires_grad, *order], [whole.permute(order)])


def _make_laid_out(head: list[Any], parts: list[Any]) -> object:
    """Make it over the memory of its part, as a tensor of its own and not as a view."""
    (whole,) = parts
    requires_grad, *order = head
    if sorted(order) != list(range(whole.dim())):
        raise ValueError(f"{order} is no order of {whole.dim()} dimensions")
    view = whole.permute([order.index(place) for place in range(whole.dim())])
    made = torch.empty(0, dtype=view.dtype).set_(
        view.untyped_storage(), view.storage_offset(), view.shape, view.stride()
    )
    return made.requires_grad_(requires_grad is True)


def _take_array(value: np.ndarray[Any, Any]) -> Taken | None:
    if value.dtype.kind != "O":
        return None
    return Taken(list(value.shape), value.ravel().tolist())


def _make_array(head: list[Any], parts: list[Any]) -> object:
    made = np.empty(len(parts), dtype=object)
    for index, part in enumerate(parts):
        made[index] = part
    return made.reshape(head)


def _is_image(kind: type) -> bool:
    images = sys.modules.get(_IMAGES)
    return images is not None and issubclass(kind, images.Image)


def _take_image(value: Any) -> Taken | None:  # noqa: ANN401  a PIL image
    if value.mode not in _IMAGE_MODES:
        return None
    palette = value.getpalette("RGB") if value.mode in {"P", "PA"} else None
    return Taken([value.mode, *value.size, palette], [value.tobytes()])


def _make_image(head: list[Any], parts: list[Any]) -> object:
    mode, width, height, palette = head
    if mode not in _IMAGE_MODES or width * height > _MOST_ELEMENTS:
        raise ValueError(f"{mode!r} of {width} x {height} is no image")
    images: Any = import_module(_IMAGES)
    # The bytes must be there before memory is set aside for so many pixels.
    least = height * (-(-width // 8) if mode == "1" else width)
    if len(parts[0]) < least:
        raise ValueError(f"{len(parts[0])} bytes are too few")
    made = images.frombytes(mode, (width, height), parts[0])
    if palette is not None:
        made.putpalette(bytes(palette), "RGB")
    return made


def _is_tv_tensor(kind: type) -> bool:
    module = sys.modules.get(_TV_TENSORS)
    return module is not None and issubclass(kind, module.TVTensor)


def _take_tv_tensor(value: Any) -> Taken | None:  # noqa: ANN401  one of torchvision's
    kind = type(value)
    if getattr(sys.modules[_TV_TENSORS], kind.__name__, None) is not kind:
        return None  # a class of the script's own
    extras: dict[str, object] = {
        name: list(it) if isinstance(it, tuple) else getattr(it, "value", it)
        for name, it in vars(value).items()
    }
    return Taken([kind.__name__, extras], [value.as_subclass(torch.Tensor)])


def _make_tv_tensor(head: list[Any], parts: list[Any]) -> object:
    module: Any = import_module(_TV_TENSORS)
    kind = getattr(module, plain_text(head[0]))
    if not issubclass(kind, module.TVTensor):
        raise TypeError(f"{kind} is no tv_tensor")
    made = torch.Tensor.as_subclass(parts[0], kind)
    for name, value in head[1].items():
        if name == "format":
            value = module.BoundingBoxFormat(value)  # noqa: PLW2901  as torchvision has it
        made.__dict__[plain_text(name)] = tuple(value) if isinstance(value, list) else value
    return made


_is_tensor = exactly(torch.Tensor)

TENSOR_TYPES = (
    BatchType(
        "nested", lambda kind: issubclass(kind, torch.Tensor), _take_nested, _make_nested
    ),
    BatchType("sparse", _is_tensor, _take_sparse, _make_sparse),
    BatchType("quantized", _is_tensor, _take_quantized, _make_quantized),
    BatchType("laid_out", _is_tensor, _take_laid_out, _make_laid_out),
    BatchType("objects", exactly(np.ndarray), _take_array, _make_array),
    BatchType("image", _is_image, _take_image, _make_image),
    BatchType("tv_tensor", _is_tv_tensor, _take_tv_tensor, _make_tv_tensor),
    of_text(torch.device, "device", torch.device),
    of_text(torch.dtype, "dtype", lambda name: _DTYPES[name]),
    BatchType(
        "size",
        exactly(torch.Size),
        lambda value: Taken(list(value), []),
        lambda head, _: torch.Size(head),
    ),
)
"""Those of this module, in the order in which they are asked."""
