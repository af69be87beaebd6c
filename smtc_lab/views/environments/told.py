"""What a browser is told of the Python environments.

``extensions/protocol/src/environments.ts`` reads it; both read
``tests/fixtures/environments.json``.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from smtc_lab.views.environments.choices import EnvironmentChoices
    from smtc_lab.views.environments.xla_maker import Making


def environments_json(choices: EnvironmentChoices, making: Making) -> dict[str, Any]:
    """Return what forms show of the environments, as JSON values."""
    return {
        "choices": [asdict(choice) for choice in choices.choices],
        "no_xla": choices.no_xla,
        "making": asdict(making),
    }
