"""The table of set-ups of a comparison, while it runs and when it has ended, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.machine.environments.named import TODAY
from smtc_lab.metrics.cost import saving_interval, usd_per_1000_steps
from smtc_lab.views import format as fmt
from smtc_lab.views.live.comparison_info import RowInfo
from smtc_lab.views.table import comparison_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from smtc_lab.metrics.comparison import Comparison
    from smtc_lab.metrics.result import Interval
    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.views.live.comparison_estimate import SetUpEstimate

_BASELINE = ("baseline",)
_OF_COMPILERS = frozenset({"first steps' overhead (s)", "break-even step"})


def live_rows(
    jobs: Sequence[TrainingJob],
    prices: Sequence[float | None],
    estimates: Sequence[SetUpEstimate],
    speedups: Sequence[Interval | None],
    environments: Sequence[str],
) -> tuple[RowInfo, ...]:
    """Return the table while launches run, of all steps so far.

    Args:
        jobs: What is compared, the baseline first.
        prices: Price of each set-up per hour in USD; None: unknown.
        estimates: What is seen of each so far.
        speedups: Of each set-up against the baseline; None: the baseline, or not yet known.
        environments: Python environment of each; empty: the one that launches.
    """
    places = range(len(jobs))

    def row(label: str, cell: Callable[[int], tuple[str, ...]]) -> RowInfo:
        return RowInfo(label=label, cells=tuple(cell(place) for place in places))

    rows = [
        row("numbers are", lambda i: (_evidence(jobs[i]),)),
        row("instances", lambda i: _instances(jobs[i])),
        *(
            [row("Python environment", lambda i: (environments[i] or TODAY,))]
            if len(set(environments)) > 1
            else []
        ),
        row("steps", lambda i: (f"{estimates[i].steps:,}",)),
        row("s/step", lambda i: (fmt.number_interval(estimates[i].step_time_s),)),
        row("speed-up", lambda i: (fmt.times_interval(speedups[i]),) if i else _BASELINE),
    ]
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
            row(
                "saving per step",
                lambda i: (_saving(speedups[i], prices[0], prices[i]),) if i else _BASELINE,
            ),
            row("cost so far", lambda i: (_cost(prices[i], estimates[i].billed_s),)),
        ]
    return (
        *rows,
        row("data wait", lambda i: (fmt.percent(estimates[i].data_wait_fraction),)),
        row("CPU utilization", lambda i: _cpu(estimates[i])),
        row("device utilization", lambda i: (fmt.percent(estimates[i].device_fraction),)),
    )


def final_rows(comparison: Comparison, jobs: Sequence[TrainingJob]) -> tuple[RowInfo, ...]:
    """Return the table of the result, one column for each job.

    Args:
        comparison: The result; a job that failed in it has no column there.
        jobs: What was compared, the baseline first.
    """
    places = {cluster.name: place for place, cluster in enumerate(comparison.clusters)}
    columns = [places.get(job.cluster.label) for job in jobs]
    evidence = RowInfo(label="numbers are", cells=tuple((_evidence(job),) for job in jobs))
    return (
        evidence,
        *(
            RowInfo(
                label=row.label,
                cells=tuple(
                    ("left out",) if place is None else row.cells[place] for place in columns
                ),
            )
            for row in comparison_rows(comparison)
        ),
    )


def compiler_rows(
    interim: Comparison | None, jobs: Sequence[TrainingJob]
) -> tuple[RowInfo, ...]:
    """Return what complete rounds say of compilers: whole launches tell it, steps do not.

    Args:
        interim: The comparison of the complete rounds; None: there is none.
        jobs: What is compared, the baseline first.
    """
    if interim is None:
        return ()
    return tuple(row for row in final_rows(interim, jobs) if row.label in _OF_COMPILERS)


def _evidence(job: TrainingJob) -> str:
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
