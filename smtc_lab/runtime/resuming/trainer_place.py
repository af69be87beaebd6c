"""Who a trainer is, and where its checkpoints lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class TrainerPlace:
    """Who this trainer is, and where its checkpoints lie."""

    folder: Path
    """Those of all trainers of this instance."""

    rank: int
    world_size: int

    global_batch: Callable[[Any], int | None]
    """Returns how many samples all trainers take at once of a loader; None: not known."""

    @property
    def own_folder(self) -> Path:
        """Where the checkpoints of this trainer lie."""
        return self.folder / f"rank{self.rank}"
