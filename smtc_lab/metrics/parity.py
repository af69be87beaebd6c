"""Whether a training learns what the right one learns, judged beside the right one's own noise.

Two correct programs differ in the last digits, and training multiplies such differences: by
little in a transformer, by a million within twenty steps in a network with batch norm. So the
right training is run once more with something else that must not matter, its *noise*, and its
*amplification* is how much those two drift apart. Of a compiled model eager is right, its noise
has another number of threads, and what rounding may cost in one step (the *floor*) times that
amplification counts as equal. Of several trainers one process with their whole batch is right,
its noise, or *twin*, has the samples of each batch permuted, and the weights of right trainers
lie as far away as the twin's, within a small factor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from pydantic import AliasChoices, Field

from smtc_lab.metrics.parity_trace import (
    CHAOTIC,
    FLOORS,
    UNIT,
    averaged,
    between_ranks,
    first_place,
    known,
    loss_differences,
    shown,
    unlike_parameters,
    unlike_twin,
    weight_distance,
)
from smtc_lab.metrics.result import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from smtc_lab.metrics.parity_trace import ParityTrace
    from smtc_lab.spec.compiler import Precision

_NOISE_MARGIN = 10.0  # another thread count reorders fewer sums than another compiler does

TWIN_MARGIN = 3.0
"""How many times the twin's distance of weights still counts as the same model."""


@dataclass(frozen=True)
class _ParityWords:
    """What is judged, in words."""

    judged: str
    right: str
    noise: str


_COMPILED = _ParityWords("compiled", "eager", "eager with another number of threads")
_TRAINERS = _ParityWords("the trainers", "one process", "one process with its samples permuted")


class ParityResult(Result):
    """A training beside the right one. Studies of several trainers had other names for it."""

    verdict: str
    """The result in one sentence, without the name of what is judged and the full stop."""

    equal: bool | None = Field(validation_alias=AliasChoices("equal", "same"))
    """Whether it learns the same; None: that could not be judged, and the verdict says why."""

    ranks: int = 1
    """Trainers."""

    steps: int = 0
    """Steps that were compared."""

    loss_difference: float | None = None
    """Greatest relative difference of the loss in any step; None: not known or no number."""

    noise_loss_difference: float | None = Field(
        default=None,
        validation_alias=AliasChoices("noise_loss_difference", "twin_loss_difference"),
    )
    """The same of the right training's noise; None: not measured."""

    weight_difference: float | None = None
    """Relative L2 distance of the final parameters; None: not known or no number."""

    noise_weight_difference: float | None = Field(
        default=None,
        validation_alias=AliasChoices("noise_weight_difference", "twin_weight_difference"),
    )
    """The same of the right training's noise; None: not measured."""

    tolerance: float | None = None
    """Greatest distance of the parameters that counts as the same; None: not judged."""

    rank_difference: float | None = None
    """Greatest distance of a trainer's parameters from rank 0's, by their norms; None: not
    known, no number, one trainer, or each trainer has a part of the model."""

    floor: float | None = None
    """Relative difference that rounding alone may make in one step; None: not judged."""

    loss_differences: tuple[float | None, ...] = ()
    """Relative difference of the loss by step; None: not a number."""

    tolerances: tuple[float, ...] = ()
    """Greatest difference by step that still counts as equal."""

    first_step: int | None = None
    """First step, from 0, that differs by more than its tolerance; None: none does."""

    first_parameter: str | None = Field(
        default=None, validation_alias=AliasChoices("first_parameter", "parameter")
    )
    """Parameter that had moved furthest away when the first one differed; None: none did."""


def unjudged(reason: str, *, ranks: int = 1) -> ParityResult:
    """Return the result of a check that could not be made; ``reason`` has no full stop."""
    return ParityResult(verdict=f"not judged: {reason}", equal=None, ranks=ranks)


def judge(
    candidate: ParityTrace,
    *,
    eager: ParityTrace,
    noise: ParityTrace | None = None,
    precision: Precision = "highest",
) -> ParityResult:
    """Return how a candidate's training compares with the eager one.

    Only the steps that all traces have are compared.

    Args:
        candidate: The trace to judge.
        eager: The trace that is right by definition, at the same precision.
        noise: Eager with another number of threads; None: only the floor decides.
        precision: Precision of matrix products; chooses the floor.
    """
    return _judged(_COMPILED, (candidate,), eager, noise, FLOORS[precision])


def judge_ranks(
    ranks: Sequence[ParityTrace],
    *,
    one: ParityTrace,
    twin: ParityTrace,
    have_parts: bool = False,
) -> ParityResult:
    """Return whether trainers train the model of one process.

    Args:
        ranks: Traces of all trainers, rank 0 first; those of the others may lack weights.
        one: Of one process with the batches of all trainers together.
        twin: Of the same with the samples of each batch permuted.
        have_parts: Whether each trainer has a part of the model, so that rank 0's trace has
            the weights of all and they have none to compare with each other.
    """
    between = None if have_parts else between_ranks(ranks)
    return _judged(_TRAINERS, ranks, one, twin, FLOORS["highest"], between)


