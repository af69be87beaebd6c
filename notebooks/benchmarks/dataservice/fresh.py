"""Measurements in processes of their own, so that no library disturbs another one's."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import RunFailedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from notebooks.benchmarks.dataservice.interference import Interference
    from notebooks.benchmarks.dataservice.siege import Siege
    from notebooks.benchmarks.dataservice.throughput import Throughput

Row = dict[str, Any]
"""The fields of a ``Throughput``, ``Interference`` or ``Siege``, and the ``round``."""

_LIMIT_S = 600
_SHOWN_CHARACTERS = 2000


def rounds(
    what: str,
    peers: Sequence[str],
    payloads: Sequence[str],
    *,
    repeats: int,
    on_failure: Callable[[str], None],
    **arguments: float | str,
) -> Iterator[Row]:
    """Yield what was measured of each peer with each payload, in each round.

    All peers are measured in each round, so that a slow moment of the machine hits all alike.

    Args:
        what: ``throughput``, ``interference`` or ``siege``.
        peers: Names of peers that are installed.
        payloads: Names of payloads.
        repeats: Rounds.
        on_failure: Gets a sentence for each measurement that failed; its row is left out.
        arguments: What the measurement takes, ``seconds`` among it.
    """
    for number in range(repeats):
        for payload in payloads:
            for peer in peers:
                try:
                    row = measured(what, peer=peer, payload=payload, **arguments)
                except RunFailedError as error:
                    on_failure(str(error))
                else:
                    yield {"round": number, **row}


def measured(what: str, **arguments: object) -> Row:
    """Return what was measured in a fresh process.

    Args:
        what: ``throughput``, ``interference`` or ``siege``.
        arguments: Names of ``peer`` and ``payload``, and what the measurement takes.

    Raises:
        RunFailedError: The process failed, with the end of what it wrote to stderr, or took
            longer than ten minutes.
    """
    command = [sys.executable, "-m", __name__, what, json.dumps(arguments)]
    try:
        ended = subprocess.run(  # noqa: S603  this module, with names that the caller wrote
            command, capture_output=True, text=True, check=False, timeout=_LIMIT_S
        )
    except subprocess.TimeoutExpired:
        raise RunFailedError(
            f"The measurement of {what} with {arguments} took more than {_LIMIT_S} s. Use a "
            "machine with less load."
        ) from None
    if ended.returncode:
        raise RunFailedError(
            f"The measurement of {what} with {arguments} ended with exit code "
            f"{ended.returncode}: {ended.stderr[-_SHOWN_CHARACTERS:]}"
        )
    # Libraries may have written something before.
    row: Row = json.loads(ended.stdout.splitlines()[-1])
    return row


def _main(what: str, text: str) -> None:
    from notebooks.benchmarks.dataservice.interference import measure_interference  # noqa: PLC0415
    from notebooks.benchmarks.dataservice.payloads import PAYLOADS  # noqa: PLC0415  torch is slow
    from notebooks.benchmarks.dataservice.peers.known import PEERS  # noqa: PLC0415  to import, and only
    from notebooks.benchmarks.dataservice.siege import measure_siege  # noqa: PLC0415  here
    from notebooks.benchmarks.dataservice.throughput import measure_throughput  # noqa: PLC0415

    measures: dict[str, Callable[..., Throughput | Interference | Siege]] = {
        "throughput": measure_throughput,
        "interference": measure_interference,
        "siege": measure_siege,
    }
    arguments = json.loads(text)
    peer, payload = PEERS[arguments.pop("peer")], PAYLOADS[arguments.pop("payload")]
    row = measures[what](peer, payload, **arguments)
    sys.stdout.write(json.dumps(asdict(row)) + "\n")


if __name__ == "__main__":
    _main(*sys.argv[1:])
