"""What a browser is told of the Python environments.

``smtc_lab.views.wire_schema`` tells TypeScript of it; both read
``tests/fixtures/environments.json``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smtc_lab.views.environments.choices import EnvironmentChoice  # noqa: TC001  pydantic
from smtc_lab.views.environments.xla_maker import Making  # noqa: TC001  pydantic
from smtc_lab.views.text.json_values import json_values

if TYPE_CHECKING:
    from smtc_lab.views.environments.choices import EnvironmentChoices


@dataclass(frozen=True, kw_only=True)
class Environments:
    """The Python environments of a machine."""

    choices: tuple[EnvironmentChoice, ...]
    """The one that launches first."""

    no_xla: str
    """Why a job that names no environment cannot use the backend ``xla``; empty: it can."""

    making: Making
    """How far the environment of XLA is, which a form can have made."""


def environments_json(choices: EnvironmentChoices, making: Making) -> dict[str, Any]:
    """Return what forms show of the environments, as JSON values."""
    return json_values(
        Environments(choices=choices.choices, no_xla=choices.no_xla, making=making)
    )
