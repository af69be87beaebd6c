"""Where batches are made: data servers, and data workers of the trainer itself."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from smtc_lab.errors import DataServiceError

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.metrics.records.records import LoaderRecord

SECRET_BYTES = 32
"""Length of a job's secret."""


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """Where a data server listens."""

    host: str
    """Name or address of its instance."""

    port: int
    """TCP port, 1 to 65535."""

    def __post_init__(self) -> None:
        if not self.host or not 1 <= self.port <= 65535:
            raise DataServiceError(
                f"The data server address {self!s} is not HOST:PORT with a port of 1 to 65535. "
                "Give the address that the data server announces."
            )

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the address that was written as ``HOST:PORT``.

        Raises:
            DataServiceError: The text does not have this form.
        """
        host, _, port = text.rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        return cls(host, int(port) if port.isdecimal() and len(port) <= 5 else 0)

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Placement:
    """What a dataloader takes where its own arguments say nothing."""

    servers: tuple[ServerAddress, ...] = ()
    """Data servers to ask; empty: none."""

    secret: bytes | None = field(default=None, repr=False)
    """The job's secret, 32 bytes; needed with servers."""

    tls: bool = False
    """Whether connections to servers are encrypted; then the servers' must be too."""

    num_local_workers: int | None = None
    """Data workers of the trainer itself; None: the loader's ``num_workers``."""

    seed: int | None = None
    """Seed of each sample's random transforms; None: ``torch.initial_seed()``."""

    allow_pickle: bool = False
    """Whether servers may send objects of unknown types as pickles, which can run any code."""

    record: Callable[[LoaderRecord], None] | None = None
    """Gets a record for each server about twice a second, in the thread that iterates."""

    notify: Callable[[str], None] | None = None
    """Gets one sentence for each fault that was mended, in the thread that iterates. None:
    they go to the log ``smtc_lab.dataservice``."""

    keeps_in_process: bool = False
    """Whether loaders with ``num_workers=0`` are never made by data servers."""

    on_kept: Callable[[str], None] | None = None
    """Gets why the trainer itself prepares the batches of a loader. None: ``notify`` does."""

    def __post_init__(self) -> None:
        check_secret(self.servers, self.secret)
        check_num_local_workers(self.num_local_workers)


def check_secret(servers: tuple[ServerAddress, ...], secret: bytes | None) -> None:
    """Refuse servers without a secret, and a secret that is not 32 bytes.

    Raises:
        DataServiceError: What is wrong with the secret; its value is never shown.
    """
    if servers and secret is None:
        raise DataServiceError(
            f"There are {len(servers)} data servers ({', '.join(map(str, servers))}) but no "
            "secret, and data servers talk to nobody without it. Give secret= the job's "
            f"{SECRET_BYTES} bytes."
        )
    if secret is not None and len(secret) != SECRET_BYTES:
        raise DataServiceError(
            f"The secret has {len(secret)} bytes, but needs {SECRET_BYTES}. Make one with "
            f"secrets.token_bytes({SECRET_BYTES})."
        )


def check_num_local_workers(num_local_workers: int | None) -> None:
    """Refuse a negative number of data workers.

    Raises:
        DataServiceError: The number is negative.
    """
    if num_local_workers is not None and num_local_workers < 0:
        raise DataServiceError(
            f"num_local_workers={num_local_workers}, but must be at least 0. Raise it, or "
            "leave it out to take num_workers."
        )


class _Process:
    """What this process has set and counted; a fork begins with its parent's."""

    default = Placement()
    loader_numbers = itertools.count()
    has_iterated = False


def set_default(placement: Placement | None) -> None:
    """Set what dataloaders made after this call take where their arguments say nothing.

    The script has made no loader yet, and iterated over none.

    Args:
        placement: The default; None: local dataloaders again.
    """
    _Process.default = Placement() if placement is None else placement
    _Process.loader_numbers = itertools.count()
    _Process.has_iterated = False


def has_iterated() -> bool:
    """Return whether the script has iterated over a loader."""
    return _Process.has_iterated


def note_iteration() -> None:
    """Take note that the script iterates over a loader."""
    _Process.has_iterated = True


def default() -> Placement:
    """Return the default placement; without one that was set, a local one."""
    return _Process.default


def next_loader_number() -> int:
    """Return the number of the next dataloader by order of construction, from 0."""
    return next(_Process.loader_numbers)
