"""Means and ratios with 95 % intervals, for launches that differ and steps that depend.

The launches are the sample: how far two launches of one job lie apart is seen by launching it
again, and by nothing else. So an interval is Student's t on the logarithms of launch means, and
that of a ratio is Welch's, which lets the two sides differ in spread. Where whole rounds are
slow or fast together, and clearly so, the differences within rounds are the sample instead.

One launch cannot say how much launches differ. Its interval is of that launch alone, from its
steps, whose dependence on the step before shrinks their number; ``Interval.spread`` says which
of the two it is, and nothing is claimed from ``steps``.

Simulated over 2 to 8 launches of 30 to 300 steps, with launches, rounds, tails, stalls and
drifts that differ, 93 to 99 % of the intervals hold the truth; ``smtc-lab bench truth`` counts
them again, and names the cells that lie outside.

Source:
    Launches as the sample: T. Kalibera and R. Jones, "Rigorous benchmarking in reasonable
    time", ISMM 2013. Unlike spreads: B. L. Welch, Biometrika 34, 1947. Dependent steps: lag-1
    effective sample size, G. V. Bayley and J. M. Hammersley, 1946, with M. G. Kendall's
    correction of its bias, Biometrika 41, 1954.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from smtc_lab.metrics.result import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from smtc_lab.metrics.result import Spread

LEVEL = 0.95

_TWO = 2
_FLOOR = 0.8
"""Two launches that happen to agree tell no less spread than this much of what steps tell."""

_CLEARLY = 30.0
"""Rounds are the sample where the launches' variance is more than this much of the rounds',
divided by the number of rounds less two: chosen by simulation, so that the choice is free."""

_MOST_DEPENDENT = 0.97
"""Correlation of neighbouring steps beyond which the steps of one launch tell nothing more."""

_WIDEST = 50.0
"""Half of an interval of logarithms that is as good as endless."""


class _Side(NamedTuple):
    """The launches of one side of a ratio, as logarithms; or of one mean, as they are."""

    values: NDArray[np.float64]
    """Mean of each launch, shape (J,)."""

    of_steps: float = 0.0
    """Variance of a launch's mean that its own steps explain, averaged over the launches."""

    freedom_of_steps: float = 0.0
    """Degrees of freedom of that variance in the first launch; 0: it has one step."""

    @property
    def variance(self) -> float:
        """Variance of the mean over the launches; of one launch, what its steps explain."""
        count = len(self.values)
        return float(np.var(self.values, ddof=1)) / count if count > 1 else self.of_steps

    @property
    def freedom(self) -> float:
        """Degrees of freedom of ``variance``."""
        count = len(self.values)
        return count - 1.0 if count > 1 else max(1.0, self.freedom_of_steps)

    @property
    def spread(self) -> Spread:
        """What ``variance`` is of."""
        if len(self.values) > 1:
            return "launches"
        return "steps" if self.freedom_of_steps else "none"


def mean_interval(launches: Sequence[NDArray[np.float64]]) -> Interval:
    """Return the mean over all steps of all launches, with its 95 % interval.

    Where every value is above 0, as times are, spreads are taken of logarithms, so that no
    interval reaches 0.

    Args:
        launches: The measured values of each launch in order, each of shape (S,).

    Raises:
        ValueError: There is no launch, or a launch has no values or one that is not finite.
    """
    _check(launches, "launches")
    in_logs = min(float(values.min()) for values in launches) > 0
    side = _side(launches, in_logs=in_logs)
    return _interval(_mean(launches), _half([side], LEVEL), [side], in_logs=in_logs)


def launch_interval(values: Sequence[float]) -> Interval:
    """Return the mean of one value for each launch, with its 95 % interval.

    Args:
        values: One for each launch, at least one, finite.
    """
    return mean_interval([np.array([value], dtype=float) for value in values])


def share_interval(mean: float, values: Sequence[float]) -> Interval:
    """Return a share of all launches taken together, with its 95 % interval within 0 to 1.

    Args:
        mean: The share of all launches together, 0 to 1.
        values: The share of each launch, at least one.
    """
    side = _Side(np.array(values, dtype=float))
    found = _interval(mean, _half([side], LEVEL), [side], in_logs=False)
    return found.at(mean, max(0.0, found.low), min(1.0, found.high))


def ratio_interval(
    numerator: Sequence[NDArray[np.float64]],
    denominator: Sequence[NDArray[np.float64]],
    *,
    paired: bool | None = None,
    candidates: int = 1,
    looks: int = 1,
) -> Interval:
    """Return the ratio of two means, with its 95 % interval.

    Swapping the sides gives the reciprocal interval, and no interval reaches 0. An interval
    over several candidates or looks holds all of them at once in 95 of 100 comparisons: each
    one's own level is 1 - 0.05 / (candidates x looks), which holds however they depend.

    Args:
        numerator: The measured values of each launch of one side, each of shape (S,), above 0.
        denominator: The same of the other side.
        paired: Whether launch i of both sides is one round; None: when there are equally many.
        candidates: Set-ups that are compared with the same baseline.
        looks: Times at which the ratio is looked at and may be believed.

    Raises:
        ValueError: A side has no launch, a launch has no values or one that is not finite and
            above 0, or paired sides differ in length.
    """
    _check(numerator, "numerator", above=0.0)
    _check(denominator, "denominator", above=0.0)
    if paired is None:
        paired = len(numerator) == len(denominator)
    if paired and len(numerator) != len(denominator):
        raise ValueError(
            f"Paired sides have {len(numerator)} and {len(denominator)} launches, but must "
            "have equally many. Drop the rounds that only one side has, or give paired=False."
        )
    sides = [_side(launches, in_logs=True) for launches in (numerator, denominator)]
    level = 1 - (1 - LEVEL) / (candidates * looks)
    half = _half_of_rounds(sides, level) if paired else None
    if half is None:
        half = _half(sides, level)
    ratio = _mean(numerator) / _mean(denominator)
    found = _interval(ratio, half, sides, in_logs=True)
    return found.model_copy(update={"candidates": candidates, "looks": looks})


