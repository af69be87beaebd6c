"""The table of set-ups of a study, of all steps so far, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.machine.environments.named import TODAY
from smtc_lab.metrics.communication.spread import spread_of
from smtc_lab.metrics.cost import saving_interval, usd_of_run, usd_per_1000_steps
from smtc_lab.metrics.result import evidence_of
from smtc_lab.views.study.info import RowInfo
from smtc_lab.views.text import cells
from smtc_lab.views.text import format as fmt
from smtc_lab.views.text.bill import (
    COST_LABEL,
    TIME_LABEL,
    cost_lines,
    tells_bills,
    time_lines,
)

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
    spreads = [spread_of(job, each.trainers) for job, each in zip(jobs, estimates, strict=True)]

    def row(label: str, cell: Callable[[int], tuple[str, ...]]) -> RowInfo:
        return RowInfo(label=label, cells=tuple(cell(place) for place in places))

    def saved(i: int) -> tuple[str, ...]:
        return (_saving(speedups[i], prices[0], prices[i]),) if i else _BASELINE

    rows = [
        *evidence_rows(jobs),
        row("instances", lambda i: _instances(jobs[i])),
        *(
            [row(cells.TRAINERS_LABEL, lambda i: cells.trainers(spreads[i]))]
            if any(each.is_told for each in spreads)
            else []
        ),
        *(
            [row("Python environment", lambda i: (environments[i] or TODAY,))]
            if len(set(environments)) > 1
            else []
        ),
        row("steps", lambda i: _steps(estimates[i])),
        row("s/step", lambda i: (fmt.number_interval(estimates[i].step_time_s),)),
    ]
    if speedups:
        rows.append(
            row(cells.SPEEDUP_LABEL, lambda i: _speedup(speedups[i]) if i else _BASELINE)
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
            *([row(cells.SAVING_LABEL, saved)] if speedups else []),
            row("cost so far", lambda i: (_cost(jobs[i], prices[i], estimates[i]),)),
        ]
    return (
        *rows,
        *_rows_of_launches(prices, estimates),
        row("data wait", lambda i: (fmt.percent(estimates[i].data_wait_fraction),)),
        row("CPU utilization", lambda i: _cpu(estimates[i])),
        row("device utilization", lambda i: (fmt.percent(estimates[i].device_fraction),)),
    )


def evidence_rows(jobs: Sequence[TrainingJob]) -> list[RowInfo]:
    """Return what the numbers of each set-up are, where they are not alike.

    Where they are, it is said once, beside the sentence.
    """
    found = [evidence_of(job) for job in jobs]
    if len(set(found)) < 2:
        return []
    return [RowInfo(label="numbers are", cells=tuple((each,) for each in found))]


def _rows_of_launches(
    prices: Sequence[float | None], estimates: Sequence[SetUpEstimate]
) -> list[RowInfo]:
    """Return where the billed time goes, and who prepared the batches, where it is known."""

    def row(label: str, cell: Callable[[SetUpEstimate], tuple[str, ...]]) -> RowInfo:
        return RowInfo(label=label, cells=tuple(map(cell, estimates)))

    rows = []
    if any(each.exposed_comm_s is not None for each in estimates):
        told = row(
            cells.EXPOSED_LABEL, lambda e: cells.exposed(e.exposed_comm_s, e.step_time_s)
        )
        rows.append(told)
    if tells_bills(each.bill for each in estimates):
        rows.append(row(TIME_LABEL, lambda e: time_lines(e.bill, e.bill_intervals)))
        if any(price is not None for price in prices):
            rows.append(row(COST_LABEL, lambda e: cost_lines(e.bill, e.bill_intervals)))
    if any(each.batches for each in estimates):
        rows.append(row(cells.BATCHES_LABEL, lambda e: cells.batches(e.batches)))
        rows.append(row(cells.DATALOADER_LABEL, lambda e: cells.dataloader(e.dataloader)))
    return rows


def _steps(estimate: SetUpEstimate) -> tuple[str, ...]:
    return (f"{estimate.steps:,}", *cells.warm_up(estimate.warm_up_steps))


def _instances(job: TrainingJob) -> tuple[str, ...]:
    return tuple(
        f"{group.instance_count} {fmt.TIMES} {group.instance_type}, {group.instance_group_name}"
        for group in job.cluster.instance_groups
    )


def _speedup(speedup: Interval | None) -> tuple[str, ...]:
    return (cells.over_launches(fmt.times_interval, speedup),)


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
    return cells.over_launches(fmt.percent_interval, saving)


def _cost(job: TrainingJob, usd_per_hour: float | None, estimate: SetUpEstimate) -> str:
    """Return the cost of all launches; of emulated ones, of what is on the model's scale."""
    evidence = evidence_of(job)
    usd = usd_of_run(
        evidence=evidence,
        whole_s=estimate.billed_s,
        steps_s=estimate.stepping_s,
        usd_per_hour=usd_per_hour,
    )
    return f"steps {fmt.usd(usd)}" if evidence == "emulated" else fmt.usd(usd)


def _cpu(estimate: SetUpEstimate) -> tuple[str, ...]:
    return tuple(
        f"{fmt.percent(fraction)}, {group}" for group, fraction in estimate.cpu.items()
    )
