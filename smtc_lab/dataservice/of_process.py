"""What a dataloader has in its process alone, kept apart so that the loader can be copied.

Scripts deep-copy and save objects that hold dataloaders. Connections, threads, the job's secret
and what records go to must be in no copy of another process, and in no file.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from smtc_lab.dataservice import placement

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.dataservice.client.client import Client
    from smtc_lab.dataservice.iterating.keeping import Keeping
    from smtc_lab.dataservice.placement import ServerAddress
    from smtc_lab.metrics.records.records import LoaderRecord

PLACE = "_of_process"
"""Attribute of a loader that holds all of this."""


@dataclass(kw_only=True, slots=True, eq=False)
class OfProcess:
    """Settings and connections of a loader in this process.

    A deep copy has the same settings, and connects anew. A pickle has neither: where it is
    loaded they are those of the default placement there.
    """

    servers: tuple[ServerAddress, ...]
    secret: bytes | None = field(repr=False)
    tls: bool
    allow_pickle: bool
    record: Callable[[LoaderRecord], None] | None
    notify: Callable[[str], None] | None
    journal: Callable[[dict[str, Any]], object] | None = None
    client: Client | None = None
    """Asks for the loader's batches; None: it was not iterated over yet."""
    keeping: Keeping | None = None
    """Whether the trainer itself prepares its batches; None: it was not looked at."""

    def __deepcopy__(self, memo: dict[int, Any]) -> OfProcess:
        return replace(self, client=None)

    def __reduce__(self) -> tuple[Callable[[], OfProcess], tuple[()]]:
        return of_process, ()


def of_process(**given: Any) -> OfProcess:  # noqa: ANN401  its fields
    """Return what a loader has here; what is not given, or None, is that of the default."""
    default = placement.default()
    own = OfProcess(
        servers=default.servers,
        secret=default.secret,
        tls=default.tls,
        allow_pickle=default.allow_pickle,
        record=default.record,
        notify=default.notify,
    )
    return replace(own, **{name: it for name, it in given.items() if it is not None})


class HeldElsewhere:
    """An attribute of a loader that is kept in its ``OfProcess``."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name.lstrip("_")

    def __get__(self, loader: object, kind: type | None = None) -> Any:  # noqa: ANN401  as it is kept
        return self if loader is None else getattr(vars(loader)[PLACE], self._name)

    def __set__(self, loader: object, value: object) -> None:
        setattr(vars(loader)[PLACE], self._name, value)