def difference_interval(
    mean: float,
    values: Sequence[float],
    against: Sequence[float],
    *,
    candidates: int = 1,
    looks: int = 1,
) -> Interval:
    """Return how much more one side has of something than the other, with its interval.

    Args:
        mean: The difference of all launches together.
        values: Of each launch of one side, at least one, finite.
        against: The same of the other side.
        candidates: Set-ups that are compared with the same other side.
        looks: Times at which it is looked at and may be believed.
    """
    sides = [_Side(np.array(each, dtype=float)) for each in (values, against)]
    half = _half(sides, 1 - (1 - LEVEL) / (candidates * looks))
    found = _interval(mean, half, sides, in_logs=False)
    return found.model_copy(update={"candidates": candidates, "looks": looks})


def _half_of_rounds(sides: Sequence[_Side], level: float) -> float | None:
    """Return half of an interval within rounds; None: rounds are not clearly what differs."""
    one, other = sides
    count = len(one.values)
    if count <= _TWO:
        return None
    rounds = float(np.var(one.values - other.values, ddof=1)) / count
    if one.variance + other.variance <= _CLEARLY / (count - _TWO) * rounds:
        return None
    return float(_student(count - 1.0, level) * rounds**0.5)


def _half(sides: Sequence[_Side], level: float) -> float:
    """Return half of the interval of a sum of means that know nothing of each other."""
    floor = _floor(sides, level)
    variance = sum(side.variance for side in sides)
    if variance == 0.0:
        return floor
    freedom = variance**2 / sum(side.variance**2 / side.freedom for side in sides)
    least = min(side.freedom for side in sides)
    if level > LEVEL:  # Welch's is itself an estimate, too rough for the tails of corrections
        freedom = (freedom * least) ** 0.5
    return max(float(_student(freedom, level) * variance**0.5), floor)


def _floor(sides: Sequence[_Side], level: float) -> float:
    """Return the least half of an interval, where a side was launched twice."""
    if min(len(side.values) for side in sides) != _TWO:
        return 0.0
    of_steps = sum(side.of_steps / len(side.values) for side in sides)
    return float(_FLOOR * _student(np.inf, level) * of_steps**0.5)


def _side(launches: Sequence[NDArray[np.float64]], *, in_logs: bool) -> _Side:
    means = np.array([values.mean() for values in launches])
    found = [_of_steps(values) for values in launches]
    variances = np.array([variance for variance, _ in found])
    scaled = variances / means**2 if in_logs else variances
    return _Side(np.log(means) if in_logs else means, float(scaled.mean()), found[0][1])


def _of_steps(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the variance of a launch's mean that its steps explain, and its freedom."""
    count = len(values)
    if count == 1:
        return 0.0, 0.0
    centered = values - values.mean()
    squares = float(centered @ centered)
    if squares <= count * (1e-12 * float(np.abs(values).max())) ** 2:
        return 0.0, count - 1.0
    lagged = float(centered[1:] @ centered[:-1]) / squares
    dependence = min(max(lagged + (1 + 3 * lagged) / count, 0.0), _MOST_DEPENDENT)
    steps_each = (1 + dependence) / (1 - dependence)  # steps that tell as much as one alone
    return squares / (count - 1) / count * steps_each, max(1.0, count / steps_each - 1)


def _student(degrees: float, level: float) -> float:
    """Return the end of Student's two-sided interval in standard errors."""
    from scipy.special import stdtrit  # noqa: PLC0415  it takes 0.2 s to import

    return float(stdtrit(min(degrees, 1e9), 0.5 + level / 2))


def _interval(mean: float, half: float, sides: Sequence[_Side], *, in_logs: bool) -> Interval:
    half = min(half, _WIDEST) if in_logs else half
    spreads = [side.spread for side in sides]
    spread = next(each for each in ("none", "steps", "launches") if each in spreads)
    low, high = (
        (mean * np.exp(-half), mean * np.exp(half)) if in_logs else (mean - half, mean + half)
    )
    return Interval(mean=mean, low=float(low), high=float(high), spread=spread)


def _check(
    launches: Sequence[NDArray[np.float64]], name: str, *, above: float = -np.inf
) -> None:
    if not launches:
        raise ValueError(f"{name} is empty, but needs at least one launch. Measure one.")
    for number, values in enumerate(launches):
        if values.ndim != 1 or values.size == 0:
            raise ValueError(
                f"{name}[{number}] has the shape {values.shape}, but must be one number for "
                "each of at least one step. Give the steps of one launch."
            )
        wrong = values[~(np.isfinite(values) & (values > above))]
        if wrong.size:
            raise ValueError(
                f"{name}[{number}] holds {wrong[0]}, but every value must be finite and above "
                f"{above}. Drop the step that was not measured."
            )


def _mean(launches: Sequence[NDArray[np.float64]]) -> float:
    return float(sum(values.sum() for values in launches) / sum(map(len, launches)))
