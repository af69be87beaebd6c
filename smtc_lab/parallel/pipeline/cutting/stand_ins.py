"""Other tensors in place of a model's own, for a pass that must leave it as it is."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

from smtc_lab.parallel.torch_names import needed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

tree_map_only = needed("torch.utils._pytree:tree_map_only")


def with_values(values: Any) -> Any:  # noqa: ANN401  any tree
    """Return a tree whose tensors can be computed with on the CPU, whatever is in them."""
    return tree_map_only(torch.Tensor, _off_meta, values)


def _off_meta(value: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(value, device="cpu") if value.is_meta else value


@contextmanager
def stand_ins(
    model: torch.nn.Module,
    make: Callable[[torch.Tensor, int | None], torch.Tensor],
    parameters: Sequence[torch.nn.Parameter],
) -> Iterator[None]:
    """Give all modules other parameters and buffers; ties stay ties.

    Args:
        model: The model; it has its own again afterwards.
        make: Called with each of them once, and its number among the parameters; None: it is
            a buffer. Returns what stands in its place.
        parameters: The model's parameters.
    """
    made: dict[int, Any] = {}
    numbers = {id(one): number for number, one in enumerate(parameters)}
    before = []
    for module in model.modules():
        for table in (module._parameters, module._buffers):  # noqa: SLF001  both are changed
            before.append((table, dict(table)))
            for name, value in table.items():
                if value is None:
                    continue
                if id(value) not in made:
                    made[id(value)] = make(value, numbers.get(id(value)))
                table[name] = made[id(value)]
    try:
        yield
    finally:
        for table, values in before:
            table.update(values)  # type: ignore[arg-type]
