"""What a trainer shows its agent while it runs: two counters in a file that both have mapped.

Written at each step, so it must cost next to nothing: no call of the system, no record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.machine.mapped_file import mapped_file

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from smtc_lab.store.run_folder import RunFolder


_NUM_BYTES = 16


def progress_file(folder: RunFolder, host: str, rank: int) -> Path:
    """Return where the counters of a trainer are."""
    return folder.instance(host) / f"progress-rank{rank}"


def num_signs(folder: RunFolder, hosts: Iterable[str]) -> int:
    """Return how many batches all trainers of some instances asked for, in all attempts."""
    found = [path for host in hosts for path in folder.instance(host).glob("progress-rank*")]
    return sum(StepCounters(path).num_signs for path in found)


class StepCounters:
    """The counters of one trainer.

    Args:
        path: The file. Made by whoever comes first, the agent as a rule.

    Raises:
        OSError: It cannot be made or mapped.
    """

    def __init__(self, path: Path) -> None:
        self._counts = mapped_file(path, _NUM_BYTES).cast("Q")

    @property
    def num_steps(self) -> int:
        """Steps that have ended."""
        return self._counts[0]

    @property
    def num_signs(self) -> int:
        """Batches that were asked for, in training or not."""
        return self._counts[1]

    def stepped(self) -> None:
        """Count a step."""
        self._counts[0] += 1

    def gave_sign(self) -> None:
        """Count a batch that was asked for."""
        self._counts[1] += 1
