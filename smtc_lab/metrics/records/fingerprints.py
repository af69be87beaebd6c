"""Fingerprints of a training, step by step: two trainings are the same where these are."""

from __future__ import annotations

from dataclasses import dataclass

BEFORE, AFTER, BETWEEN = "before", "after", "between"
"""Moments of a ``FingerprintRecord``."""

NAMES_FILE = "output/data/tensors.json"
"""Names of the tensors, in the order of their digits, below ``SAGEMAKER_BASE_DIR``."""

TENSOR_DIGITS = 4
"""Hexadecimal digits of a tensor in ``FingerprintRecord.tensors``."""

MOST_TENSORS = 1000
"""Tensors that have some there."""

BATCH_DIGITS = 8
"""Hexadecimal digits of a batch in ``FingerprintRecord.batch``."""

MOST_BATCHES = 16
"""Batches that have some there, the last ones; what came before them has one hash."""

FOLDED = "+"
"""What that hash begins with."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FingerprintRecord:
    """Hashes of what a step left behind, of one rank; of its bits, as hexadecimal text."""

    step: int
    """Number of the step in its run, from 0."""

    moment: str
    """``after`` the step; or ``before`` the optimizer's part of the first one of an attempt,
    when batch, random numbers and buffers are not told; or ``between``: the same of a later
    step, where another optimizer has stepped since the one whose steps are counted."""

    batch: str
    """Of the batches that were drawn since the step before, in their order, with blanks between
    them. A loader may draw ahead, so they need not be those that it was made of."""

    random: str
    """Of the state of all generators of random numbers."""

    rate: str
    """Of the settings of the optimizers: learning rates."""

    parameters: str
    """Of all parameters."""

    buffers: str
    """Of all buffers, as a batch norm has them; a forward pass may change them."""

    optimizer: str
    """Of the state of the optimizers."""

    tensors: str
    """Of each parameter and buffer, ``TENSOR_DIGITS`` each, of the first ``MOST_TENSORS``."""
