"""The table of set-ups of a study, of all steps so far, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from smtc_lab.machine.environments.named import TODAY
from smtc_lab.metrics.cost import saving_interval, usd_per_1000_steps
from smtc_lab.views.study.info import RowInfo
from smtc_lab.views.text import format as fmt

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from smtc_lab.metrics.result import Interval
    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.views.study.estimate import SetUpEstimate

_BASELINE = ("baseline",)


def live_rows(
    jobs: Sequence[TrainingJob],
    prices: Sequence[float | None],
    estimates: Sequence[SetUpEstimate],
    environments: Sequence[str],
    speedups: Sequence[Interval | None] = (),
) -> tuple[RowInfo, ...]:
    """Return the table while launches run, of all steps so far.

    Args:
        jobs: The set-ups; the baseline first, where there is one.
        prices: Price of each set-up per hour in USD; None: unknown.
        estimates: What is seen of each so far.
        environments: Python environment of each; empty: the one that launches.
        speedups: Of each set-up against the baseline; None: the baseline, or not yet known.
            Empty: they are not compared.
    """
    places = range(len(jobs))

    def row(label: str, cell: Callable[[int], tuple[str, ...]]) -> RowInfo:
        return RowInfo(label=label, cells=tuple(cell(place) for place in places))

    def saved(i: int) -> tuple[str, ...]:
        return (_saving(speedups[i], prices[0], prices[i]),) if i else _BASELINE

    rows = [
        row("numbers are", lambda i: (evidence_of(jobs[i]),)),
        row("instances", lambda i: _instances(jobs[i])),
        *(
            [row("Python environment", lambda i: (environments[i] or TODAY,))]
            if len(set(environments)) > 1
            else []
        ),
        row("steps", lambda i: (f"{estimates[i].steps:,}",)),
        row("s/step", lambda i: (fmt.number_interval(estimates[i].step_time_s),)),
    ]
    if speedups:
        rows.append(
            row("speed-up", lambda i: (fmt.times_interval(speedups[i]),) if i else _BASELINE)
        )
    if any(price is not None for price in prices):
        costs = [
            usd_per_1000_steps(step_time_s=each.step_time_s, usd_per_hour=price)
            if each.step_time_s is not None
            else None
            for each, price in zip(estimates, prices, strict=True)
        ]
        rows += [
            row("$/h", lambda i: (fmt.price_digits(prices[i]),)),
            row("$/1,000 steps", lambda i: (fmt.usd_interval(costs[i], symbol=False),)),
            *([row("saving per step", saved)] if speedups else []),
            row("cost so far", lambda i: (_cost(prices[i], estimates[i].billed_s),)),
        ]
    return (
        *rows,
        row("data wait", lambda i: (fmt.percent(estimates[i].data_wait_fraction),)),
        row("CPU utilization", lambda i: _cpu(estimates[i])),
        row("device utilization", lambda i: (fmt.percent(estimates[i].device_fraction),)),
    )


def evidence_of(job: TrainingJob) -> Literal["measured", "emulated"]:
    """Return what the numbers of a job are."""
    return "measured" if job.emulation is None else "emulated"


def _instances(job: TrainingJob) -> tuple[str, ...]:
    return tuple(
        f"{group.instance_count} {fmt.TIMES} {group.instance_type}, {group.instance_group_name}"
        for group in job.cluster.instance_groups
    )


def _saving(
    speedup: Interval | None, baseline_usd: float | None, candidate_usd: float | None
) -> str:
    if speedup is None:
        return fmt.UNKNOWN
    saving = saving_interval(
        speedup=speedup,
        baseline_usd_per_hour=baseline_usd,
        candidate_usd_per_hour=candidate_usd,
    )
    return fmt.percent_interval(saving)


def _cost(usd_per_hour: float | None, billed_s: float) -> str:
    return fmt.usd(None if usd_per_hour is None else usd_per_hour * billed_s / 3600)


def _cpu(estimate: SetUpEstimate) -> tuple[str, ...]:
    return tuple(
        f"{fmt.percent(fraction)}, {group}" for group, fraction in estimate.cpu.items()
    )
