"""Tells of trainers whose script takes different numbers of steps.

The one that goes on waits for the gradients of one that has ended, and fails over a lost
connection, which names no cause.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

from smtc_lab.instance.progress import StepCounters, progress_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.instance.description import InstanceDescription
    from smtc_lab.runtime.entry_point import EntryPoint
    from smtc_lab.store.run_folder import RunFolder

_LOST = re.compile(r"connection|peer|socket|broken pipe", re.IGNORECASE)
_MOST_BYTES = 4096


def unequal_steps(
    told: InstanceDescription,
    folder: RunFolder,
    entry_points: Sequence[EntryPoint],
    failed: EntryPoint,
) -> str | None:
    """Return a sentence where a trainer failed because another one had ended well.

    Args:
        told: What the instance is told.
        folder: The run's folder.
        entry_points: Its trainers.
        failed: The one that failed first.
    """
    if failed.rank is None or not failed.decisive_code:
        return None
    done = [each for each in entry_points if each.exit_code == 0 and each.rank is not None]
    if not done:
        return None
    reason = ""
    with suppress(OSError), folder.failure_file(told.host).open("rb") as file:
        reason = file.read(_MOST_BYTES).decode("utf-8", errors="replace")
    if not _LOST.search(reason):
        return None
    counts: dict[int, int] = {}
    for rank in (failed.rank, *(each.rank for each in done if each.rank is not None)):
        with suppress(OSError):
            counts[rank] = StepCounters(progress_file(folder, told.host, rank)).num_steps
    own = counts.pop(failed.rank, None)
    if own is None or not counts or own < min(counts.values()):
        return None
    first = min(counts, key=counts.__getitem__)
    return (
        f"Rank {first} had ended well after {counts[first]:,} steps when rank {failed.rank} "
        f"went on after its {own:,}: trainers wait for each other in every step. Give all of "
        "them equally many batches, as session.dataloader() does."
    )
