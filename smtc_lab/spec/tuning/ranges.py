"""Ranges of hyperparameters: what each may be, and on which scale it is searched."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from smtc_lab.errors import SpecError
from smtc_lab.spec.base import PlainText, Strict, init_of_pydantic
from smtc_lab.spec.job import parse_hyperparameter

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_VALUES = 30
"""Values of one categorical range, at most: SageMaker's limit."""

_WIDE = 100.0
"""A range whose ends are that many times apart is logarithmic where nothing is said."""

Scaling = Literal["Auto", "Linear", "Logarithmic", "ReverseLogarithmic"]


class _NumberRange(Strict):
    """What ranges of numbers have in common."""

    min_value: float
    """Least value."""

    max_value: float
    """Greatest value."""

    scaling_type: Scaling = "Auto"
    """``Logarithmic``: equal factors are equally likely; for values above 0.
    ``ReverseLogarithmic``: those of the distance to 1, for values from 0 to below 1. ``Auto``:
    logarithmic where the ends are 100 times apart or more, else linear."""

    @property
    def is_logarithmic(self) -> bool:
        """Whether equal factors are equally likely."""
        if self.scaling_type == "Auto":
            return self.min_value > 0 and self.max_value / self.min_value >= _WIDE
        return self.scaling_type == "Logarithmic"

    @model_validator(mode="after")
    def _goes_up(self) -> Self:
        name, low, high = type(self).__name__, self.min_value, self.max_value
        if not low < high:
            raise ValueError(
                f"{name} goes from {low:g} to {high:g}. Give a min_value that is below the "
                "max_value; what does not vary is a hyperparameter of the job."
            )
        if self.scaling_type == "Logarithmic" and not low > 0:
            raise ValueError(
                f"{name} is Logarithmic and begins at {low:g}, but 0 and what is below has no "
                "logarithm. Begin above 0, or take Linear."
            )
        if self.scaling_type == "ReverseLogarithmic" and not (low >= 0 and high < 1):
            raise ValueError(
                f"{name} is ReverseLogarithmic and goes from {low:g} to {high:g}, outside 0 to "
                "below 1. Change its ends, or take another scaling_type."
            )
        return self


class ContinuousParameter(_NumberRange):
    """A number within a range: ``ContinuousParameter(1e-4, 1e-1, "Logarithmic")``."""

    kind: Literal["Continuous"] = "Continuous"
    """Tells ranges apart in JSON."""

    @init_of_pydantic
    def __init__(
        self,
        min_value: float,
        max_value: float,
        scaling_type: Scaling = "Auto",
        **rest: Any,  # noqa: ANN401  pydantic refuses it
    ) -> None:
        super().__init__(
            min_value=min_value, max_value=max_value, scaling_type=scaling_type, **rest
        )


class IntegerParameter(_NumberRange):
    """A whole number within a range: ``IntegerParameter(16, 256)``."""

    kind: Literal["Integer"] = "Integer"
    """Tells ranges apart in JSON."""

    min_value: int
    """Least value."""

    max_value: int
    """Greatest value."""

    scaling_type: Literal["Auto", "Linear", "Logarithmic"] = "Auto"
    """As of a ``ContinuousParameter``."""

    @init_of_pydantic
    def __init__(
        self,
        min_value: int,
        max_value: int,
        scaling_type: Literal["Auto", "Linear", "Logarithmic"] = "Auto",
        **rest: Any,  # noqa: ANN401  as above
    ) -> None:
        super().__init__(
            min_value=min_value, max_value=max_value, scaling_type=scaling_type, **rest
        )


