"""Writes YAML: mappings, lists, texts, whole numbers, truth values."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

Yaml = str | int | bool | Mapping[str, "Yaml"] | Sequence["Yaml"]
"""What can be written. Names in mappings are plain: letters, digits, ``.``, ``-`` and ``/``."""


def yaml_text(value: Mapping[str, Yaml]) -> str:
    """Return a mapping as YAML, which every reader of YAML reads back unchanged."""
    return "".join(f"{line}\n" for line in _lines(value))


def _lines(value: Yaml) -> Iterator[str]:
    if isinstance(value, Mapping) and value:
        for name, item in value.items():
            first, *rest = _lines(item)
            if isinstance(item, str | int) or not item:
                yield f"{name}: {first}"
            else:
                yield f"{name}:"
                yield from (f"  {line}" for line in (first, *rest))
    elif isinstance(value, Sequence) and not isinstance(value, str) and value:
        for item in value:
            first, *rest = _lines(item)
            yield f"- {first}"
            yield from (f"  {line}" for line in rest)
    elif isinstance(value, str):
        yield _quoted(value)
    else:  # numbers, truth values and what is empty are the same in JSON
        yield json.dumps(value)


def _quoted(text: str) -> str:
    # As in JSON, which however writes a character beyond 16 bits as two halves.
    escaped = (json.dumps(c)[1:-1] if c <= "\uffff" else f"\\U{ord(c):08x}" for c in text)
    return f'"{"".join(escaped)}"'
