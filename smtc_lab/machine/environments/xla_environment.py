"""Where XLA lies when it lies in a Python environment of its own, told from process to process.

torch_xla's last release needs a torch that is older than ours. So it has an interpreter of its
own on the machine, in which a training script can run as well.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

XLA_ENVIRONMENT_VARIABLE = "SMTC_XLA_ENVIRONMENT"
"""Environment variable of a trainer under ``auto`` that may go over to that environment; unset:
there is none, or the trainer's own interpreter has torch_xla."""


@dataclass(frozen=True, kw_only=True)
class XlaEnvironment:
    """A Python environment with torch_xla, and the torch that it was made for."""

    python: str
    """Its interpreter."""

    path: str
    """A folder that holds nothing but this package, for the begin of PYTHONPATH there."""


def with_xla_environment(environment: XlaEnvironment) -> dict[str, str]:
    """Return the variable by which a trainer knows the environment."""
    return {XLA_ENVIRONMENT_VARIABLE: json.dumps(asdict(environment))}


def xla_environment(variables: Mapping[str, str] = os.environ) -> XlaEnvironment | None:
    """Return the environment that this process was told of; None: of none.

    Raises:
        ValueError: The variable is damaged.
        TypeError: It has other fields.
    """
    text = variables.get(XLA_ENVIRONMENT_VARIABLE)
    return XlaEnvironment(**json.loads(text)) if text else None
