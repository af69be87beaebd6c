"""Whether several trainers train the model that one process trains with their whole batch.

Sums in another order differ in the last digits, and training multiplies that: by little under
SGD, by hundreds under AdamW, by a million in a network with batch norm. So no fixed number
tells right from wrong. One process is run once more, with the samples of each batch permuted:
its *twin* is right by definition, and differs by nothing but the order of sums. Trainers that
are right lie as far away as the twin, within a small factor.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.metrics.parity import shown, unlike_parameters, weight_distance
from smtc_lab.metrics.result import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from smtc_lab.metrics.parity import ParityTrace

MARGIN = 3.0
"""How many times the twin's distance still counts as the same model."""

_LOSS_MARGIN = 10.0  # a loss is one number, whose differences scatter more than all weights'
_LOSS_FLOOR = 2e-5  # what rounding may make of a mean over many samples in float32
_OTHER_SAMPLES = 1e-3  # two first losses of the same samples never differ by so much
_CHAOTIC = 1e-2  # where the twin is so far away, nothing can be judged
_NAMES = ("single process's", "trainers'")


class SameModel(Result):
    """What several trainers learn, beside one process with their whole batch."""

    verdict: str
    """The result in one sentence, without the full stop."""

    same: bool | None
    """Whether they train the same model; None: not judged, and the verdict says why."""

    ranks: int
    """Trainers."""

    steps: int = 0
    """Steps that were compared."""

    weight_difference: float | None = None
    """Relative L2 distance of the final parameters; None: not known or no number."""

    twin_weight_difference: float | None = None
    """The same of one process whose samples are permuted in each batch; None: not known."""

    tolerance: float | None = None
    """Greatest distance of the parameters that counts as the same: 3 times the twin's."""

    loss_difference: float | None = None
    """Greatest relative difference in any step of the loss, averaged over the trainers; None:
    not known or no number."""

    twin_loss_difference: float | None = None
    """The same of the twin; None: not known or no number."""

    rank_difference: float | None = None
    """Greatest distance of a trainer's parameters from rank 0's, by their norms; None: not
    known, no number, or each trainer has a part of the model."""

    parameter: str | None = None
    """Parameter that is furthest away, measured by the twin; None: they train the same."""


def not_judged(reason: str, *, ranks: int) -> SameModel:
    """Return the result of a check that could not be made; ``reason`` has no full stop."""
    return SameModel(verdict=f"not judged: {reason}", same=None, ranks=ranks)


def judge_ranks(
    ranks: Sequence[ParityTrace],
    *,
    one: ParityTrace,
    twin: ParityTrace,
    have_parts: bool = False,
) -> SameModel:
    """Return whether trainers train the model of one process.

    Args:
        ranks: Traces of all trainers, rank 0 first; those of the others may lack weights.
        one: Of one process with the batches of all trainers together.
        twin: Of the same with the samples of each batch permuted.
        have_parts: Whether each trainer has a part of the model, so that rank 0's trace has
            the weights of all and they have none to compare with each other.
    """
    count, several = len(ranks), _averaged(ranks)
    steps = min(len(trace.losses) for trace in (several, one, twin))
    if reason := _unfit(several, one, twin, steps):
        return not_judged(reason, ranks=count)
    if missing := unlike_parameters(several, one, names=_NAMES):
        return SameModel(verdict=missing, same=False, ranks=count, steps=steps)
    weights, own = weight_distance(several, one), weight_distance(twin, one)
    losses, own_losses = _losses(several, one, steps), _losses(twin, one, steps)
    if reason := _unlike_twin(weights, own, own_losses):
        return not_judged(reason, ranks=count)
    between = 0.0 if have_parts else _between_ranks(ranks)
    tolerance = MARGIN * own
    loss_tolerance = max(_LOSS_FLOOR, _LOSS_MARGIN * float(own_losses.max()))
    # written so that a distance that is not a number is no equality
    is_same = bool(
        weights <= tolerance and losses.max() <= loss_tolerance and between <= tolerance
    )
    result = SameModel(
        verdict="",
        same=is_same,
        ranks=count,
        steps=steps,
        weight_difference=_known(weights),
        twin_weight_difference=own,
        tolerance=tolerance,
        loss_difference=_known(losses.max()),
        twin_loss_difference=_known(own_losses.max()),
        rank_difference=None if have_parts else _known(between),
        parameter=None if is_same else _furthest(several, one, twin),
    )
    first = _known(losses[0]) if losses[0] > loss_tolerance else None
    verdict = _verdict(result, first, is_torn=not between <= tolerance)
    return result.model_copy(update={"verdict": verdict})


