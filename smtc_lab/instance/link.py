"""The network between the instances of an emulation, as each of them is told."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, kw_only=True)
class DeclaredWire:
    """What a message takes from one trainer to the next: a latency, and time for its bytes."""

    latency_s: float
    """Time of an empty message in seconds."""

    bytes_per_s: float
    """Bytes that go through in a second, each way."""


@dataclass(frozen=True, kw_only=True)
class LinkDeclaration:
    """The wires of an emulation, in seconds of this machine: declared times are stretched."""

    inside: DeclaredWire | None
    """Between trainers of one instance; None: as fast as this machine moves values."""

    between: DeclaredWire | None
    """Between instances; None: as fast as this machine moves values."""

    batch_bytes_per_s: float | None = None
    """Bytes that a data instance sends in a second to one trainer from each of its data
    workers, at most; None: as many as this machine moves."""

    def to_values(self) -> dict[str, Any]:
        """Return what JSON can hold of it."""
        return asdict(self)

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self:
        """Return what ``to_values`` returned.

        Raises:
            TypeError, KeyError: It is something else.
        """
        inside, between = values["inside"], values["between"]
        return cls(
            inside=None if inside is None else DeclaredWire(**inside),
            between=None if between is None else DeclaredWire(**between),
            batch_bytes_per_s=values.get("batch_bytes_per_s"),
        )
