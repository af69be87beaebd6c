"""How the numbers of a comparison came about, in sentences for the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.records.cluster_time import OLD_CLOCK
from smtc_lab.views.figures.launches import launches_of, measured_step_times
from smtc_lab.views.text import format as fmt
from smtc_lab.views.text.emulated import declared_devices_s, device_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.metrics.compared.comparison import ClusterResult, Comparison
    from smtc_lab.metrics.compared.pair_result import PairResult
    from smtc_lab.metrics.records.records import RunRecords

WARM_UP_RULE = (
    "The first steps of a launch are slow: memory is allocated, connections are made, queues "
    "are empty. The first step of each launch is always left out. Then medians of 5 steps are "
    "averaged over all launches, and MSER-5 (White, 1997) chooses among all cuts at a multiple "
    "of 5 steps the one with the least standard error of the mean of what remains. All "
    "launches of a comparison are cut alike, and at most by half of the shortest one."
)
"""The rule of ``smtc_lab.metrics.warm_up``, in words."""

_MEAN = (
    "Every number is a mean over all measured steps of all launches: total time over total "
    "steps. Cost follows the mean, because every slow step is billed too."
)
_INTERVAL = (
    "The 95 % intervals take the launches as the sample: Student's t, and Welch's for ratios, "
    "on the logarithms of their means. Where whole rounds were slow or fast together, the "
    "differences within rounds are the sample. Steps alone would make an interval too narrow, "
    "because they do not show how much launches differ."
)
_FEW_LAUNCHES = 5


def warm_up_sentence(cluster: ClusterResult) -> str:
    """Return how many steps of each launch were left out."""
    skipped = cluster.warm_up_steps
    if not skipped or max(skipped) == 0:
        return "no step was left out"
    if min(skipped) == max(skipped):
        subject = "the first step" if skipped[0] == 1 else f"the first {skipped[0]:,} steps"
        return f"{subject} of each launch left out, {cluster.steps:,} steps measured"
    listed = ", ".join(f"{steps:,}" for steps in skipped)
    return (
        f"the first {listed} steps of its launches left out, {cluster.steps:,} steps measured"
    )


def statistics_sentences(comparison: Comparison) -> list[str]:
    """Return how means and intervals were made, and how far they can be trusted."""
    sentences = [_MEAN, _INTERVAL]
    launches = [cluster.launches for cluster in comparison.clusters]
    if len(launches) > 1 and max(launches) > 1:
        sentences.append(
            "Launches of the clusters took turns, so a drift of the machine meets all alike."
        )
    if launches and min(launches) == 1:
        sentences.append(
            "The interval of a cluster that was launched once is of that launch alone, so "
            "nothing is claimed from it. Measure at least three rounds."
        )
    elif launches and min(launches) < _FEW_LAUNCHES:
        sentences.append(
            f"With {fmt.count(min(launches), 'launch')} of a cluster an interval is wide, "
            "because so few show little of how much launches differ. Publish five or more."
        )
    return sentences


def saving_sentences(comparison: Comparison) -> list[str]:
    """Return what each cluster saves per step and per job against the baseline."""
    return [_saving_sentence(pair) for pair in comparison.pairs]


def emulation_sentences(comparison: Comparison) -> list[str]:
    """Return what was emulated and what that means, sentence by sentence."""
    if comparison.evidence == "measured":
        return ["Nothing was emulated: the steps ran on the machines that are named."]
    emulation = comparison.emulation or {}
    scale, dilation = emulation.get("cores_per_vcpu"), emulation.get("time_dilation")
    devices = device_words(*declared_devices_s(emulation))
    sentences = ["The named instances were not there; one machine stood in for all of them."]
    if scale is not None:
        sentences.append(
            "Each instance was a group of processes with a CPU quota in proportion to its "
            "vCPUs and their relative speed: one vCPU of the reference CPU was "
            f"{fmt.cores(scale)} of this machine."
        )
    if dilation is None and scale is not None:
        sentences.append(f"An older version emulated it: its times are {OLD_CLOCK}.")
    elif dilation is not None and dilation != 1:
        sentences.append(
            f"Everything of the clusters went {dilation:.3g} times slower here: vCPUs, "
            "accelerator and network alike. Times, rates and costs of steps are told "
            "in cluster time, which is what was measured divided by that."
        )
    if devices:
        sentences.append(
            f"The accelerator was a declared time, {devices} of each step; the passes were "
            "computed here meanwhile."
        )
    if comparison.declared_link is not None:
        sentences.append(
            f"The network between trainers was declared ({comparison.declared_link}): "
            "gradients came when that network would have brought them."
        )
    sentences.append(
        "A quota begins with the first step, and is lifted when the job's max_steps are taken "
        "or its script ends: start-up and end are this machine's own seconds."
    )
    sentences.append(
        "So this is true of the pipeline (queues, overlap, shut-down), and of the hardware as "
        "far as the declared device time and the catalog's CPU speeds are."
    )
    return sentences


def spread_finding(comparison: Comparison, runs: Sequence[RunRecords]) -> str:
    """Return median and 99th percentile of each cluster's measured steps in one sentence."""
    spreads = []
    for cluster in comparison.clusters:
        times_s = measured_step_times(launches_of(cluster, runs))
        if times_s.size == 0:
            spreads.append(f"{fmt.plain(cluster.name)}: no step records")
            continue
        half_s, most_s = times_s[times_s.size // 2], times_s[int(0.99 * (times_s.size - 1))]
        spreads.append(
            f"{fmt.plain(cluster.name)}: half of the steps took at most "
            f"{fmt.seconds(half_s, unit='s')}, 99 % at most {fmt.seconds(most_s, unit='s')}"
        )
    return f"Distribution of step times ({comparison.evidence}). {'; '.join(spreads)}."


def _saving_sentence(pair: PairResult) -> str:
    names = f"{fmt.plain(pair.candidate)} against {fmt.plain(pair.baseline)}"
    saving = pair.judged_saving
    if pair.trains_apart:
        return f"{names}: no saving is claimed, as trainers train the same model."
    if saving is None:
        return f"{names}: the saving is {fmt.UNKNOWN}, because a price is unknown."
    told = fmt.percent_interval(saving)
    if saving.side_of(0) == 0:
        told = f"{told}, no difference seen"
    if pair.evidence == "emulated":
        return f"{names}: saving per {pair.unit} {told}."
    if pair.saving_per_job_fraction is None:
        return (
            f"{names}: saving per {pair.unit} {told}. Their launches did different work, so "
            "costs per job are not compared."
        )
    per_job = fmt.percent(pair.saving_per_job_fraction)
    return f"{names}: saving per step {told}; per job, start-up and end included, {per_job}."
