"""Whether a compiled model learns what the eager one learns, judged beside eager's own noise.

Two correct programs differ in the last digits, and training multiplies such differences: by
little in a transformer, by a million within twenty steps in a network with batch norm. So the
eager model is run once more with another number of threads. How much those two drift apart is
its *amplification*. A candidate equals eager where it differs by no more than what rounding
may cost in one step (the *floor*) times that amplification.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.metrics.result import Result

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from smtc_lab.spec.compiler import Precision

FLOORS: Mapping[Precision, float] = {
    "highest": 2e-5,
    "high": 2e-3,
    "medium": 2e-2,
    "bf16": 2e-2,
}
"""Relative difference that rounding alone may make, by precision of matrix products.

About 200 units of the last place of a float32 mean over many numbers, and 2 to 5 units of
TensorFloat-32 (10 bits) and bfloat16 (7 bits).
"""

_UNIT = 2.0**-24  # relative rounding error of one float32 operation
_NOISE_MARGIN = 10.0  # another thread count reorders fewer sums than another compiler does
_CHAOTIC = 1e-2  # where eager differs from itself by this much, no later step can be judged


@dataclass(frozen=True, kw_only=True)
class ParityTrace:
    """What a parity launch wrote: the same seed, no dropout, K steps, P parameters."""

    losses: NDArray[np.float64]
    """Loss of each step, shape (K,)."""

    names: tuple[str, ...]
    """Names of the parameters, P of them."""

    norms: NDArray[np.float64]
    """L2 norm of each parameter after each step, shape (K, P)."""

    weights: Mapping[str, NDArray[np.float32]]
    """Final parameters by name."""


class ParityResult(Result):
    """A candidate's training beside the eager one."""

    verdict: str
    """The result in one sentence, without the candidate's name and the full stop."""

    equal: bool | None
    """Whether it learns the same; None: that could not be judged, and the verdict says why."""

    steps: int = 0
    """Steps that were compared."""

    loss_difference: float | None = None
    """Greatest relative difference of the loss in any step; None: not known or no number."""

    noise_loss_difference: float | None = None
    """The same of eager with another number of threads; None: not measured."""

    weight_difference: float | None = None
    """Relative L2 distance of the final parameters; None: not known or no number."""

    noise_weight_difference: float | None = None
    """The same of eager with another number of threads; None: not measured."""

    floor: float | None = None
    """Relative difference that rounding alone may make in one step; None: not judged."""

    loss_differences: tuple[float | None, ...] = ()
    """Relative difference of the loss by step; None: not a number."""

    tolerances: tuple[float, ...] = ()
    """Greatest difference by step that still counts as equal."""

    first_step: int | None = None
    """First step, from 0, that differs by more than its tolerance; None: none does."""

    first_parameter: str | None = None
    """Parameter that had moved furthest away when the first one differed; None: none did."""


def unjudged(reason: str) -> ParityResult:
    """Return the result of a check that could not be made; ``reason`` has no full stop."""
    return ParityResult(verdict=f"not judged: {reason}", equal=None)


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
    traces = [trace for trace in (candidate, eager, noise) if trace is not None]
    steps = min(len(trace.losses) for trace in traces)
    if steps == 0:
        return unjudged("a launch recorded no step")
    if not np.isfinite(eager.losses[:steps]).all():
        first = int(np.argmin(np.isfinite(eager.losses[:steps])))
        return unjudged(f"the eager loss is {eager.losses[first]} in step {first} already")
    if missing := unlike_parameters(candidate, eager):
        return ParityResult(verdict=missing, equal=False, steps=steps, first_step=0)
    own = _differences(noise, eager, steps) if noise is not None else np.zeros(steps)
    tolerances = _tolerances(own, FLOORS[precision])
    losses = _differences(candidate, eager, steps)
    weights = weight_distance(candidate, eager)
    noise_weights = None if noise is None else weight_distance(noise, eager)
    weight_tolerance = max(float(tolerances[-1]), _NOISE_MARGIN * (noise_weights or 0.0))
    first_step = _first_step(losses, tolerances)
    # written so that a distance that is not a number is no equality
    is_equal = first_step is None and weights <= weight_tolerance
    place = None if is_equal else _first_place(candidate, eager, tolerances)
    result = ParityResult(
        verdict="",
        equal=is_equal,
        steps=steps,
        loss_difference=_known(losses.max()),
        noise_loss_difference=None if noise is None else _known(own.max()),
        weight_difference=_known(weights),
        noise_weight_difference=None if noise_weights is None else _known(noise_weights),
        floor=FLOORS[precision],
        loss_differences=tuple(map(_known, losses)),
        tolerances=tuple(map(float, tolerances)),
        first_step=first_step if place is None else place[0],
        first_parameter=None if place is None else place[1],
    )
    return result.model_copy(update={"verdict": _verdict(result)})


