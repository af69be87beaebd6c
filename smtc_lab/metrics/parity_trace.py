"""What trainings left in parity launches, and how far two of them are apart."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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

UNIT = 2.0**-24
"""Relative rounding error of one float32 operation."""

CHAOTIC = 1e-2
"""Where what is right differs from itself by so much, nothing can be judged."""

_OTHER_SAMPLES = 1e-3  # two first losses of the same samples never differ by so much


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


def averaged(ranks: Sequence[ParityTrace]) -> ParityTrace:
    """Return the trace of all trainers: rank 0's weights, and the mean of their losses."""
    steps = min(len(trace.losses) for trace in ranks)
    mean = np.mean([trace.losses[:steps] for trace in ranks], axis=0)
    return replace(ranks[0], losses=mean)


def loss_differences(trace: ParityTrace, right: ParityTrace, steps: int) -> NDArray[np.float64]:
    """Return the relative difference of the loss in each step, shape (steps,)."""
    losses = right.losses[:steps]
    scale = np.maximum(np.abs(losses), np.abs(losses[0]) * UNIT + np.finfo(float).tiny)
    difference: NDArray[np.float64] = np.abs(trace.losses[:steps] - losses) / scale
    return difference


def weight_distance(trace: ParityTrace, right: ParityTrace) -> float:
    """Return the L2 distance of all final parameters relative to the right ones' norm."""
    squares = total = 0.0
    for name, values in right.weights.items():
        wanted = values.astype(np.float64)
        squares += float(np.square(trace.weights[name].astype(np.float64) - wanted).sum())
        total += float(np.square(wanted).sum())
    return float(np.sqrt(squares / max(total, np.finfo(float).tiny)))


def between_ranks(ranks: Sequence[ParityTrace]) -> float:
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


def unlike_parameters(
    candidate: ParityTrace, right: ParityTrace, *, names: tuple[str, str]
) -> str | None:
    """Return why the parameters cannot be those of one model, or None.

    Args:
        candidate: The trace to judge.
        right: The trace that is right.
        names: What the right one and the other are called.
    """
    for one, other, where in (
        (right, candidate, names[0]),
        (candidate, right, names[1]),
    ):
        only = [name for name in one.weights if name not in other.weights]
        if only:
            return (
                f"not the same model: {len(only)} parameters are in {where} only, such as "
                f"{only[0]}"
            )
    for name, values in right.weights.items():
        if candidate.weights[name].shape != values.shape:
            return (
                f"not the same model: {name} has the shape {candidate.weights[name].shape} "
                f"rather than {values.shape}"
            )
    return None


def first_place(
    candidate: ParityTrace, right: ParityTrace, tolerances: NDArray[np.float64]
) -> tuple[int, str] | None:
    """Return the first step after which a parameter's norm is off, and the furthest one."""
    places = [candidate.names.index(name) for name in right.names if name in candidate.names]
    if len(places) < len(right.names):
        return None
    steps = len(tolerances)
    norms = right.norms[:steps]
    # A bias that begins at 0 is all rounding at first: it is measured against the others.
    scale = np.maximum(norms, 1e-3 * np.sqrt(np.square(norms).mean(axis=1, keepdims=True)))
    off = np.abs(candidate.norms[:steps][:, places] - norms) / np.maximum(scale, UNIT)
    off = np.nan_to_num(off, nan=np.inf)
    beyond = (off > tolerances[:, None]).any(axis=1)
    if not beyond.any():
        return None
    step = int(np.argmax(beyond))
    return step, right.names[int(np.argmax(off[step]))]


def unlike_twin(weights: float, own: float, own_losses: NDArray[np.float64]) -> str | None:
    """Return why the twin tells nothing, or None."""
    if not own_losses[0] <= _OTHER_SAMPLES:
        return (
            f"one process has another first loss with its samples permuted (by "
            f"{shown(known(own_losses[0]))}), so they are not the same samples: leave random "
            "transforms out, and let the seed decide the order"
        )
    if not own <= CHAOTIC:
        return (
            f"one process drifts {shown(known(own))} away from itself with its samples "
            "permuted: this network multiplies rounding too much, take fewer steps"
        )
    if own == 0 and weights > 0:
        return (
            "permuting the samples of a batch changed nothing, so rounding is not known: let "
            "the script take its batches from a dataloader, whose parts all have one entry "
            "for each sample"
        )
    return None


def known(value: float) -> float | None:
    """Return a number; None: it is not finite."""
    return float(value) if np.isfinite(value) else None


def shown(value: float | None) -> str:
    """Return a relative difference as words: one digit and a power of ten."""
    if value is None:
        return "a number that is not finite"
    return "0" if value == 0 else f"{value:.0e}".replace("e-0", "e-")
