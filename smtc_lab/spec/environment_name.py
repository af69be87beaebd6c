"""The name of a Python environment in a spec."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field

_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}"


def _is_legal(name: str) -> str:
    if not re.fullmatch(_NAME, name):
        raise ValueError(
            f"python_environment {name[:80]!r} is not 1 to 63 letters, digits, '.', '_' and "
            "'-', a letter or digit first. Give a name that 'smtc-lab environment' lists."
        )
    return name


EnvironmentName = Annotated[
    str, AfterValidator(_is_legal), Field(json_schema_extra={"pattern": f"^{_NAME}$"})
]
"""1 to 63 letters, digits, ``.``, ``_`` and ``-``, a letter or digit first."""
