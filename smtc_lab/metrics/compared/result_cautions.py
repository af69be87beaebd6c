"""What a reader would else take from results: of costs, and of a declared device time.

Cost per step and cost of whole launches may say the opposite of each other. A declared device
time is no speed of an accelerator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.compared.prepared import data_groups
from smtc_lab.metrics.finding import caution
from smtc_lab.spec.cluster import LOCAL

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.metrics.compared.comparison import ClusterResult
    from smtc_lab.metrics.compared.pair_result import PairResult
    from smtc_lab.metrics.finding import Finding

UNLIKE_SAMPLES = "unlike_samples"
"""Kind of the caution that steps train other numbers of samples; scaling is asked for that."""

_WAITS, _IDLE = 0.2, 0.7
"""Share of a step from which waiting for batches counts, and of CPUs up to which they have
time left."""

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
        *_few_workers(baseline, candidate),
        *_unlike_samples(baseline, candidate, pair),
        *_opposite_costs(baseline, candidate, pair),
    ]


def _few_workers(baseline: ClusterResult, candidate: ClusterResult) -> list[Finding]:
    """Return the caution that a data group stands in for data workers of the baseline.

    Its trainers wait for batches while their CPUs have time left.
    """
    if data_groups(baseline) or not data_groups(candidate):
        return []
    groups = baseline.instance_groups
    busy = [baseline.utilization.cpu.get(each.instance_group_name) for each in groups]
    known = [each for each in busy if each is not None]
    if not known:
        return []
    if baseline.data_wait_fraction < _WAITS or max(known) > _IDLE:
        return []
    vcpus = [each.vcpus for each in groups if each.vcpus is not None]
    many = f"up to its {min(vcpus)} vCPUs" if vcpus else "up to its CPUs"
    return [
        caution(
            "few_workers",
            f"The trainers of {baseline.name} waited for batches in "
            f"{100 * baseline.data_wait_fraction:.0f} % of a step while their CPUs were "
            f"{100 * max(known):.0f} % busy: more data workers of their own are cheaper than "
            "instances.",
            f"Raise num_workers of the script's DataLoader {many} first, and compare again.",
        )
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
    results: Sequence[ClusterResult], declared_s: Collection[float | None], *, catalog: Catalog
) -> Iterator[Finding]:
    """Yield what readers of an emulated comparison would else take from its device time.

    Args:
        results: The compared clusters.
        declared_s: Declared times of a step on the device, in seconds, None among them where
            one declares none; empty: nothing is emulated.
        catalog: Knows the accelerators of instance types.
    """
    found = _accelerators(results, catalog)
    if len(found) > 1 and len(declared_s) == 1 and None not in declared_s:
        listed = " and ".join(f"{name} ({accelerator})" for accelerator, name in found.items())
        (device_step_time_s,) = declared_s
        yield caution(
            "unlike_accelerators",
            f"{listed} have the same declared device time, {device_step_time_s:g} s a step, so "
            "nothing here tells which accelerator is faster.",
            "Compare clusters with one accelerator, or measure on both.",
        )


def passes_of_vcpus(
    results: Sequence[ClusterResult], declared_s: Collection[float | None], *, catalog: Catalog
) -> Iterator[Finding]:
    """Yield whose vCPUs computed the passes in an emulation, in place of a device.

    Args:
        results: The compared clusters.
        declared_s: As for ``emulated_devices``, of the runs whose vCPUs are emulated.
        catalog: Knows the accelerators of instance types.
    """
    if None in declared_s and (found := _accelerators(results, catalog)):
        yield caution(
            "no_device_time",
            f"No device time is declared, so the vCPUs of {' and '.join(found.values())} "
            "computed the passes: steps are as on a machine without an accelerator.",
            "Declare the seconds of one step on the real accelerator (device_step_time_s, "
            "--device-time).",
        )
    names = _trainer_types(results)
    without = [name for name in names if catalog.get(name).accelerator is None]
    if without and set(declared_s) - {None}:
        yield caution(
            "no_accelerator",
            f"{' and '.join(without)}: no accelerator, so the vCPUs computed the passes, and "
            "the declared device time does not count there.",
            "Train on a type with an accelerator, if that was meant.",
        )


def _accelerators(results: Sequence[ClusterResult], catalog: Catalog) -> dict[str, str]:
    """Return the first type that trains on each accelerator, by its name."""
    found: dict[str, str] = {}
    for name in _trainer_types(results):
        if accelerator := catalog.get(name).accelerator:
            found.setdefault(accelerator, name)
    return found


def _trainer_types(results: Sequence[ClusterResult]) -> list[str]:
    """Return the types that train, but for this machine itself."""
    groups = (group for result in results for group in result.instance_groups)
    names = (group.instance_type for group in groups if group.role != "data")
    return [name for name in dict.fromkeys(names) if name != LOCAL]
