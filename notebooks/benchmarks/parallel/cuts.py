"""How far the slowest stage of a cut is above that of the best one, found by trying all.

``python -m notebooks.benchmarks.parallel.cuts`` prints one JSON list of rows.
"""

from __future__ import annotations

import itertools
import json
import sys
from statistics import median
from typing import TYPE_CHECKING, Any

import torch

from notebooks.benchmarks.parallel.models import NETWORKS
from smtc_lab.parallel.arguments import loss_of_output
from smtc_lab.parallel.pipeline.cutting.measuring import measured_s
from smtc_lab.parallel.pipeline.cutting.partition import best_partition
from smtc_lab.parallel.pipeline.cutting.pieces import Pieces
from smtc_lab.parallel.pipeline.cutting.recording import record

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from notebooks.benchmarks.parallel.models import Made

STAGES = (2, 3, 4)


def rows(repeats: int) -> Iterator[dict[str, Any]]:
    """Yield, for each network and number of stages, the excess of each way to cut.

    The excess is 0 where the slowest stage is that of the best cut. ``operations``: all costs
    are operations, which any machine counts alike. ``seconds``: what this machine took for
    each module, medians.

    Args:
        repeats: Measurements of ``seconds``, each of a few steps; their median counts.
    """
    torch.manual_seed(0)
    for name, make in NETWORKS.items():
        made = make()
        pieces = _pieces(made)
        operations = [one.cost for one in pieces.costs()]
        seen, seconds = (_seconds(made, pieces, repeats) for _ in range(2))
        sizes = [one.static_bytes for one in pieces.costs()]
        for stages in STAGES:
            ways = {
                "by operations": list(best_partition(pieces.costs(), stages).starts),
                "as measured before": list(
                    best_partition(pieces.costs(seconds=seen), stages).starts
                ),
                "equal modules": _equal(len(pieces), stages),
                "parameters": _best(sizes, stages)[1],
            }
            for unit, costs in (("operations", operations), ("seconds", seconds)):
                best, _ = _best(costs, stages)
                for way, starts in ways.items():
                    yield {
                        "what": "cut",
                        "network": name,
                        "stages": stages,
                        "way": way,
                        "unit": unit,
                        "excess": _slowest(costs, starts) / best - 1,
                    }


def _pieces(made: Made) -> Pieces:
    model, inputs, targets, loss = made
    loss_of = loss or loss_of_output
    given = ((), inputs) if isinstance(inputs, dict) else ((inputs,), {})
    found = record(model, given, lambda out: loss_of(out, targets), torch.device("cpu"))
    return Pieces(found)


def _seconds(made: Made, pieces: Pieces, repeats: int) -> list[float]:
    """Return the median time of each piece, over several measurements as a pipeline makes."""
    model, inputs, targets, loss = made
    loss_of = loss or loss_of_output
    given = ((), inputs) if isinstance(inputs, dict) else ((inputs,), {})
    all_s = [
        measured_s(model, pieces, given, lambda out: loss_of(out, targets))
        for _ in range(repeats)
    ]
    return [median(each) for each in zip(*all_s, strict=True)]


def _best(costs: Sequence[float], stages: int) -> tuple[float, list[int]]:
    """Return the cost of the slowest stage of the best cut, and its begins, by trying all."""
    found = (
        (_slowest(costs, [0, *inside]), [0, *inside])
        for inside in itertools.combinations(range(1, len(costs)), stages - 1)
    )
    return min(found)


def _slowest(costs: Sequence[float], starts: Sequence[int]) -> float:
    ends = [*starts[1:], len(costs)]
    return max(sum(costs[i:j]) for i, j in zip(starts, ends, strict=True))


def _equal(count: int, stages: int) -> list[int]:
    return [round(stage * count / stages) for stage in range(stages)]


if __name__ == "__main__":
    sys.stdout.write(json.dumps(list(rows(int(sys.argv[1])))) + "\n")
