"""What a reader would else take from results: of costs, and of a declared device time.

Cost per step and cost of whole launches may say the opposite of each other. A declared device
time is no speed of an accelerator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.finding import caution
from smtc_lab.spec.cluster import LOCAL

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.metrics.compared.comparison import ClusterResult
    from smtc_lab.metrics.compared.pair_result import PairResult
    from smtc_lab.metrics.finding import Finding

UNLIKE_SAMPLES = "unlike_samples"
"""Kind of the caution that steps train other numbers of samples; scaling is asked for that."""

_ALIKE = 0.01
"""Share by which the samples of two steps may differ: a last batch may be smaller."""


def pair_cautions(
    baseline: ClusterResult, candidate: ClusterResult, pair: PairResult
) -> list[Finding]:
    """Return what a reader would else take from the ratios of two clusters.

    Args:
        baseline: The cluster that they refer to.
        candidate: The other cluster.
        pair: What was seen of the two.
    """
    return [
        *_unlike_samples(baseline, candidate, pair),
        *_opposite_costs(baseline, candidate, pair),
    ]


def _opposite_costs(
    baseline: ClusterResult, candidate: ClusterResult, pair: PairResult
) -> list[Finding]:
    """Return the caution that a candidate's steps are cheaper and its launches dearer.

    Also the other way round. Nothing where no difference is seen in one of the two.
    """
    saving, saving_per_job = pair.saving_fraction, pair.saving_per_job
    if saving is None or saving_per_job is None:
        return []
    if saving.side_of(0) * saving_per_job.side_of(0) != -1:
        return []
    sentence = (
        f"{candidate.name} is {_words(saving.mean)} per step than {baseline.name}, but its "
        f"launches were {_words(saving_per_job.mean)}{_why(baseline, candidate)}."
    )
    fix = "The more steps a job has, the more its cost is that of its steps."
    return [caution("opposite_costs", sentence, fix)]


def _why(baseline: ClusterResult, candidate: ClusterResult) -> str:
    own, other = (
        None if each.bill is None else each.bill.around_fraction
        for each in (candidate, baseline)
    )
    if own is None or other is None:
        return ""
    return (
        f": {100 * own:.0f} % of what was billed for {candidate.name} were start-up and end, "
        f"and {100 * other:.0f} % for {baseline.name}"
    )


def _words(saving_fraction: float) -> str:
    word = "cheaper" if saving_fraction > 0 else "dearer"
    return f"{100 * abs(saving_fraction):.0f} % {word}"


def times_the_samples(baseline: ClusterResult, candidate: ClusterResult) -> float | None:
    """Return the samples of a candidate's step over those of a baseline's.

    Returns:
        None where they are as many, or not known.
    """
    own, other = _samples_of_step(candidate), _samples_of_step(baseline)
    if own is None or other is None or abs(own / other - 1) <= _ALIKE:
        return None
    return own / other


def _unlike_samples(
    baseline: ClusterResult, candidate: ClusterResult, pair: PairResult
) -> list[Finding]:
    """Return the caution that steps of a candidate train another number of samples."""
    own, other = _samples_of_step(candidate), _samples_of_step(baseline)
    if pair.times_the_samples is None or own is None or other is None:
        return []
    return [
        caution(
            UNLIKE_SAMPLES,
            f"A step of {candidate.name} has {own:.0f} samples and a step of {baseline.name} "
            f"{other:.0f}, so steps are other work, and the two are judged per sample.",
            "To compare steps, keep their samples: divide the batch size by the devices. To "
            "see how devices add up, measure a scaling study.",
        )
    ]


def _samples_of_step(result: ClusterResult) -> float | None:
    rate = result.samples_per_s
    return None if rate is None else rate.mean * result.step_time_s.mean


def emulated_devices(
    results: Sequence[ClusterResult], device_step_time_s: float | None, *, catalog: Catalog
) -> Iterator[Finding]:
    """Yield what readers of an emulated comparison would else take from its device time.

    Args:
        results: The compared clusters.
        device_step_time_s: Declared time of a step on the device, in seconds; None: not
            emulated, or none was declared.
        catalog: Knows the accelerators of instance types.
    """
    if device_step_time_s is None:
        return
    found: dict[str, str] = {}
    for result in results:
        for name in _trainer_types(result):
            accelerator = None if name == LOCAL else catalog.get(name).accelerator
            if accelerator is not None:
                found.setdefault(accelerator, name)
    if len(found) > 1:
        listed = " and ".join(f"{name} ({accelerator})" for accelerator, name in found.items())
        yield caution(
            "unlike_accelerators",
            f"{listed} have the same declared device time, {device_step_time_s:g} s a step, so "
            "nothing here tells which accelerator is faster.",
            "Compare clusters with one accelerator, or measure on both.",
        )


def _trainer_types(result: ClusterResult) -> list[str]:
    return [group.instance_type for group in result.instance_groups if group.role != "data"]
