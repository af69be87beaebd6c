"""Lays Python expressions out: on one line where they fit, else one part a line."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

WIDTH = 88
"""Longest line, in characters, of what can be broken."""

_INDENT = "    "
_NOTHING: Mapping[str, Node] = MappingProxyType({})


@dataclass(frozen=True)
class Call:
    """A call: what is called, values by position, values by name."""

    name: str
    by_position: tuple[Node, ...] = ()
    by_name: Mapping[str, Node] = field(default_factory=lambda: _NOTHING)


@dataclass(frozen=True)
class Listing:
    """A list."""

    items: tuple[Node, ...]


@dataclass(frozen=True)
class Dictionary:
    """A dict with names as its keys."""

    items: Mapping[str, Node]


Node = Call | Listing | Dictionary | str
"""An expression; a text is one that is not broken."""


def laid_out(begin: str, node: Node) -> str:
    """Return an expression behind the begin of its line; more lines are indented like it."""
    indent = begin[: len(begin) - len(begin.lstrip())]
    return begin + _lines(node, indent=indent, taken=len(begin))


def literal(value: object) -> str:
    """Return the literal of a value of JSON, on one line, texts in double quotes."""
    if isinstance(value, str):
        text = repr(value)
        return text if "'" in value or '"' in value else f'"{text[1:-1]}"'
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, dict):
        pairs = (f"{literal(name)}: {literal(item)}" for name, item in value.items())
        return f"{{{', '.join(pairs)}}}"
    return repr(value)


def _lines(node: Node, *, indent: str, taken: int) -> str:
    flat = _flat(node)
    if isinstance(node, str) or taken + len(flat) <= WIDTH:
        return flat
    begin, parts, end = _parts(node)
    deeper = indent + _INDENT
    lines = [
        f"{deeper}{name}{_lines(part, indent=deeper, taken=len(deeper + name) + 1)},"
        for name, part in parts
    ]
    return "\n".join([begin, *lines, f"{indent}{end}"])


def _flat(node: Node) -> str:
    if isinstance(node, str):
        return node
    begin, parts, end = _parts(node)
    return f"{begin}{', '.join(name + _flat(part) for name, part in parts)}{end}"


def _parts(node: Call | Listing | Dictionary) -> tuple[str, list[tuple[str, Node]], str]:
    """Return how an expression begins, its parts with what stands before them, and its end."""
    if isinstance(node, Listing):
        return "[", [("", item) for item in node.items], "]"
    if isinstance(node, Dictionary):
        return "{", [(f"{literal(name)}: ", item) for name, item in node.items.items()], "}"
    by_name = [(f"{name}=", item) for name, item in node.by_name.items()]
    return f"{node.name}(", [*(("", item) for item in node.by_position), *by_name], ")"
