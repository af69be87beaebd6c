"""What a hyperparameter can be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.spec.base import text_problem

if TYPE_CHECKING:
    from pydantic import JsonValue

MAX_HYPERPARAMETER_DEPTH = 100
"""Our own limit: a JSON reader gives up on deeper lists, so the job could not come back."""


def check_value(name: str, value: JsonValue, depth: int = 0) -> None:
    """Refuse a hyperparameter that JSON or the arguments of a process cannot carry."""
    if depth > MAX_HYPERPARAMETER_DEPTH:
        raise ValueError(
            f"Hyperparameter {name!r} is nested more than {MAX_HYPERPARAMETER_DEPTH} levels "
            "deep. Pass it in a file."
        )
    texts = list(value) if isinstance(value, dict) else [value]
    for text in texts:
        if isinstance(text, str) and (problem := text_problem(text)):
            raise ValueError(
                f"Hyperparameter {name!r} has a text that {problem}: {text[:80]!r}. Drop that "
                "character."
            )
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            check_value(name, item, depth + 1)
