"""The largest batches that SageMaker published for its Training Compiler, as a reference.

They are of GPUs of their time, with automatic mixed precision in float16, and of no instance
that somebody else measures on; beside one's own figures they show how much a compiler may
change the largest batch, and that it may shrink: on some rows it did.

Source:
    Amazon SageMaker Developer Guide, "Tested models" of Training Compiler, as of June 2023.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources

from pydantic import TypeAdapter

SOURCE = "Amazon SageMaker Developer Guide, Training Compiler: tested models"
"""Where the batches were published."""

SOURCE_DATE = "2023-06"
"""Date of the guide."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PublishedBatch:
    """One row of the published tables."""

    framework: str
    """``PyTorch 1.13.1``, ``PyTorch 1.12.0`` or ``Hugging Face 4.11, PyTorch 1.9.0``."""

    dataset: str | None
    """What it was trained on; None: not published."""

    sequence_length: int | None
    """Tokens of a sample; None: images, or not published."""

    instance_type: str
    """SageMaker's instance type."""

    model: str
    """Name of the model."""

    native_batch_size: int
    """Largest batch of each GPU without the compiler."""

    compiled_batch_size: int
    """Largest batch of each GPU with it."""

    @property
    def growth(self) -> float:
        """Compiled over native batch; below 1: it shrinks."""
        return self.compiled_batch_size / self.native_batch_size


@cache
def published_batches() -> tuple[PublishedBatch, ...]:
    """Return every published row, in the order of the tables. Read once in a process."""
    source = resources.files("smtc_lab.catalog").joinpath("published_batches.csv")
    rows = csv.DictReader(source.read_text(encoding="utf-8").splitlines())
    return TypeAdapter(tuple[PublishedBatch, ...]).validate_python(
        [{name: text or None for name, text in row.items()} for row in rows]
    )


def published_batches_like(name: str) -> tuple[PublishedBatch, ...]:
    """Return the published rows of a model: those whose name begins as ``name`` does.

    ``bert-base`` finds ``bert-base-uncased``; case does not matter. Empty: none is published.
    """
    wanted = name.lower().rpartition("/")[2]
    return tuple(row for row in published_batches() if row.model.lower().startswith(wanted))
