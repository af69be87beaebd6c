"""What was measured of each peer in each round, in processes of their own."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from notebooks.benchmarks.harness import fresh
from smtc_lab.errors import RunFailedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from notebooks.benchmarks.dataservice.interference import Interference
    from notebooks.benchmarks.dataservice.siege import Siege
    from notebooks.benchmarks.dataservice.throughput import Throughput

Row = dict[str, Any]
"""The fields of a ``Throughput``, ``Interference`` or ``Siege``, and the ``round``."""

_LIMIT_S = 600.0


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
                    row = measured(what, {"peer": peer, "payload": payload, **arguments})
                except RunFailedError as error:
                    on_failure(str(error))
                else:
                    yield {"round": number, **row}


def measured(what: str, arguments: Mapping[str, object], *, python: str | None = None) -> Row:
    """Return what was measured in a fresh process.

    Args:
        what: ``throughput``, ``interference`` or ``siege``.
        arguments: Names of ``peer`` and ``payload``, and what the measurement takes.
        python: The interpreter; None: this one.

    Raises:
        RunFailedError: The process failed, or took longer than ten minutes.
    """
    words = ("-m", __name__, what, json.dumps(arguments))
    row: Row = fresh.measured(
        f"{what} with {arguments}", *words, python=python, limit_s=_LIMIT_S
    )
    return row


def _main(what: str, text: str) -> None:
    # torch is slow to import, and only this process needs it
    from notebooks.benchmarks.dataservice import (  # noqa: PLC0415
        interference,
        siege,
        throughput,
    )
    from notebooks.benchmarks.dataservice.payloads import PAYLOADS  # noqa: PLC0415
    from notebooks.benchmarks.dataservice.peers.known import PEERS  # noqa: PLC0415

    measures: dict[str, Callable[..., Throughput | Interference | Siege]] = {
        "throughput": throughput.measure_throughput,
        "interference": interference.measure_interference,
        "siege": siege.measure_siege,
    }
    arguments = json.loads(text)
    peer, payload = PEERS[arguments.pop("peer")], PAYLOADS[arguments.pop("payload")]
    row = measures[what](peer, payload, **arguments)
    sys.stdout.write(json.dumps(asdict(row)) + "\n")


if __name__ == "__main__":
    _main(*sys.argv[1:])