def _judged(  # noqa: PLR0913, PLR0917  what both checks have, each once
    kind: _ParityWords,
    ranks: Sequence[ParityTrace],
    right: ParityTrace,
    noise: ParityTrace | None,
    floor: float,
    between: float | None = None,
) -> ParityResult:
    candidate, count = averaged(ranks), len(ranks)
    traces = [trace for trace in (candidate, right, noise) if trace is not None]
    steps = min(len(trace.losses) for trace in traces)
    if reason := _unfit(kind, candidate, right, noise, steps):
        return unjudged(reason, ranks=count)
    if wrong := unlike_parameters(candidate, right, names=(kind.right, kind.judged)):
        return ParityResult(verdict=wrong, equal=False, ranks=count, steps=steps, first_step=0)
    weights = weight_distance(candidate, right)
    own, own_weights = np.zeros(steps), None
    if noise is not None:
        own, own_weights = loss_differences(noise, right, steps), weight_distance(noise, right)
    if kind is _TRAINERS and (reason := unlike_twin(weights, own_weights or 0.0, own)):
        return unjudged(reason, ranks=count)
    tolerances, tolerance = _tolerances(kind, own, own_weights or 0.0, floor)
    losses = loss_differences(candidate, right, steps)
    beyond = ~(losses <= tolerances)  # so that a distance that is not a number is no equality
    is_whole = between is None or between <= tolerance
    is_equal = not beyond.any() and weights <= tolerance and is_whole
    step = int(np.argmax(beyond)) if beyond.any() else None
    place = None if is_equal else first_place(candidate, right, tolerances)
    result = ParityResult(
        verdict="",
        equal=is_equal,
        ranks=count,
        steps=steps,
        loss_difference=known(losses.max()),
        noise_loss_difference=None if noise is None else known(own.max()),
        weight_difference=known(weights),
        noise_weight_difference=None if own_weights is None else known(own_weights),
        tolerance=tolerance,
        rank_difference=None if between is None else known(between),
        floor=floor,
        loss_differences=tuple(map(known, losses)),
        tolerances=tuple(map(float, tolerances)),
        first_step=step if place is None else place[0],
        first_parameter=None if place is None else place[1],
    )
    verdict = _verdict(kind, result, is_whole=is_whole, starts_apart=step == 0)
    return result.model_copy(update={"verdict": verdict})


def _unfit(
    kind: _ParityWords,
    candidate: ParityTrace,
    right: ParityTrace,
    noise: ParityTrace | None,
    steps: int,
) -> str | None:
    """Return why traces cannot be judged, or None."""
    if steps == 0:
        return "a launch recorded no step"
    if kind is _TRAINERS and not (candidate.weights and right.weights):
        where = kind.judged if right.weights else kind.right
        return f"no model was seen in the launch of {where}"
    if not np.isfinite(right.losses[:steps]).all():
        first = int(np.argmin(np.isfinite(right.losses[:steps])))
        return f"the loss of {kind.right} is {right.losses[first]} in step {first} already"
    if noise is not None and unlike_parameters(noise, right, names=("", "")):
        return f"{kind.right} has other parameters when it is run once more"
    return None


def _tolerances(
    kind: _ParityWords, own: NDArray[np.float64], own_weights: float, floor: float
) -> tuple[NDArray[np.float64], float]:
    """Return the greatest difference of each step, and of the weights, that counts as equal.

    Of a compiled model the floor, or eager's own first difference where that is greater, times
    what eager makes of a difference until that step.
    """
    own = np.nan_to_num(np.maximum.accumulate(own), nan=np.inf)
    if kind is _TRAINERS:
        most = min(max(floor, _NOISE_MARGIN * float(own[-1])), float(np.finfo(float).max))
        return np.full(len(own), most), TWIN_MARGIN * own_weights
    tolerances: NDArray[np.float64] = max(floor, _NOISE_MARGIN * float(own[0])) * np.maximum(
        1.0, own / max(float(own[0]), UNIT)
    )
    tolerances[own > CHAOTIC] = np.inf  # from here on eager does not even agree with itself
    tolerances = np.minimum(tolerances, np.finfo(float).max)
    return tolerances, max(float(tolerances[-1]), _NOISE_MARGIN * own_weights)


def _verdict(
    kind: _ParityWords, result: ParityResult, *, is_whole: bool, starts_apart: bool
) -> str:
    own, is_of_ranks = result.noise_loss_difference, kind is _TRAINERS
    beside = (
        f"{kind.right}'s own noise was not measured, {shown(result.floor)} counts as rounding"
        if own is None
        else f"against {shown(own)} of {kind.noise}"
    )
    losses = f"losses differ by {shown(result.loss_difference)}, {beside}"
    weights = f"final weights by {shown(result.weight_difference)}"
    if is_of_ranks:
        twin, most = shown(result.noise_weight_difference), shown(result.tolerance)
        weights += f" (that one's by {twin}, {most} is allowed)"
    if result.equal:
        within = "its own noise" if _is_within_noise(result) else "rounding"
        chaotic = ""
        if own is not None and own > CHAOTIC:
            last = sum(tolerance < 1.0 for tolerance in result.tolerances)
            chaotic = (
                f"; this network multiplies rounding so much that only its first {last} steps "
                "can tell"
            )
        return f"equal to {kind.right} within {within}: {losses}, {weights}{chaotic}"
    where = "" if result.first_step is None else f" from step {result.first_step} on"
    first = "" if result.first_parameter is None else f", first in {result.first_parameter}"
    why = (
        "" if is_whole else f"; the trainers hold models {shown(result.rank_difference)} apart"
    )
    if is_of_ranks and starts_apart:
        why += (
            f"; {'the trainers hold one model, but ' if is_whole else ''}their first loss "
            f"already differs by {shown(result.loss_differences[0])}, before any step: they "
            "read other samples than one process, or begin with other weights, and how they "
            "exchange gradients cannot be judged (let the sampler of one process shuffle as "
            "that of several does, DistributedSampler with num_replicas=1 for example)"
        )
    return f"differs from {kind.right}{where}{first}{why}: {losses}, {weights}"


def _is_within_noise(result: ParityResult) -> bool:
    own, seen = result.noise_loss_difference, result.loss_difference
    return own is not None and seen is not None and seen <= _NOISE_MARGIN * own
