"""Measured steps that are not what a calibration of their script predicts of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.metrics.cautions.limits import LEAST_DELIVERED, LEAST_STEPS, ROUNDING
from smtc_lab.metrics.cautions.long_passes import long_passes
from smtc_lab.metrics.finding import caution
from smtc_lab.metrics.result import NO_CLAIM

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from smtc_lab.metrics.compared.comparison import ClusterResult
    from smtc_lab.metrics.compared.measured_cluster import MeasuredCluster
    from smtc_lab.metrics.finding import Finding
    from smtc_lab.metrics.result import Interval

UNLIKE_PREDICTION = "unlike_prediction"
"""Kind of the caution that a prediction and a measurement exclude each other."""

_WHO_IS_WRONG = (
    "Calibrating again would tell whether the prediction is wrong, and more launches (rounds, "
    "--rounds) whether the measurement is."
)
_UNEXPLAINED = ("Nothing that was recorded explains it.", _WHO_IS_WRONG)
_MORE_STEPS = "More steps in each launch (max_steps, --steps) would tell."


@dataclass(frozen=True, kw_only=True)
class PredictedSteps:
    """What is predicted of a set-up's steps, without having looked at its launches."""

    step_time_s: Interval
    """Step time in seconds, in cluster time where the set-up is emulated."""

    script_num_workers: int | None
    """Data workers that the script gave its dataloader when it was calibrated; None: it leaves
    them to its session, or it is not known."""

    calibrated: str
    """Day of the calibration."""

    was_busy: bool = False
    """Whether the machine was busy with other work when it was calibrated."""


def unlike_predictions(
    measured: Sequence[MeasuredCluster],
    results: Sequence[ClusterResult],
    predicted: Mapping[str, PredictedSteps],
) -> list[Finding]:
    """Return the caution that set-ups are not as predicted, with the likely reason.

    It is of the set-up that is furthest off. The reason is what the records show, and speaks
    for the side on which the measurement lies: passes that outlast the device, a busy machine
    then or at the calibration, data workers that the script does not take, steps that were
    still changing, few steps.

    Args:
        measured: The compared clusters.
        results: What was seen of each.
        predicted: What is predicted, by name; set-ups that are missing are not looked at.

    Returns:
        Nothing where both intervals can be true, or one launch tells nothing of the next.
    """
    pairs = [
        (cluster, result, predicted[result.name])
        for cluster, result in zip(measured, results, strict=True)
        if result.name in predicted
    ]
    unlike = [each for each in pairs if _side(each[1].step_time_s, each[2].step_time_s)]
    if not unlike:
        return []
    cluster, result, said = max(unlike, key=lambda each: _distance(each[1], each[2]))
    others = ""
    if len(unlike) > 1:
        listed = " and ".join(each[1].name for each in unlike if each[1] is not result)
        others = f"; {listed} {'is' if len(unlike) == 2 else 'are'} not as predicted either"
    why, fix = next(_reasons(cluster, result, said), _UNEXPLAINED)
    sentence = (
        f"A step of {result.name} takes {_shown(result.step_time_s)}, but the calibration of "
        f"its script ({said.calibrated}) predicts {_shown(said.step_time_s)}{others}. {why}"
    )
    return [caution(UNLIKE_PREDICTION, sentence, fix)]


def _side(seen: Interval, said: Interval) -> int:
    """Return whether a measurement lies above (1) or below (-1) a prediction; 0: neither."""
    if seen.spread in NO_CLAIM or (seen.low <= said.high and said.low <= seen.high):
        return 0
    return 1 if seen.low > said.high else -1


def _distance(result: ClusterResult, said: PredictedSteps) -> float:
    return abs(float(np.log(result.step_time_s.mean / said.step_time_s.mean)))


def _shown(interval: Interval) -> str:
    mean, low, high = (f"{1e3 * x:.3g}" for x in (interval.mean, interval.low, interval.high))
    return f"{mean} ms ({100 * interval.level:.0f} % interval {low}\N{EN DASH}{high})"


def _reasons(
    cluster: MeasuredCluster, result: ClusterResult, said: PredictedSteps
) -> Iterator[tuple[str, str]]:
    """Yield what the records show that explains it, each with what would tell."""
    is_slower = _side(result.step_time_s, said.step_time_s) > 0
    job, delivered = cluster.launches[0].run.job, result.cpu_delivered_fraction
    asked, own = job.num_loader_workers, said.script_num_workers
    if is_slower and (passes := long_passes(job, cluster.launches)):
        yield "Likely its passes outlast the declared device.", passes.fix
    if is_slower and delivered is not None and delivered < LEAST_DELIVERED - ROUNDING:
        share = f"{100 * delivered:.0f} % of the CPU time that it asked for"
        why = f"Likely this machine was busy with other work: it got {share}."
        yield why, "The same comparison on a quieter machine would tell."
    if not is_slower and said.was_busy:
        why = "Likely this machine was busy with other work when the script was calibrated."
        yield why, "Calibrating again on a quieter machine would tell."
    if asked is not None and own is not None and (asked > own if is_slower else asked < own):
        why = (
            f"Likely it has the {own} data workers that the script gives its dataloader "
            f"(num_workers), and not the {asked} that the job asks for and that are predicted."
        )
        yield why, "A comparison without num_loader_workers (--loader-workers) would tell."
    if not cluster.is_settled and _comes_nearer(cluster, said):
        why = "Likely it was still warming up: its last steps are nearer to the prediction."
        yield why, _MORE_STEPS
    if result.steps < LEAST_STEPS:
        yield f"Likely its {result.steps} measured steps are too few.", _MORE_STEPS


def _comes_nearer(cluster: MeasuredCluster, said: PredictedSteps) -> bool:
    """Return whether the last third of the steps is nearer to a prediction than all."""
    times_s = cluster.step_times_s
    last_s = np.mean([each[-max(1, len(each) // 3) :].mean() for each in times_s])
    whole_s, predicted_s = np.concatenate(times_s).mean(), said.step_time_s.mean
    return bool(abs(last_s - predicted_s) < abs(whole_s - predicted_s))
