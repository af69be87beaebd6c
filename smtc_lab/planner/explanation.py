"""What bounds a step of a planned cluster, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.planner.advice import start_workers
from smtc_lab.planner.offers import computes_on_cpu
from smtc_lab.planner.words.limiting_workers import feeder_words, limiting_workers
from smtc_lab.planner.words.told_advice import seconds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from smtc_lab.metrics.result import Interval
    from smtc_lab.planner.model.prediction import Bottleneck, Candidate
    from smtc_lab.planner.planned_candidate import PlannedCandidate
    from smtc_lab.planner.words.told_advice import Advice

_BOUND: Mapping[Bottleneck, str] = {
    "cpu": "CPU-bound",
    "network": "network-bound",
    "serial": "bound by the trainer's own thread",
    "device": "device-bound",
}


GIVE_DEVICE_TIMES = "calibrate where one is, or give device_s, seconds of a step by accelerator"
"""What makes accelerators comparable that were not calibrated."""


def explanation_of(
    planned: PlannedCandidate, start: Candidate, advice: Sequence[Advice]
) -> str:
    """Return what bounds the training group alone, then what to do, one line each.

    Args:
        planned: The cluster.
        start: Its training group alone.
        advice: What to try.
    """
    lines = [_first(planned, start)]
    own = [each for each in advice if each.kind == "data_group"]
    others = [each for each in advice if each.kind != "data_group"]
    if planned.candidate.is_heterogeneous:
        lines += [each.sentence.replace("Add ", "Adding ", 1) for each in own]
        if own:
            lines.append(f"It is then {_BOUND[planned.prediction.bottleneck]}.")
    else:
        others = list(advice)
    if others:
        lines.append("To try, in this order:")
        for number, each in enumerate(others, start=1):
            lines += [f"{number}. {each.sentence}", *filter(None, [each.action])]
    lines += _exchange(planned)
    lines += _job(planned)
    lines += [f"Unknown: {sentence}" for sentence in planned.prediction.unknown]
    lines += [f"Note: {sentence}" for sentence in planned.prediction.cautions]
    lines.append(_price(planned.candidate))
    return "\n".join(lines)


def _first(planned: PlannedCandidate, start: Candidate) -> str:
    outlook, said = planned.outlook, start.prediction
    group = start.cluster.instance_groups[0]
    row = outlook.offers.row_of[group.instance_type]
    vcpus = group.instance_count * outlook.offers.vcpus[row]
    busy = 100 * (said.utilization["device"] or 0.0)
    is_cpu_step = computes_on_cpu(outlook.calibration) and bool(outlook.offers.is_cpu[row])
    bound = _BOUND[said.bottleneck]
    bound = f"{bound[0].upper()}{bound[1:]}"
    tie = " (nearly tied with the next)" if said.is_near_tie else ""
    time = (
        f"A step of {group.instance_type} takes {seconds(said.step_time_s)} ({said.evidence})."
    )
    workers = limiting_workers(start_workers(planned), outlook.offers.vcpus[row])
    who = feeder_words(workers, vcpus)
    if said.bottleneck == "cpu":
        verb = "feeds" if workers == 1 else "feed"
        return f"{bound}{tie}: {who} {verb} {busy:.0f} % of the devices. {time}"
    if is_cpu_step and said.bottleneck == "device" and not outlook.settings.device_s:
        return (
            f"Bound by the step itself{tie}, which CPUs compute in {busy:.0f} % of its time. "
            "Whether an accelerator is cheaper, and then a data group, this calibration does "
            f"not say: {GIVE_DEVICE_TIMES}. {time}"
        )
    cpu_s, step_s = said.stages_s["cpu"] or 0.0, said.step_time_s.mean
    no_group = ""
    if cpu_s and workers != 0:  # trainers that prepare samples themselves wait for each
        feeders = who if workers is None else f"Its {who}"
        spare = f"{feeders} could feed {_times(step_s / cpu_s)} times as much"
        no_group = f"{spare}, so a data group would only add cost. "
    return f"{bound}{tie}: the devices work in {busy:.0f} % of each step. {no_group}{time}"


def _times(factor: float) -> str:
    return f"{factor:.2g}" if factor < 99.5 else f"{factor:,.0f}"


def _job(planned: PlannedCandidate) -> list[str]:
    """Return the parts of the whole job, where its steps are given."""
    steps, parts = steps_of(planned), planned.prediction.parts
    if steps is None or parts is None:
        return []

    def words(name: str, part_s: Interval | None, part_usd: Interval | None) -> str:
        if part_s is None:
            return f"{name} unknown"
        usd = "" if part_usd is None else f", ${part_usd.mean:.3g}"
        return f"{name} {seconds(part_s)}{usd}"

    told = (
        words("start-up", parts.startup_s, parts.startup_usd),
        words("steps", parts.steps_s, parts.steps_usd),
        words("end", parts.end_s, parts.end_usd),
    )
    about_end = "" if parts.end_s is None else " (estimated, without what the script saves)"
    lines = [f"A job of {steps:,} steps: {'; '.join(told)}{about_end}."]
    deadline_s, job_s = planned.outlook.settings.deadline_s, parts.whole_s
    if deadline_s is not None and job_s.mean <= deadline_s < job_s.high:
        late_s = job_s.high - deadline_s
        lines.append(
            f"It is expected to end in time; its interval reaches {late_s:.3g} s beyond that."
        )
    return lines


def _exchange(planned: PlannedCandidate) -> list[str]:
    """Return what ranks wait for each other's gradients, where there are several."""
    found, spread = planned.prediction.exchange, planned.candidate.distribution
    if found is None or spread is None:
        return []
    hidden = 1 - found.exposed_s / found.all_reduce_s
    all_reduce = f"{1e3 * found.all_reduce_s:.3g} ms of each step"
    return [
        f"{spread.data} devices exchange gradients in {all_reduce}: {hidden:.0%} is hidden."
    ]


def steps_of(planned: PlannedCandidate) -> int | None:
    """Return the steps that the plan's job has on this cluster; None: not given."""
    row = planned.outlook.clusters_of(planned.candidate.cluster)
    steps = planned.outlook.steps(row)
    return None if steps is None else int(steps[0])


def _price(candidate: Candidate) -> str:
    usd = candidate.prediction.usd_per_hour
    if usd is None:
        return "Price: unknown."
    old = ", older than 90 days" if candidate.is_price_old else ""
    return (
        f"Price: ${usd:,.2f} an hour ({candidate.price_kind}, {candidate.price_date}{old}); "
        f"{candidate.cluster}."
    )
