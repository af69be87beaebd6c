"""What a reader must know before trusting a comparison."""

from __future__ import annotations

from itertools import chain, combinations, islice
from typing import TYPE_CHECKING

from smtc_lab.metrics.cautions.ended_early import ended_early, steps_made
from smtc_lab.metrics.cautions.limits import LEAST_DELIVERED, MORE_STEPS, ROUNDING
from smtc_lab.metrics.cautions.own_speed import AT_OWN_SPEED
from smtc_lab.metrics.cautions.too_little import few_launches, few_steps, unsettled
from smtc_lab.metrics.compared.compiler_cautions import compiler_cautions
from smtc_lab.metrics.compared.prepared import told_by_trainers, unlike_dataloaders
from smtc_lab.metrics.finding import caution
from smtc_lab.metrics.records.cluster_time import OLD_CLOCK
from smtc_lab.metrics.records.facts import as_asked, cpu_quota_mechanism
from smtc_lab.metrics.records.records import SAME_SAMPLES
from smtc_lab.metrics.result import evidence_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from smtc_lab.metrics.compared.comparison import ClusterResult, GroupResult
    from smtc_lab.metrics.compared.measured_cluster import MeasuredCluster
    from smtc_lab.metrics.finding import Finding
    from smtc_lab.metrics.records.records import RunRecords

DELIVERED_DIFFERENCE = 0.05
"""Clusters whose CPU delivered over asked differ by more than this are not alike."""

FEWER_CORES = "at a larger time dilation (time_dilation, --dilation)"
"""What to do where the machine was too small, by its names in Python and on a command line."""

TRAINS_APART = "trainers_apart"
"""Kind of the caution that the trainers of a cluster do not train one model."""


def trained_apart(measured: Iterable[MeasuredCluster]) -> list[Finding]:
    """Return a caution for each cluster whose trainers each train the model by themselves."""
    found = []
    for cluster in (each for each in measured if each.trains_apart):
        num = max(len(launch.run.steps) for launch in cluster.launches)
        times = "twice" if num == 2 else f"{num} times"
        found.append(
            caution(
                TRAINS_APART,
                f"The {num} trainers train the same model {times} on {cluster.label}: the "
                "script does not join their process group, so more of them bring nothing.",
                "Call torch.distributed.init_process_group() and wrap the model, for example "
                "in DistributedDataParallel.",
            )
        )
    return found


def delivered_differences(results: Sequence[ClusterResult]) -> list[Finding]:
    """Return a caution for each two clusters that got unlike shares of their CPU time.

    Not where the devices of the one that got less were busy all the same: with all of it, its
    steps could not have been shorter by as much.
    """
    found = []
    for first, second in combinations(results, 2):
        one, other = first.cpu_delivered_fraction, second.cpu_delivered_fraction
        if one is None or other is None or _is_too_short(first) or _is_too_short(second):
            continue
        if _most_gained(first if one < other else second) <= DELIVERED_DIFFERENCE:
            continue
        if abs(one - other) > DELIVERED_DIFFERENCE + ROUNDING:
            sentence = (
                f"{first.name} got {100 * one:.1f} % of the CPU time that it asked for and "
                f"{second.name} {100 * other:.1f} %, more than 5 points apart, so not only the "
                "clusters made their step times differ, but this machine did, too."
            )
            fix = f"Measure again {FEWER_CORES}, or on a quieter machine."
            found.append(caution("unlike_delivered", sentence, fix))
    return found


def at_own_speed(measured: Sequence[MeasuredCluster]) -> list[Finding]:
    """Return the cautions of what goes at the speed of this machine: passes, gaps of steps.

    Each is of the first such cluster, as the script is the same everywhere.
    """
    found: list[Finding] = []
    for of_one in AT_OWN_SPEED.values():
        told = (
            of_one(cluster.launches[0].run.job, cluster.launches, of=f" of {cluster.label}")
            for cluster in measured
        )
        found += islice(filter(None, told), 1)
    return found


def cautions(
    measured: Sequence[MeasuredCluster], results: Sequence[ClusterResult]
) -> tuple[Finding, ...]:
    """Return every caution about a comparison, the gravest first."""
    return tuple(
        chain(
            chain.from_iterable(map(_same_samples, measured)),
            delivered_differences(results),
            compiler_cautions(measured, results),
            _unlike_runs(measured),
            unlike_dataloaders(results),
            chain.from_iterable(map(_about_cluster, measured, results)),
            few_launches({each.name: each.launches for each in results}),
            unsettled([each.label for each in measured if not each.is_settled]),
            few_steps({each.name: each.steps for each in results}),
            _about_prices(group for result in results for group in result.instance_groups),
        )
    )


def _same_samples(measured: MeasuredCluster) -> Iterable[Finding]:
    """Yield what trainers said of not training on samples of their own."""
    said = dict.fromkeys(
        event.message
        for launch in measured.launches
        for event in launch.run.events
        if event.kind == SAME_SAMPLES
    )
    return (caution(SAME_SAMPLES, f"{measured.label}: {each}") for each in said)


