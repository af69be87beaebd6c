"""Numbers out of what scripts log: numbers, tensors of one element, dicts of them."""

from __future__ import annotations

import operator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import EntryPointError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_MOST_STEP = 2**53
"""Steps that a number of a chart can tell apart."""

_MOST_SHOWN = 80


def flat(values: Mapping[Any, Any], begin: str = "") -> Iterator[tuple[str, Any]]:
    """Yield names and values; those of a dict in it are called ``<its name>/<their name>``.

    Args:
        values: What is logged.
        begin: What all names begin with.

    Raises:
        EntryPointError: A name is no text, or empty.
    """
    for name, value in values.items():
        if not isinstance(name, str) or not name.strip():
            raise EntryPointError(
                f"The name of a metric is {_shown(name)} ({type(name).__name__}), but has to "
                "be a text that is not empty. Call it 'train/loss', say."
            )
        if hasattr(value, "items"):
            yield from flat(value, f"{begin}{name}/")
        else:
            yield f"{begin}{name}", value


def number_of(value: Any) -> float:  # noqa: ANN401  whatever a script logs
    """Return a value as a number, NaN and infinite ones too. On a GPU it is waited for.

    Raises:
        TypeError: It is none.
        ValueError: It has several elements, or none.
        RuntimeError: As ``ValueError``, where torch says so.
        OverflowError: It is a whole number that is too great.
    """
    if not isinstance(value, float | int) and hasattr(value, "item"):
        value = value.item()
    if not isinstance(value, float | int):
        raise TypeError
    return float(value)


def checked(values: Mapping[Any, Any]) -> list[tuple[str, float]]:
    """Return all values as numbers, by their names.

    Raises:
        EntryPointError: One of them is none, or a name is no text.
    """
    points = []
    for name, value in flat(values):
        try:
            points.append((name, number_of(value)))
        except (TypeError, ValueError, RuntimeError, OverflowError) as error:
            shape = getattr(value, "shape", None)
            of = _shown(value) if shape is None else f"of shape {tuple(shape)}"
            raise EntryPointError(
                f"The metric {name[:_MOST_SHOWN]!r} is no number, but {type(value).__name__} "
                f"{of}. Log one number: its mean, say, or leave it out."
            ) from error
    return points


def checked_step(step: Any) -> int | None:  # noqa: ANN401  as above
    """Return the step that a script gave; None: it gave none.

    Raises:
        EntryPointError: It is no whole number from 0 on.
    """
    if step is None:
        return None
    with suppress(TypeError, ValueError, RuntimeError):
        if 0 <= (number := operator.index(step)) <= _MOST_STEP:
            return number
    raise EntryPointError(
        f"The step {_shown(step)} ({type(step).__name__}) is no whole number from 0 on. Leave "
        "it out, and it is the step of the training."
    )


def step_or_none(step: Any) -> int | None:  # noqa: ANN401  as above
    """Return the step that another logger was given; None: it is none of ours."""
    with suppress(TypeError, ValueError, RuntimeError, OverflowError):
        if step is not None and 0 <= (number := int(step)) <= _MOST_STEP:
            return number
    return None


def _shown(value: object) -> str:
    return repr(value)[:_MOST_SHOWN]
