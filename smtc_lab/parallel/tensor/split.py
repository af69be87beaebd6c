"""How one parameter is divided among ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Split:
    """A dimension of a parameter, cut into equal parts."""

    dim: int
    """The dimension."""

    fused: int = 1
    """It is so many equal blocks, one after the other, each of which is cut: 3 where queries,
    keys and values are one matrix."""

    def part(self, whole: torch.Tensor, rank: int, ranks: int) -> torch.Tensor:
        """Return a rank's part of a whole; its dimension must divide."""
        blocks = whole.chunk(self.fused, self.dim)
        return torch.cat([one.chunk(ranks, self.dim)[rank] for one in blocks], self.dim)

    def whole(self, parts: Sequence[torch.Tensor]) -> torch.Tensor:
        """Return the whole that the ranks' parts make."""
        cut = [part.chunk(self.fused, self.dim) for part in parts]
        return torch.cat([one[block] for block in range(self.fused) for one in cut], self.dim)

    def whole_shape(self, part: torch.Size, ranks: int) -> tuple[int, ...]:
        """Return the shape of a whole."""
        return tuple(size * ranks if dim == self.dim else size for dim, size in enumerate(part))
