"""What saves as often as pays cost a training: in turns with one that never saves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from notebooks.benchmarks.harness.rounds import in_turns
from notebooks.benchmarks.spot.job import job_of, started
from smtc_lab.metrics.records.saves import saves_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WAYS = {"never": -1, "as often as pays": 0}


def cost_rounds(
    folder: Path, *, width: int, steps: int, rounds: int
) -> Iterator[dict[str, Any]]:
    """Yield the time of the steps of a launch, and what its saves held up.

    Args:
        folder: Where runs are kept.
        width: Of the model's layers: it has about its square of parameters, and an optimizer
            twice that.
        steps: Of each launch.
        rounds: How often each way is launched.
    """
    for number in range(rounds):
        for way in in_turns(list(WAYS), number):
            place = folder / f"{way}-{number}"
            job = job_of(
                place,
                hyperparameters={"width": width, "save_every": WAYS[way]},
                max_steps=steps,
            )
            run = started(place, job).wait()
            saves = saves_of(run.records().events)
            yield {
                "what": "cost",
                "way": way,
                "round": number,
                "seconds": run.bill.steps_s,
                "saves": len(saves),
                "held_s": sum(save.stall_s for save in saves),
            }
