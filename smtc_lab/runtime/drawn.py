"""What a training loop has drawn since its last step."""

from __future__ import annotations


class Drawn:
    """What was drawn from one source of batches since the last step."""

    __slots__ = (
        "batches",
        "begin_s",
        "in_a_row",
        "is_for_training",
        "num_samples",
        "source",
        "wait_s",
    )

    def __init__(self, source: int, begin_s: float, *, is_for_training: bool) -> None:
        self.source = source
        self.begin_s = begin_s
        self.is_for_training = is_for_training
        self.wait_s = 0.0
        self.num_samples: int | None = None
        self.batches = 0
        self.in_a_row = 0
