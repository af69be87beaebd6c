"""What else a steady step is made of: the optimizer, the batch, the wait for data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.metrics.columns import STEP
from smtc_lab.metrics.finding import Cost, Finding
from smtc_lab.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from smtc_lab.metrics.result import Interval
    from smtc_lab.rules.observation import Observation

DATA_WAIT = 0.2
"""From this share of the step on, waiting for data hides what a compiler brings."""

SECONDS_PER_OPERATOR = 5e-6
"""Estimated time that torch needs on the host to start one operator, whatever its size."""

_DISPATCH_SHARE = 0.3


class StepRule(Rule):
    """Finds what holds a steady step up beside the graph itself.

    An optimizer that is not fused is told as soon as the compiler's report tells it; while the
    run grows the wait for data, and a batch that is too small, from 30 measured steps on. Of
    the steps it keeps the size of the last batch.
    """

    def __init__(self) -> None:
        self._num_samples: int | None = None

    def take(self, steps: NDArray[np.float64]) -> None:
        """Keep the size of the first rank's last batch."""
        samples = steps[STEP["first_rank_samples"]]
        known = samples[~np.isnan(samples)]
        if known.size:
            self._num_samples = int(known[-1])

    def findings(self, seen: Observation) -> Iterable[Finding]:
        """Yield what is to say of the optimizer, of the wait for data, and of the batch."""
        yield from _optimizer(seen)
        yield from _data_wait(seen)
        yield from _small_batch(seen, self._num_samples)


def _optimizer(seen: Observation) -> Iterable[Finding]:
    report, config = seen.report, seen.job.compiler_config
    if report is None or report.fused_optimizer is not False:
        return
    if config is None or not config.enabled:
        return
    effect = next((each for each in seen.factors if each.factor == "fused_optimizer"), None)
    if effect is not None and effect.speedup.low <= 1:
        return  # it was measured, and brings nothing here
    sentence, fix = (
        (
            "The optimizer is not fused: torch has no fused kernel for it or its options.",
            "Use SGD, Adam, AdamW or Adagrad without options that exclude fused=True.",
        )
        if config.fused_optimizer
        else (
            "The optimizer updates one parameter after the other, outside the graph.",
            "Set fused_optimizer=True, or fused=True in the script's own optimizer.",
        )
    )
    yield Finding(
        kind="optimizer",
        severity="note" if effect is None else "warning",
        sentence=sentence,
        fix=fix,
        cost=Cost() if effect is None else _gained(effect.speedup, seen),
    )


def _gained(speedup: Interval, seen: Observation) -> Cost:
    """Return what a step costs that could be so many times as fast."""
    ends = (1 - 1 / times for times in (speedup.mean, speedup.low, speedup.high))
    return seen.cost(speedup.at(*ends).scaled(seen.step_time_s), seen.step_time_s)


def _data_wait(seen: Observation) -> Iterable[Finding]:
    wait = seen.data_wait_fraction
    if wait is None or wait < DATA_WAIT * seen.ease("data_wait"):
        return
    if not seen.is_enough_for("data_wait"):
        return
    limit = (
        f", so no compiler can make it more than {1 / wait:.2g} times as fast"
        if seen.has_compiler
        else ""
    )
    yield Finding(
        kind="data_wait",
        sentence=f"The trainer waits for data in {100 * wait:.0f} % of each step{limit}.",
        fix=f"Prepare data faster first: {_more_data(seen)}.",
        cost=seen.cost_in_steps(seen.measured.steps[STEP["data_wait_s"]]),
    )


def _more_data(seen: Observation) -> str:
    """Return what prepares data faster: no data group for a run that has one."""
    if seen.job.cluster.is_heterogeneous:
        return "more or larger instances in the data group"
    return "more data workers, or a data group of CPU instances (a heterogeneous cluster)"


def _small_batch(seen: Observation, num_samples: int | None) -> Iterable[Finding]:
    launched = seen.report and seen.report.kernels
    if not launched or not seen.is_enough_for("small_batch"):
        return
    busy = 1 - (seen.data_wait_fraction or 0.0)
    busy_s = busy * seen.step_time_s
    share = launched * SECONDS_PER_OPERATOR / busy_s if busy_s > 0 else 0.0
    if share < _DISPATCH_SHARE * seen.ease("small_batch"):
        return
    samples = "" if num_samples is None else f" of {num_samples:,} samples"
    yield Finding(
        kind="small_batch",
        sentence=(
            f"A step{samples} starts {launched:,} kernels; starting them alone may take "
            f"{100 * min(share, 1.0):.0f} % of it. The batch is too small to keep the device "
            "busy."
        ),
        fix="Raise the batch size ('smtc-lab batch-size' finds the one with most samples/s).",
        cost=Cost(fraction=min(share, 1.0) * busy, evidence="estimated"),
    )
