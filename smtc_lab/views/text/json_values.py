"""Descriptions as JSON values, as the schema says that a browser reads."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from smtc_lab.neutral_text import neutral_json

_ADAPTERS: dict[type, TypeAdapter[Any]] = {}


def json_values(told: object) -> dict[str, Any]:
    """Return a dataclass as JSON values, its texts neutral."""
    kind = type(told)
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    values: dict[str, Any] = neutral_json(_ADAPTERS[kind].dump_python(told, mode="json"))
    return values