class CategoricalParameter(Strict):
    """One of several values: ``CategoricalParameter(["adam", "sgd"])``."""

    kind: Literal["Categorical"] = "Categorical"
    """Tells ranges apart in JSON."""

    values: Annotated[tuple[bool | int | float | PlainText, ...], Field(strict=False)]
    """What it may be, 1 to 30."""

    @init_of_pydantic
    def __init__(self, values: Any, **rest: Any) -> None:  # noqa: ANN401  one, or several
        several = values if isinstance(values, list | tuple) else (values,)
        super().__init__(values=tuple(several), **rest)

    @field_validator("values")
    @classmethod
    def _are_some(cls, values: tuple[Any, ...]) -> tuple[Any, ...]:
        if not 1 <= len(values) <= MOST_VALUES:
            raise ValueError(
                f"CategoricalParameter has {len(values)} values, but may have 1 to "
                f"{MOST_VALUES}. Change them, or give a range of numbers."
            )
        if len(set(map(repr, values))) < len(values):
            raise ValueError("CategoricalParameter has a value twice. Drop one of them.")
        return values


ParameterRange = Annotated[
    ContinuousParameter | IntegerParameter | CategoricalParameter, Field(discriminator="kind")
]


def holds(one: ParameterRange, value: object) -> bool:
    """Return whether a range holds a value."""
    if isinstance(one, CategoricalParameter):
        return any(value == own and type(value) is type(own) for own in one.values)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    is_whole = isinstance(value, int) or isinstance(one, ContinuousParameter)
    return is_whole and one.min_value <= value <= one.max_value


_SCALES: dict[str, Scaling] = {
    "linear": "Linear",
    "log": "Logarithmic",
    "reverse-log": "ReverseLogarithmic",
}
_NUMBERS = re.compile(r"(?:(?P<scale>[a-z-]+):)?(?P<low>[^,]+?)\.\.(?P<high>[^,]+)")
_FORMS = "NAME=LOW..HIGH, NAME=log:LOW..HIGH or NAME=VALUE,VALUE"


def parse_range(text: str) -> tuple[str, ParameterRange]:
    """Return the name and the range of a text, such as ``lr=log:1e-4..1e-1``.

    Args:
        text: ``NAME=LOW..HIGH`` (whole numbers where both are), with ``log:``, ``linear:`` or
            ``reverse-log:`` before them; or ``NAME=VALUE,VALUE``.

    Raises:
        SpecError: It is none.
    """
    name, is_given, told = text.partition("=")
    name, told = name.strip(), told.strip()
    if not (is_given and name and told):
        raise SpecError(f"The range {text[:80]!r} is not {_FORMS}. Write it so.")
    numbers = _NUMBERS.fullmatch(told)
    if numbers is None:
        return name, CategoricalParameter(
            [parse_hyperparameter(f"{name}={value.strip()}")[1] for value in told.split(",")]
        )
    scale = numbers["scale"]
    if scale is not None and scale not in _SCALES:
        raise SpecError(
            f"The range {text[:80]!r} has the scale {scale[:20]!r}. There are: "
            f"{', '.join(_SCALES)}."
        )
    scaling: Any = "Auto" if scale is None else _SCALES[scale]
    low, high = _number(numbers["low"], text), _number(numbers["high"], text)
    if isinstance(low, int) and isinstance(high, int) and scaling != "ReverseLogarithmic":
        return name, IntegerParameter(low, high, scaling)
    return name, ContinuousParameter(float(low), float(high), scaling)


def parse_ranges(texts: Iterable[str]) -> dict[str, ParameterRange]:
    """Return the ranges of several texts, by name.

    Raises:
        SpecError: One is none, or a name is there twice; all reasons at once.
    """
    found: dict[str, ParameterRange] = {}
    problems = []
    for text in texts:
        try:
            name, one = parse_range(text)
        except SpecError as error:
            problems += error.problems
            continue
        if name in found:
            problems.append(f"The range of {name[:80]!r} is given twice. Drop one of them.")
        found[name] = one
    if problems:
        raise SpecError(problems)
    return found


def _number(text: str, whole: str) -> int | float:
    for read in (int, float):
        try:
            found = read(text.strip())
        except ValueError:
            continue
        if math.isfinite(found):
            return found
    raise SpecError(
        f"The range {whole[:80]!r} has the end {text[:20]!r}, which is no number. Write "
        f"{_FORMS}."
    )
