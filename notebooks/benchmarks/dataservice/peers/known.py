"""All peers by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from notebooks.benchmarks.dataservice.peers.arrow_flight import FLIGHT
from notebooks.benchmarks.dataservice.peers.aws_sample import AWS_SAMPLE
from notebooks.benchmarks.dataservice.peers.grpc_bytes import GRPC_BYTES
from notebooks.benchmarks.dataservice.peers.ours import (
    OURS_FAN_IN,
    OURS_LOCAL,
    OURS_TCP,
    OURS_TLS,
)
from notebooks.benchmarks.dataservice.peers.raw_sockets import RAW, RAW_TLS
from notebooks.benchmarks.dataservice.peers.ray_store import RAY
from notebooks.benchmarks.dataservice.peers.tf_data_service import TF_DATA
from notebooks.benchmarks.dataservice.peers.torch_local import TORCH

if TYPE_CHECKING:
    from collections.abc import Iterable

COMPARED = (
    RAW,
    OURS_TCP,
    RAW_TLS,
    OURS_TLS,
    TORCH,
    OURS_LOCAL,
    GRPC_BYTES,
    AWS_SAMPLE,
    FLIGHT,
    RAY,
    TF_DATA,
)
"""What the benchmark compares, the limit first."""

PEERS = {peer.name: peer for peer in (*COMPARED, *OURS_FAN_IN)}
"""All peers by name, also many servers of ours."""


def check_installed(names: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return which of some peers can run, and a sentence for each that cannot.

    Args:
        names: Names of peers; none: all that are compared.
    """
    peers = [PEERS[name] for name in names] or COMPARED
    missing = {peer.name: peer.missing() for peer in peers}
    return (
        [name for name, module in missing.items() if module is None],
        [
            f"Skipped {name}: {module} is not installed. Run: pip install 'smtc-lab[bench]'."
            for name, module in missing.items()
            if module is not None
        ],
    )
