"""Takes out of a result what must not be handed on: values of variables, and secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from smtc_lab.store.said import without_secrets

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from smtc_lab.planner.calibration.calibration import Calibration
    from smtc_lab.spec.job import TrainingJob

    Given = TypeVar("Given", TrainingJob, Calibration)

HIDDEN = "***"
"""What stands for a value that is not handed on."""


def without_values(given: Given) -> Given:
    """Return a job, or what a plan was calibrated with, without what may be a secret.

    No value of an environment variable is left, whatever its name, and none of a
    hyperparameter or an argument that is named like a secret: ``--api-key VALUE``.
    """
    return given.model_copy(
        update={
            "environment": dict.fromkeys(given.environment, HIDDEN),
            "hyperparameters": {
                name: HIDDEN if _is_private(name) else value
                for name, value in given.hyperparameters.items()
            },
            "arguments": tuple(_shown_arguments(given.arguments)),
        }
    )


def secrets_of(given: Sequence[TrainingJob | Calibration]) -> dict[str, str]:
    """Return the values that are named like a secret, for ``without_secrets``."""
    found = set()
    for each in given:
        named = {**each.environment, **each.hyperparameters}
        found |= {str(value) for name, value in named.items() if _is_private(name)}
        shown = _shown_arguments(each.arguments)
        pairs = zip(each.arguments, shown, strict=True)
        found |= {was.partition("=")[2] or was for was, now in pairs if was != now}
    return {f"secret_{place}": value for place, value in enumerate(sorted(found))}


def without(value: Any, secrets: dict[str, str]) -> Any:  # noqa: ANN401  any JSON value
    """Return a JSON value with the secrets in its texts hidden.

    Python code is left as it is: ``without_values`` saw to it before it was written.
    """
    if isinstance(value, str):
        return text_without(value, secrets)
    if isinstance(value, list | tuple):
        return [without(each, secrets) for each in value]
    if isinstance(value, dict):
        return {
            name: each if name == "code" else without(each, secrets)
            for name, each in value.items()
        }
    return value


def text_without(text: str, secrets: dict[str, str]) -> str:
    """Return a text with the secrets in each of its lines hidden."""
    return "\n".join(without_secrets(line, secrets) for line in text.split("\n"))


def _shown_arguments(arguments: Sequence[str]) -> Iterator[str]:
    is_value = False
    for argument in arguments:
        name, equals, _ = argument.partition("=")
        is_flag = argument.startswith("-")
        if equals and is_flag and _is_private(name):
            yield f"{name}={HIDDEN}"
        else:
            yield HIDDEN if is_value and not is_flag else argument
        is_value = is_flag and not equals and _is_private(name)


def _is_private(name: str) -> bool:
    """Return whether a name is that of a secret."""
    assigned = f"{name}=value"
    return without_secrets(assigned, {}) != assigned