def _averaged(ranks: Sequence[ParityTrace]) -> ParityTrace:
    """Return the trace of all trainers: rank 0's weights, and the mean of their losses."""
    steps = min(len(trace.losses) for trace in ranks)
    mean = np.mean([trace.losses[:steps] for trace in ranks], axis=0)
    return replace(ranks[0], losses=mean)


def _unfit(several: ParityTrace, one: ParityTrace, twin: ParityTrace, steps: int) -> str | None:
    if steps == 0:
        return "a launch recorded no step"
    if not one.weights or not several.weights:
        where = "one process" if not one.weights else "the trainers"
        return f"no model was seen in the launch of {where}"
    if not np.isfinite(one.losses[:steps]).all():
        step = int(np.argmin(np.isfinite(one.losses[:steps])))
        return f"the loss of one process is {one.losses[step]} in step {step}"
    if unlike_parameters(twin, one, names=(_NAMES[0], "twin's")):
        return "one process has other parameters when it is run once more"
    return None


def _unlike_twin(weights: float, own: float, own_losses: NDArray[np.float64]) -> str | None:
    """Return why the twin tells nothing, or None."""
    if not own_losses[0] <= _OTHER_SAMPLES:
        return (
            f"one process has another first loss with its samples permuted (by "
            f"{shown(_known(own_losses[0]))}), so they are not the same samples: leave random "
            "transforms out, and let the seed decide the order"
        )
    if not own <= _CHAOTIC:
        return (
            f"one process drifts {shown(_known(own))} away from itself with its samples "
            "permuted: this network multiplies rounding too much, take fewer steps"
        )
    if own == 0 and weights > 0:
        return (
            "permuting the samples of a batch changed nothing, so rounding is not known: let "
            "the script take its batches from a dataloader, whose parts all have one entry "
            "for each sample"
        )
    return None


def _losses(trace: ParityTrace, one: ParityTrace, steps: int) -> NDArray[np.float64]:
    """Return the relative difference of the loss in each step, shape (steps,)."""
    right = np.abs(one.losses[:steps])
    scale = np.maximum(right, 1e-6 * max(float(right[0]), np.finfo(float).tiny))
    difference: NDArray[np.float64] = np.abs(trace.losses[:steps] - one.losses[:steps]) / scale
    return difference


def _between_ranks(ranks: Sequence[ParityTrace]) -> float:
    """Return how far a trainer's parameters are from rank 0's at least, in any step.

    Norms cannot differ by more than what they are norms of.
    """
    steps = min(len(trace.norms) for trace in ranks)
    first = ranks[0].norms[:steps]
    scale = np.maximum(np.sqrt(np.square(first).sum(axis=1)), np.finfo(float).tiny)
    found = [0.0]
    for trace in ranks[1:]:
        if trace.names != ranks[0].names:
            return float("inf")
        apart = np.sqrt(np.square(trace.norms[:steps] - first).sum(axis=1))
        found.append(float((apart / scale).max(initial=0.0)))
    return max(found)


def _furthest(several: ParityTrace, one: ParityTrace, twin: ParityTrace) -> str:
    """Return the parameter whose distance is the greatest multiple of its twin's."""

    def off(name: str) -> float:
        right = one.weights[name].astype(np.float64)
        size = np.sqrt(right.size) * np.finfo(np.float32).tiny
        far = float(np.linalg.norm(several.weights[name].astype(np.float64) - right))
        near = float(np.linalg.norm(twin.weights[name].astype(np.float64) - right))
        rounding = float(np.linalg.norm(right)) * np.finfo(np.float32).eps
        return far / max(near, rounding, size) if np.isfinite(far) else np.inf

    return max(one.weights, key=off)


def _verdict(result: SameModel, first: float | None, *, is_torn: bool) -> str:
    after = f"{result.ranks} trainers after {result.steps} steps"
    numbers = (
        f"weights differ by {shown(result.weight_difference)}, and one process's with its "
        f"samples permuted by {shown(result.twin_weight_difference)} "
        f"({shown(result.tolerance)} is allowed); losses by {shown(result.loss_difference)} "
        f"and {shown(result.twin_loss_difference)}"
    )
    if result.same:
        return f"the same model as one process: {after}, {numbers}"
    why = f", most in {result.parameter}"
    if is_torn:
        why += f"; the trainers hold models {shown(result.rank_difference)} apart"
    if first is not None:
        alike = "" if is_torn else "the trainers hold one model, but "
        why += (
            f"; {alike}their first loss already differs by {shown(first)}, before any step: "
            "they read other samples than one process, or begin with other weights, and how "
            "they exchange gradients cannot be judged (let the sampler of one process shuffle "
            "as that of several does, DistributedSampler with num_replicas=1 for example)"
        )
    return f"another model than one process: {after}{why}; {numbers}"


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
