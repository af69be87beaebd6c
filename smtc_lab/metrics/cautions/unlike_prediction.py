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

    from numpy.typing import NDArray

    from smtc_lab.metrics.finding import Finding
    from smtc_lab.metrics.measured_columns import MeasuredColumns
    from smtc_lab.metrics.result import Interval
    from smtc_lab.spec.job import TrainingJob

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


@dataclass(frozen=True, kw_only=True)
class MeasuredSteps:
    """What was seen of a set-up's steps."""

    name: str
    """What tables call it."""

    job: TrainingJob
    """What was launched."""

    launches: Sequence[MeasuredColumns]
    """Its launches, in cluster time, at least one."""

    step_time_s: Interval
    """Step time in seconds."""

    cpu_delivered_fraction: float | None
    """CPU time delivered over CPU time asked; None: no quota."""

    is_settled: bool
    """Whether its steps look settled behind the warm-up."""

    @property
    def step_times_s(self) -> list[NDArray[np.float64]]:
        """Step times of each launch in seconds, each of shape (S,)."""
        return [each.step_time_s for each in self.launches]


def unlike_predictions(
    measured: Sequence[MeasuredSteps], predicted: Mapping[str, PredictedSteps]
) -> list[Finding]:
    """Return the caution that set-ups are not as predicted, with the likely reason.

    It is of the set-up that is furthest off. The reason is what the records show, and speaks
    for the side on which the measurement lies: passes that outlast the device, a busy machine
    then or at the calibration, data workers that the script does not take, steps that were
    still changing, few steps.

    Args:
        measured: The compared set-ups.
        predicted: What is predicted, by name; set-ups that are missing are not looked at.

    Returns:
        Nothing where both intervals can be true, or one launch tells nothing of the next.
    """
    pairs = [(seen, predicted[seen.name]) for seen in measured if seen.name in predicted]
    unlike = [each for each in pairs if _side(*each)]
    if not unlike:
        return []
    seen, said = max(unlike, key=lambda each: _distance(*each))
    others = ""
    if len(unlike) > 1:
        listed = " and ".join(each.name for each, _ in unlike if each is not seen)
        others = f"; {listed} {'is' if len(unlike) == 2 else 'are'} not as predicted either"
    why, fix = next(_reasons(seen, said), _UNEXPLAINED)
    sentence = (
        f"A step of {seen.name} takes {_shown(seen.step_time_s)}, but the calibration of "
        f"its script ({said.calibrated}) predicts {_shown(said.step_time_s)}{others}. {why}"
    )
    return [caution(UNLIKE_PREDICTION, sentence, fix)]


def _side(seen: MeasuredSteps, said: PredictedSteps) -> int:
    """Return whether a measurement lies above (1) or below (-1) a prediction; 0: neither."""
    own, other = seen.step_time_s, said.step_time_s
    if own.spread in NO_CLAIM or (own.low <= other.high and other.low <= own.high):
        return 0
    return 1 if own.low > other.high else -1


def _distance(seen: MeasuredSteps, said: PredictedSteps) -> float:
    return abs(float(np.log(seen.step_time_s.mean / said.step_time_s.mean)))


def _shown(interval: Interval) -> str:
    mean, low, high = (f"{1e3 * x:.3g}" for x in (interval.mean, interval.low, interval.high))
    return f"{mean} ms ({100 * interval.level:.0f} % interval {low}\N{EN DASH}{high})"


def _reasons(seen: MeasuredSteps, said: PredictedSteps) -> Iterator[tuple[str, str]]:
    """Yield what the records show that explains it, each with what would tell."""
    is_slower = _side(seen, said) > 0
    job, delivered = seen.job, seen.cpu_delivered_fraction
    asked, own = job.num_loader_workers, said.script_num_workers
    if is_slower and (passes := long_passes(job, seen.launches)):
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
    if not seen.is_settled and _comes_nearer(seen, said):
        why = "Likely it was still warming up: its last steps are nearer to the prediction."
        yield why, _MORE_STEPS
    num_steps = sum(map(len, seen.step_times_s))
    if num_steps < LEAST_STEPS:
        yield f"Likely its {num_steps} measured steps are too few.", _MORE_STEPS


def _comes_nearer(seen: MeasuredSteps, said: PredictedSteps) -> bool:
    """Return whether the last third of the steps is nearer to a prediction than all."""
    times_s = seen.step_times_s
    last_s = np.mean([each[-max(1, len(each) // 3) :].mean() for each in times_s])
    whole_s, predicted_s = np.concatenate(times_s).mean(), said.step_time_s.mean
    return bool(abs(last_s - predicted_s) < abs(whole_s - predicted_s))
