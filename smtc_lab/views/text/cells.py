"""What stands in the cells of a comparison's table, one or more lines each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.utilization import LEAST_DELIVERED_S
from smtc_lab.views.text import format as fmt
from smtc_lab.views.text.bill import cost_lines, time_lines
from smtc_lab.views.text.words import ONE_LAUNCH, cost_finding, pair_speed_finding

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from smtc_lab.metrics.communication.spread import SpreadResult
    from smtc_lab.metrics.compared.comparison import ClusterResult, Dataloader
    from smtc_lab.metrics.compared.pair_result import PairResult
    from smtc_lab.metrics.result import Interval
    from smtc_lab.views.text.set_ups import SetUp, SetUpEstimate

BATCHES_LABEL = "batches prepared"
"""What a row of who prepared the batches is called."""

DATALOADER_LABEL = "dataloader"
"""What a row of whose dataloader they came through is called."""

STEP_TIME_LABEL = "s/step"
"""What the row of mean step times is called."""

SPEEDUP_LABEL = "speed-up"
"""What the row of step times against the baseline is called."""

SAVING_LABEL = "saving per step"
"""What the row of costs per step against the baseline is called."""

TRAINERS_LABEL = "trainers"
"""What the row of how jobs are spread is called."""

EXPOSED_LABEL = "exposed communication (ms/step)"
"""What the row of communication beside which nothing was computed is called."""

Lines = tuple[str, ...]
"""The lines of one cell."""


def percent(cluster: SetUp, name: str, fraction: float | None) -> str:
    """Return a share of a cluster by its name among the intervals, with its interval."""
    interval = cluster.intervals.get(name)
    return fmt.percent(fraction) if interval is None else fmt.percent_interval(interval)


def device(cluster: SetUp) -> Lines:
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


def time_parts(cluster: SetUp) -> Lines:
    """Return where the billed time of a launch went."""
    return time_lines(cluster.bill, cluster.intervals)


def cost_parts(cluster: SetUp) -> Lines:
    """Return what the parts of a launch cost."""
    return cost_lines(cluster.bill, cluster.intervals)


def instances(cluster: SetUp) -> Lines:
    """Return the instances of each group."""
    return tuple(
        f"{fmt.instances(group)}, {fmt.plain(group.instance_group_name)}"
        for group in cluster.instance_groups
    ) or (fmt.UNKNOWN,)


def steps(cluster: SetUp) -> Lines:
    """Return the measured steps and launches."""
    told = f"{cluster.steps:,} in {fmt.count(cluster.launches, 'launch')}"
    return (told, *warm_up(sum(cluster.warm_up_steps)))


def warm_up(steps: int) -> Lines:
    """Return the line that says why there are fewer steps than the launches made."""
    return (f"{steps:,} of warm-up left out",) if steps else ()


def usd_per_1000_steps(cluster: SetUp) -> Lines:
    """Return the cost of 1,000 steps, without the sign."""
    return (fmt.usd_interval(cluster.usd_per_1000_steps, symbol=False),)


def samples_per_s(cluster: ClusterResult) -> Lines:
    """Return the samples a second of the whole job."""
    return (fmt.number_interval(cluster.samples_per_s),)


def cost_so_far(estimate: SetUpEstimate) -> Lines:
    """Return the cost of all launches; of emulated ones, of what is on the model's scale."""
    usd = fmt.usd(estimate.usd_so_far)
    return (f"steps {usd}" if estimate.evidence == "emulated" else usd,)


def data_wait(cluster: SetUp) -> Lines:
    """Return the share of the step time in which trainers waited for a batch."""
    return (percent(cluster, "data_wait_fraction", cluster.data_wait_fraction),)


def cpu(cluster: SetUp) -> Lines:
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


def trainers(spread: SpreadResult | None) -> Lines:
    """Return how many trainers there are, and how they share the model, in the job's terms."""
    if spread is None:
        return (fmt.UNKNOWN,)
    factors = {"data": spread.data, "shard": spread.shard, "pipeline": spread.pipeline}
    told = {name: each for name, each in factors.items() if each is not None and each > 1}
    words = f" {fmt.TIMES} ".join(f"{name} {each}" for name, each in told.items())
    if not words and spread.data is None and spread.trainers not in {None, 1}:
        words = "no distribution"
    count = "" if spread.trainers is None else str(spread.trainers)
    lines = [": ".join(filter(None, (count, words))) or fmt.UNKNOWN]
    if spread.microbatches is not None:
        lines.append(f"{spread.microbatches} microbatches, {spread.schedule}")
    return tuple(lines)


def over_launches(write: Callable[[Interval | None], str], interval: Interval | None) -> str:
    """Return a number that more launches would tell better: one launch has no interval.

    Args:
        write: Writes an interval, as functions of ``format`` do.
        interval: What is written; its steps alone tell nothing of the next launch.
    """
    if interval is None or interval.spread not in {"steps", "none"}:
        return write(interval)
    return write(interval.model_copy(update={"spread": "none"})).replace(
        fmt.ONE_VALUE, "(one launch)"
    )


def exposed(exposed_s: Interval | None, step_time_s: Interval | None) -> Lines:
    """Return the exposed communication of a step, and its share of the step."""
    if exposed_s is None or step_time_s is None:
        return ("none recorded",)
    share = fmt.percent(exposed_s.mean / step_time_s.mean)
    told = over_launches(fmt.number_interval, exposed_s.scaled(1000))
    return (f"{told}, {share} of it",)


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
    if pair.trains_apart:
        return ("none claimed",)
    return (
        over_launches(fmt.times_interval, pair.judged_speedup),
        *_per_sample(pair, "samples a second"),
        *_unseen(pair_speed_finding(pair)),
    )


def saving(pair: PairResult) -> Lines:
    """Return the saving per step, and whether it is one."""
    saving = pair.judged_saving
    if pair.trains_apart:
        return ("none claimed",)
    if saving is None:
        return (fmt.UNKNOWN,)
    return (
        over_launches(fmt.percent_interval, saving),
        *_per_sample(pair, "per sample"),
        *_unseen(cost_finding(saving)),
    )


def _per_sample(pair: PairResult, words: str) -> Lines:
    """Return the line that says so where a pair is judged per sample."""
    return (words,) if pair.unit == "sample" else ()


def _unseen(finding: str) -> Lines:
    """Return the line that keeps a reader from taking noise for a difference."""
    if finding == ONE_LAUNCH:
        return (finding,)
    return ("no difference seen",) if finding.startswith("no difference") else ()


def pair_cells(
    pairs: Sequence[PairResult | None], lines: Callable[[PairResult], Lines]
) -> tuple[Lines, ...]:
    """Return the cells of a row about pairs, the baseline's first; None: not known yet."""
    told = [(fmt.UNKNOWN,) if pair is None else lines(pair) for pair in pairs]
    return (("baseline",), *told)
