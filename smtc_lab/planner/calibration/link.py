"""Measures how long processes of this machine take to add up gradients with gloo."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.errors import PlannerError
from smtc_lab.planner.calibration.parts import LinkPoint
from smtc_lab.planner.calibration.trial import measured_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SIZES = (2**16, 2**24)
"""Bytes of the two all-reduces: one is latency, the other bandwidth."""

_PROGRAM = "smtc_lab.runtime.measuring.all_reduce"
_LIMIT_S = 120.0


def measure_links(*, seconds: float = 1.0) -> tuple[LinkPoint, ...]:
    """Return how long two processes of this machine take for all-reduces of two sizes.

    Args:
        seconds: How long each size is repeated.

    Raises:
        PlannerError: They do not come together; says what they said.
    """
    took_s = all_reduce_times(
        [[], []], interface="lo", sizes=SIZES, seconds=seconds, limit_s=_LIMIT_S
    )
    return tuple(
        LinkPoint(nbytes=size, all_reduce_s=measured_mean(np.array(took_s[size])))
        for size in SIZES
    )


def all_reduce_times(
    prefixes: Sequence[Sequence[str]],
    *,
    interface: str,
    sizes: Sequence[int],
    seconds: float,
    limit_s: float,
) -> Mapping[int, list[float]]:
    """Return the seconds of all-reduces of real processes, by their bytes.

    Args:
        prefixes: One for each rank: what its command begins with, such as the network
            namespace that it lives in; empty: nothing.
        interface: The network interface that they use.
        sizes: Bytes of each rank.
        seconds: How long each size is repeated; at least five times.
        limit_s: When they are ended at the latest, in seconds.

    Raises:
        PlannerError: They do not come together; says what they said.
    """
    with tempfile.TemporaryDirectory(prefix="smtc-link-") as folder:
        ranks = [
            subprocess.Popen(  # noqa: S603  our own program; the caller chose the prefix
                [
                    *prefix,
                    *(sys.executable, "-m", _PROGRAM, str(Path(folder, "store")), str(rank)),
                    *(str(len(prefixes)), interface, str(seconds), *map(str, sizes)),
                ],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                stdin=subprocess.DEVNULL,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
            )
            for rank, prefix in enumerate(prefixes)
        ]
        end_s = time.monotonic() + limit_s
        try:
            said = [
                each.communicate(timeout=max(0.0, end_s - time.monotonic())) for each in ranks
            ]
        except subprocess.TimeoutExpired:
            said = []
        finally:
            for each in ranks:
                each.kill()
                each.wait()
    if not said or any(each.returncode for each in ranks):
        why = "; ".join(errors.decode(errors="replace")[-200:] for _, errors in said)
        raise PlannerError(
            f"{len(ranks)} processes could not add up gradients over {interface!r} within "
            f"{limit_s:g} s ({why.strip() or 'they did not end'}). Calibrate again."
        )
    return {int(size): times for size, times in json.loads(said[0][0]).items()}