def unlike_parameters(
    candidate: ParityTrace,
    eager: ParityTrace,
    *,
    names: tuple[str, str] = ("eager", "compiled"),
) -> str | None:
    """Return why the parameters cannot be those of one model, or None.

    Args:
        candidate: The trace to judge.
        eager: The trace that is right.
        names: What the right one and the other are called.
    """
    right, judged = names
    for one, other, where in ((eager, candidate, right), (candidate, eager, judged)):
        only = [name for name in one.weights if name not in other.weights]
        if only:
            return (
                f"not the same model: {len(only)} parameters are in the {where} one only, "
                f"such as {only[0]}"
            )
    for name, values in eager.weights.items():
        if candidate.weights[name].shape != values.shape:
            return (
                f"not the same model: {name} has the shape {candidate.weights[name].shape} "
                f"rather than {values.shape}"
            )
    return None


def _differences(trace: ParityTrace, eager: ParityTrace, steps: int) -> NDArray[np.float64]:
    """Return the relative difference of the loss in each step, shape (steps,)."""
    right = eager.losses[:steps]
    scale = np.maximum(np.abs(right), np.abs(eager.losses[0]) * _UNIT + np.finfo(float).tiny)
    difference: NDArray[np.float64] = np.abs(trace.losses[:steps] - right) / scale
    return difference


def weight_distance(trace: ParityTrace, eager: ParityTrace) -> float:
    """Return the L2 distance of all final parameters relative to the eager ones' norm."""
    squares = total = 0.0
    for name, values in eager.weights.items():
        right = values.astype(np.float64)
        squares += float(np.square(trace.weights[name].astype(np.float64) - right).sum())
        total += float(np.square(right).sum())
    return float(np.sqrt(squares / max(total, np.finfo(float).tiny)))


def _tolerances(noise: NDArray[np.float64], floor: float) -> NDArray[np.float64]:
    """Return the greatest difference of each step that counts as equal.

    The floor, or eager's own first difference where that is greater, times what eager makes of
    a difference until that step.
    """
    noise = np.nan_to_num(np.maximum.accumulate(noise), nan=np.inf)
    amplification = np.maximum(1.0, noise / max(float(noise[0]), _UNIT))
    tolerances: NDArray[np.float64] = (
        max(floor, _NOISE_MARGIN * float(noise[0])) * amplification
    )
    # From here on eager does not even agree with itself.
    tolerances[noise > _CHAOTIC] = np.inf
    return np.minimum(tolerances, np.finfo(float).max)


def _first_step(losses: NDArray[np.float64], tolerances: NDArray[np.float64]) -> int | None:
    beyond = ~(losses <= tolerances)
    return int(np.argmax(beyond)) if beyond.any() else None


def _first_place(
    candidate: ParityTrace, eager: ParityTrace, tolerances: NDArray[np.float64]
) -> tuple[int, str] | None:
    """Return the first step after which a parameter's norm is off, and the furthest one."""
    places = [candidate.names.index(name) for name in eager.names if name in candidate.names]
    if len(places) < len(eager.names):
        return None
    steps = len(tolerances)
    right = eager.norms[:steps]
    # A bias that begins at 0 is all rounding at first: it is measured against the others.
    scale = np.maximum(right, 1e-3 * np.sqrt(np.square(right).mean(axis=1, keepdims=True)))
    off = np.abs(candidate.norms[:steps][:, places] - right) / np.maximum(scale, _UNIT)
    off = np.nan_to_num(off, nan=np.inf)
    beyond = (off > tolerances[:, None]).any(axis=1)
    if not beyond.any():
        return None
    step = int(np.argmax(beyond))
    return step, eager.names[int(np.argmax(off[step]))]


def _verdict(result: ParityResult) -> str:
    own = result.noise_loss_difference
    beside = (
        f"eager's own noise was not measured, {shown(result.floor)} counts as rounding"
        if own is None
        else f"against {shown(own)} of eager with another number of threads"
    )
    losses = f"losses differ by {shown(result.loss_difference)}, {beside}"
    weights = f"final weights by {shown(result.weight_difference)}"
    if result.equal:
        within = "its own noise" if _is_within_noise(result) else "rounding"
        chaotic = ""
        if own is not None and own > _CHAOTIC:
            last = sum(tolerance < 1.0 for tolerance in result.tolerances)
            chaotic = (
                f"; this network multiplies rounding so much that only its first {last} steps "
                "can tell"
            )
        return f"equal to eager within {within}: {losses}, {weights}{chaotic}"
    where = "" if result.first_step is None else f" from step {result.first_step} on"
    first = "" if result.first_parameter is None else f", first in {result.first_parameter}"
    return f"differs from eager{where}{first}: {losses}, {weights}"


def _is_within_noise(result: ParityResult) -> bool:
    own, seen = result.noise_loss_difference, result.loss_difference
    return own is not None and seen is not None and seen <= _NOISE_MARGIN * own


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def shown(value: float | None) -> str:
    """Return a relative difference as words: one digit and a power of ten."""
    if value is None:
        return "a number that is not finite"
    return "0" if value == 0 else f"{value:.0e}".replace("e-0", "e-")
