"""Hyperparameters: JSON texts on the wire, values in a script, arguments on its command line.

Standard library only: the agent of an instance imports it before anything else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from smtc_lab.errors import SpecError

PLATFORM_PREFIX = "sagemaker_"
"""Hyperparameters with this prefix are the platform's, not the script's."""

PLATFORM_HYPERPARAMETERS = frozenset(
    {
        "sagemaker_program",
        "sagemaker_submit_directory",
        "sagemaker_enable_cloudwatch_metrics",
        "sagemaker_region",
        "sagemaker_container_log_level",
        "sagemaker_job_name",
        "default_user_module_name",
        "_tuning_objective_metric",
        "sagemaker_s3_output",
    }
)
"""The platform's hyperparameters that ``SM_FRAMEWORK_PARAMS`` leaves out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Hyperparameters:
    """Hyperparameters by whom they are for."""

    user: dict[str, Any]
    """The script's own."""

    platform: dict[str, Any]
    """All that the platform added."""

    framework: dict[str, Any]
    """The platform's that are not in ``PLATFORM_HYPERPARAMETERS``."""


def split_hyperparameters(hyperparameters: Mapping[str, Any]) -> Hyperparameters:
    """Return hyperparameters by whom they are for.

    Args:
        hyperparameters: Values by name, the platform's among them.
    """
    platform = {
        name: value
        for name, value in hyperparameters.items()
        if name in PLATFORM_HYPERPARAMETERS or name.startswith(PLATFORM_PREFIX)
    }
    return Hyperparameters(
        user={n: value for n, value in hyperparameters.items() if n not in platform},
        platform=platform,
        framework={n: v for n, v in platform.items() if n not in PLATFORM_HYPERPARAMETERS},
    )


def encode_hyperparameters(hyperparameters: Mapping[str, object]) -> dict[str, str]:
    """Return hyperparameters as SageMaker has them on the wire: each value a JSON text.

    Raises:
        SpecError: One line for each value that is not JSON, or that no environment variable
            could hold (a NUL character, or half of a surrogate pair).
    """
    encoded: dict[str, str] = {}
    problems = []
    for name, value in hyperparameters.items():
        try:
            encoded[name] = json.dumps(value)
        except (TypeError, ValueError) as error:
            problems.append(
                f"Hyperparameter {name!r} has the value {str(value)[:80]!r}, which is not "
                f"JSON: {error}. Give text, a number, a boolean, None, a list or a dict."
            )
            continue
        if not all(_is_passable(text) for text in _texts({name: value})):
            problems.append(
                f"Hyperparameter {name!r} holds {encoded[name][:80]}, whose NUL or lone "
                "surrogate no environment variable can hold. Remove that character."
            )
    if problems:
        raise SpecError(problems)
    return encoded


def decode_hyperparameters(encoded: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values; a text that is not JSON stands for itself."""
    decoded = {}
    for name, text in encoded.items():
        try:
            decoded[name] = json.loads(text)
        except (ValueError, TypeError):
            decoded[name] = text
    return decoded


def user_args(hyperparameters: Mapping[str, object]) -> list[str]:
    """Return the command line arguments that the entry point gets.

    Sorted by name; ``--name value``, or ``-n value`` for a name of one letter. A dict becomes
    ``key=value,key=value``, None an empty text, and everything else what ``str`` makes of it:
    a boolean is ``True``, a list is ``[1, 2]``. The platform's own names are left out.

    Args:
        hyperparameters: Values by name, as JSON knows them.
    """
    arguments = []
    user = split_hyperparameters(hyperparameters).user
    for name in sorted(user):
        dashes = "--" if len(name) > 1 else "-"
        arguments += [f"{dashes}{name}", _argument(user[name])]
    return arguments


def _argument(value: object) -> str:
    if isinstance(value, Mapping):
        return ",".join(f"{key}={item}" for key, item in sorted(value.items()))
    return "" if value is None else str(value)


def _texts(value: object) -> Iterator[str]:
    """Yield every text in a JSON value, the names of its fields included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _texts(name)
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def _is_passable(text: str) -> bool:
    try:
        return b"\0" not in text.encode("utf-8")
    except UnicodeEncodeError:
        return False
