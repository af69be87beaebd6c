"""The rounds of ``notebooks/bench_parallel.ipynb``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from notebooks.benchmarks.harness.fresh import measured
from notebooks.benchmarks.harness.together import together
from smtc_lab.parallel.pipeline.schedules import SCHEDULES

if TYPE_CHECKING:
    from collections.abc import Iterator

Row = dict[str, Any]

_MODULE = "notebooks.benchmarks.parallel"


def cut_rows(*, repeats: int) -> list[Row]:
    """Return how far cuts of six networks are above the best ones; see ``cuts``."""
    rows: list[Row] = measured("cuts", "-m", f"{_MODULE}.cuts", str(repeats), limit_s=600)
    return rows


def huge_rounds(*, rounds: int) -> Iterator[Row]:
    """Yield what it takes to cut a model of 10 billion parameters; see ``huge``."""
    for number in range(rounds):
        yield {"round": number, **measured("a large model", "-m", f"{_MODULE}.huge")}


def gradient_rows(*, ranks: int) -> Iterator[Row]:
    """Yield how far each schedule's gradients are off, on each rank."""
    for rank, rows in enumerate(_on_ranks("gradients", ranks, schedules=list(SCHEDULES))):
        for row in rows:
            yield {"rank": rank, **row}


def overhead_rounds(*, ranks: int, steps: int, rounds: int) -> Iterator[Row]:
    """Yield steps in our pipeline and in torch's own schedule, as the last rank timed them."""
    for number in range(rounds):
        for row in _on_ranks("overhead", ranks, steps=steps)[-1]:
            yield {"round": number, **row}


def _on_ranks(how: str, ranks: int, **told: Any) -> list[list[Row]]:  # noqa: ANN401  JSON
    with TemporaryDirectory() as folder:
        common = {"how": how, "ranks": ranks, "store": str(Path(folder) / "store"), **told}
        return together(
            [
                [sys.executable, "-m", f"{_MODULE}.node", json.dumps({**common, "rank": rank})]
                for rank in range(ranks)
            ],
            answering=ranks,
        )