def _unlike_runs(measured: Sequence[MeasuredCluster]) -> Iterable[Finding]:
    runs = [launch.run for cluster in measured for launch in cluster.launches]
    emulated = [evidence_of(run.job) == "emulated" for run in runs]
    if any(emulated) and not all(emulated):
        yield caution(
            "unlike_evidence",
            f"{sum(emulated)} of {len(runs)} runs were emulated and the others measured, so "
            "their step times cannot be compared.",
            "Emulate all clusters, or none.",
        )
    clocks = {run.job.emulation.time_dilation is None for run in runs if run.job.emulation}
    if len(clocks) > 1:
        yield caution(
            "unlike_scales",
            "Some of the runs are told in cluster time and others, which an older version "
            f"emulated, in {OLD_CLOCK}, so their step times cannot be compared.",
            "Launch all of them again.",
        )
    devices_s = declared_devices_s(runs)
    if len(devices_s) > 1:
        yield caution(
            "unlike_devices",
            f"The emulated devices were declared to take different times ({_listed(devices_s)} "
            "seconds for each step); the speed-up holds for these times only.",
        )
    mechanisms = {cpu_quota_mechanism(run) for run in runs}
    if len(mechanisms) > 1:
        yield caution(
            "unlike_quotas",
            "The CPU quotas of the runs were kept in different ways "
            f"({', '.join(sorted(mechanisms))}), which deliver unlike shares of a core.",
            "Measure again in one go.",
        )
    for cluster in measured[1:]:
        if not did_equal_work(measured[0], cluster):
            yield caution(
                "unlike_work",
                f"A launch of {measured[0].label} took {steps_of_launch(measured[0]):g} steps "
                f"and one of {cluster.label} {steps_of_launch(cluster):g}, so their costs per "
                "job are for different work.",
                "Give all clusters the same number of steps (max_steps, --steps).",
            )
    scripts = {run.job.entry_point for run in runs}
    if len(scripts) > 1:
        yield caution(
            "unlike_scripts",
            f"The clusters ran different scripts ({', '.join(sorted(scripts))}), so clusters "
            "are not all that differs.",
            "Run one script on all clusters.",
        )


def _listed(values: Iterable[float | None]) -> str:
    return ", ".join(sorted("unknown" if x is None else f"{x:.3g}" for x in values))


def declared_devices_s(runs: Iterable[RunRecords]) -> set[float | None]:
    """Return the device times in seconds that runs declare, None among them: one does not."""
    emulations = (run.job.emulation for run in runs)
    return {each.device_step_time_s for each in emulations if each is not None}


def steps_of_launch(measured: MeasuredCluster) -> float:
    """Return the mean number of steps of a launch, warm-up included."""
    launches = measured.launches
    return sum(map(steps_made, launches)) / len(launches)


def did_equal_work(first: MeasuredCluster, second: MeasuredCluster) -> bool:
    """Return whether launches of both clusters took the same number of steps, within 1 %."""
    one, other = steps_of_launch(first), steps_of_launch(second)
    return abs(one - other) <= 0.01 * max(one, other)


def _is_too_short(result: ClusterResult) -> bool:
    """Return whether the quota was looked at for too short a time to tell what it got."""
    return result.cpu_delivered is None and result.cpu_delivered_over_s is not None


def _most_gained(result: ClusterResult) -> float:
    """Return the share of its steps that more CPU time could take away at most.

    No more than the device is idle, and no more than processes waited for a core: who hardly
    asks for CPU time loses nothing by a bad share of it.
    """
    device, delivered = result.utilization.device, result.cpu_delivered_fraction
    idle = 1.0 if device is None else 1 - device
    used = [
        _times(each.cpu_quota_cores, result.utilization.cpu.get(each.instance_group_name))
        for each in result.instance_groups
        for _ in range(each.instance_count)
    ]
    if not delivered or None in used:
        return idle
    return min(idle, sum(filter(None, used)) * (1 / delivered - 1))


def _times(cores: float | None, fraction: float | None) -> float | None:
    return None if cores is None or fraction is None else cores * fraction


def _about_delivered(result: ClusterResult) -> Iterable[Finding]:
    delivered = result.cpu_delivered_fraction
    if delivered is None or delivered >= LEAST_DELIVERED - ROUNDING:
        return
    if _most_gained(result) <= 1 - LEAST_DELIVERED:
        return
    share = f"{100 * delivered:.1f} % of the CPU time that it asked for"
    if _is_too_short(result):
        yield caution(
            "undelivered",
            f"{result.name} got {share}, but this was looked at for "
            f"{result.cpu_delivered_over_s:.1f} s only, too short to tell whether this machine "
            "held it up.",
            f"{MORE_STEPS}.",
        )
        return
    yield caution(
        "undelivered",
        f"{result.name} got {share}, under {100 * LEAST_DELIVERED:.0f} %: this machine was "
        "busy with other work, so its steps took too long.",
        f"Stop other programs, or measure {FEWER_CORES}.",
    )


def _about_cluster(measured: MeasuredCluster, result: ClusterResult) -> Iterable[Finding]:
    yield from (caution("left_out", each) for each in measured.left_out)
    yield from told_by_trainers(measured)
    yield from _about_delivered(result)
    yield from _ended_early(measured)


def _ended_early(measured: MeasuredCluster) -> Iterable[Finding]:
    """Yield that a script made fewer steps than it was asked for, for its shortest launch."""
    steps, run = min(map(steps_made, measured.launches)), measured.launches[0].run
    asked = as_asked(run.job, run.facts).max_steps
    if asked is not None and steps < asked:
        yield ended_early(f"{measured.label} ended after", steps, asked)


def _about_prices(groups: Iterable[GroupResult]) -> Iterable[Finding]:
    told = dict.fromkeys(map(_about_price, groups))
    return (caution("price", sentence) for sentence in told if sentence)


def _about_price(group: GroupResult) -> str | None:
    what = {
        "historical": "is the last one published before the type left the price list",
        "estimated": "is estimated from its EC2 price, not a list price",
        "user": "was given by the user",
    }.get(group.price_kind or "")
    if what is None or group.usd_per_hour is None:
        return None
    return (
        f"The price of {group.instance_type}, {group.usd_per_hour:g} USD per hour, {what} "
        f"({group.price_date})."
    )
