"""Ranks of one machine see when the others were ready; of other machines they do not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    RunRanks = Callable[[str, int], list[str]]

_SHARED = """
import glob, os, tempfile, time
from smtc_lab.parallel.link.board import _SLOTS, shared_board

{before}
board = shared_board()
told = None
if board is not None:
    board.write(1, 10.0 + rank)
    dist.barrier()
    told = [board.here_s(1), board.here_s(2), board.here_s(1 + _SLOTS)]
print(json.dumps({{"told": told, "left": glob.glob(tempfile.gettempdir() + "/smtc-ready-*")}}))
"""


def told(run_ranks: RunRanks, ranks: int, before: str = "") -> list[dict]:
    outputs = run_ranks(_SHARED.format(before=before), ranks)
    return [json.loads(output.splitlines()[-1]) for output in outputs]


def test_a_bucket_is_here_when_the_last_rank_has_it(run_ranks: RunRanks) -> None:
    for each in told(run_ranks, 3):
        assert each == {"told": [12.0, None, None], "left": []}


def test_ranks_that_cannot_see_the_file_all_do_without(run_ranks: RunRanks) -> None:
    """As on another machine, whose files of that name are none or others."""
    before = """
if rank == 1:
    import smtc_lab.parallel.link.board as place
    plain = place._opened
    place._opened = lambda sent, size: plain(b"another" + sent[7:], size)
"""
    assert [each["told"] for each in told(run_ranks, 2, before)] == [None, None]


def test_a_full_disk_of_rank_0_leaves_all_without(run_ranks: RunRanks) -> None:
    before = """
import smtc_lab.parallel.link.board as place
def full(size):
    raise OSError(28, "No space left on device")
place._made = full
"""
    assert [each["told"] for each in told(run_ranks, 2, before)] == [None, None]
