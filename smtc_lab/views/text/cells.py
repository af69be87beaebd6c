"""What stands in the cells of a comparison's table, one or more lines each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.utilization import LEAST_DELIVERED_S
from smtc_lab.views.text import format as fmt
from smtc_lab.views.text.bill import cost_lines, time_lines
from smtc_lab.views.text.words import ONE_LAUNCH, cost_finding, speed_finding

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from smtc_lab.metrics.compared.comparison import ClusterResult, Dataloader, PairResult

BATCHES_LABEL = "batches prepared"
"""What a row of who prepared the batches is called."""

DATALOADER_LABEL = "dataloader"
"""What a row of whose dataloader they came through is called."""

Lines = tuple[str, ...]
"""The lines of one cell."""


def percent(cluster: ClusterResult, name: str, fraction: float | None) -> str:
    """Return a share of a cluster by its name among the intervals, with its interval."""
    interval = cluster.intervals.get(name)
    return fmt.percent(fraction) if interval is None else fmt.percent_interval(interval)


def device(cluster: ClusterResult) -> Lines:
    """Return how busy the accelerators were."""
    return (percent(cluster, "utilization.device", cluster.utilization.device),)


def usd_per_job(cluster: ClusterResult) -> Lines:
    """Return what a launch cost."""
    interval = cluster.intervals.get("usd_per_job")
    told = fmt.usd(cluster.usd_per_job) if interval is None else fmt.usd_interval(interval)
    return (told,)


def startup(cluster: ClusterResult) -> Lines:
    """Return the time to the first step."""
    interval = cluster.intervals.get("startup_s")
    if interval is None:
        return (fmt.seconds(cluster.startup_s),)
    return (fmt.seconds_interval(interval),)


def time_parts(cluster: ClusterResult) -> Lines:
    """Return where the billed time of a launch went."""
    return time_lines(cluster.bill, cluster.intervals)


def cost_parts(cluster: ClusterResult) -> Lines:
    """Return what the parts of a launch cost."""
    return cost_lines(cluster.bill, cluster.intervals)


def instances(cluster: ClusterResult) -> Lines:
    """Return the instances of each group."""
    return tuple(
        f"{fmt.instances(group)}, {fmt.plain(group.instance_group_name)}"
        for group in cluster.instance_groups
    ) or (fmt.UNKNOWN,)


def steps(cluster: ClusterResult) -> Lines:
    """Return the measured steps and launches."""
    return (f"{cluster.steps:,} in {fmt.count(cluster.launches, 'launch')}",)


def usd_per_1000_steps(cluster: ClusterResult) -> Lines:
    """Return the cost of 1,000 steps, without the sign."""
    return (fmt.usd_interval(cluster.usd_per_1000_steps, symbol=False),)


def cpu(cluster: ClusterResult) -> Lines:
    """Return how busy the CPUs of each group were."""
    return tuple(
        f"{percent(cluster, f'utilization.cpu.{name}', fraction)}, {fmt.plain(name)}"
        for name, fraction in cluster.utilization.cpu.items()
    ) or (fmt.UNKNOWN,)


def batches(by_group: Mapping[str, int]) -> Lines:
    """Return who prepared how many batches; none where a script asked for none."""
    total = sum(by_group.values())
    return tuple(
        f"{count:,}{f' ({fmt.percent(count / total)})' if total else ''}, {fmt.plain(name)}"
        for name, count in by_group.items()
    ) or (fmt.UNKNOWN,)


def dataloader(whose: Dataloader | None) -> Lines:
    """Return whose dataloader the batches came through."""
    told = {"torch": "torch's own", "smtc_lab": "smtc_lab's"}
    return (fmt.UNKNOWN if whose is None else told[whose],)


def delivered(cluster: ClusterResult) -> Lines:
    """Return the share of the asked CPU time that was delivered."""
    if cluster.cpu_delivered_fraction is None:
        return ("no quota",)
    mechanism = f"by {fmt.plain(cluster.cpu_quota_mechanism)}"
    over_s = cluster.cpu_delivered_over_s
    if cluster.cpu_delivered is not None:
        return (f"{fmt.percent_interval(cluster.cpu_delivered)}, {mechanism}",)
    if over_s is not None and over_s < LEAST_DELIVERED_S:
        return (f"too short to tell ({fmt.seconds(over_s)}), {mechanism}",)
    fraction = percent(cluster, "cpu_delivered_fraction", cluster.cpu_delivered_fraction)
    return (f"{fraction}, {mechanism}",)


def speedup(pair: PairResult) -> Lines:
    """Return the speed-up, and whether it is one."""
    return (fmt.times_interval(pair.speedup), *_unseen(speed_finding(pair.speedup)))


def saving(pair: PairResult) -> Lines:
    """Return the saving per step, and whether it is one."""
    if pair.saving_fraction is None:
        return (fmt.UNKNOWN,)
    finding = cost_finding(pair.saving_fraction)
    return (fmt.percent_interval(pair.saving_fraction), *_unseen(finding))


def _unseen(finding: str) -> Lines:
    """Return the line that keeps a reader from taking noise for a difference."""
    if finding == ONE_LAUNCH:
        return (finding,)
    return ("no difference seen",) if finding.startswith("no difference") else ()


def pair_cells(
    pairs: Sequence[PairResult | None], lines: Callable[[PairResult], Lines]
) -> tuple[Lines, ...]:
    """Return the cells of a row about pairs; the baseline's says so."""
    return tuple(lines(pair) if pair is not None else ("baseline",) for pair in pairs)
