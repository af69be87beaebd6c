"""Suggests a learning rate for another batch size. A suggestion: training decides.

Another batch size is another trajectory: "the same final model" holds at equal batches only.
"""

from __future__ import annotations

import math
from typing import Literal

from smtc_lab.metrics.result import Result

Rule = Literal["linear", "sqrt"]
"""``linear``: in proportion to the batch. ``sqrt``: in proportion to its square root."""

_LONGEST_WARM_UP = 0.1
_STEPS_PER_DOUBLING = 100


class LearningRate(Result):
    """A learning rate that may suit a batch size."""

    rule: Rule
    """How it follows the batch size."""

    learning_rate: float
    """The learning rate after the warm-up."""

    weight_decay: float | None
    """The weight decay; None: leave it as it is."""

    warm_up_steps: int
    """Steps over which to raise the learning rate from near 0; 0: none is needed."""

    reason: str
    """Why, in one sentence, with its source."""


def default_rule(optimizer: str) -> Rule:
    """Return the rule that suits an optimizer, by its class name.

    Source:
        Linear for SGD: P. Goyal et al., "Accurate, large minibatch SGD", 2017,
        https://arxiv.org/abs/1706.02677. Square root for Adam and RMSprop: S. Malladi et al.,
        "On the SDEs and scaling rules for adaptive gradient algorithms", 2022,
        https://arxiv.org/abs/2205.10287.
    """
    return "linear" if optimizer.lower().rpartition(".")[2] in {"sgd", "asgd"} else "sqrt"


def scaled_learning_rate(  # noqa: PLR0913  all that the rules know
    learning_rate: float,
    *,
    batch_size: int,
    new_batch_size: int,
    optimizer: str = "AdamW",
    rule: Rule | None = None,
    weight_decay: float | None = None,
    job_steps: int | None = None,
) -> LearningRate:
    """Return the learning rate to try at another batch size.

    Args:
        learning_rate: The one that suits ``batch_size``.
        batch_size: Samples of a step over all devices: batch of each x devices x accumulation.
        new_batch_size: The same of the step to come.
        optimizer: Its class name; chooses the rule where none is given.
        rule: How the learning rate follows the batch; None: as the optimizer's rule says.
        weight_decay: Weight decay to shrink as the batch grows, as SageMaker's notebook for
            TensorFlow did; None: leave it.
        job_steps: Steps of the job, a tenth of which is the longest warm-up; None: unknown.

    Raises:
        ValueError: A number is not above 0.
    """
    numbers = {
        "learning_rate": learning_rate,
        "batch_size": batch_size,
        "new_batch_size": new_batch_size,
    }
    for name, value in numbers.items():
        if not (math.isfinite(value) and value > 0):
            raise ValueError(f"{name}={value} is not above 0. Give a number above 0.")
    used = default_rule(optimizer) if rule is None else rule
    growth = new_batch_size / batch_size
    factor = growth if used == "linear" else math.sqrt(growth)
    return LearningRate(
        rule=used,
        learning_rate=learning_rate * factor,
        weight_decay=None if weight_decay is None else weight_decay / growth,
        warm_up_steps=_warm_up_steps(factor, job_steps),
        reason=_reason(used, optimizer, growth, is_given=rule is not None),
    )


def _warm_up_steps(factor: float, job_steps: int | None) -> int:
    """Return 100 steps for each doubling of the learning rate, at most a tenth of the job."""
    if factor <= 1:
        return 0
    steps = math.ceil(_STEPS_PER_DOUBLING * math.log2(factor))
    return steps if job_steps is None else min(steps, int(_LONGEST_WARM_UP * job_steps))


def _reason(rule: Rule, optimizer: str, growth: float, *, is_given: bool) -> str:
    how = "in proportion to the batch" if rule == "linear" else "with the batch's square root"
    source = "Goyal et al. 2017" if rule == "linear" else "Malladi et al. 2022"
    who = "as asked for" if is_given else f"as usual for {optimizer}"
    return (
        f"The batch is {growth:.3g} times as large; the learning rate goes {how}, {who} "
        f"({source}). A suggestion to start a search from, not a measurement."
    )
