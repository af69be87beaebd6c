"""Searches whose tuner is killed with ``kill -9`` again and again, beside unbroken ones."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any

from notebooks.benchmarks.tuning.played import PlayedTrials, played_search
from notebooks.benchmarks.tuning.sampler import branin
from smtc_lab.spec.tuning.question import TuningQuestion
from smtc_lab.spec.tuning.ranges import ContinuousParameter
from smtc_lab.study.tuning.ledger import read_ledger

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from smtc_lab.study.tuning.ledger import LedgerRow

Row = dict[str, Any]

TRIALS = 20
"""Of a search; TPE suggests by what was found from the eleventh on."""

_KILLS = 3


def kill_rows(folder: Path, *, seeds: int) -> Iterator[Row]:
    """Yield how searches came out whose tuner was killed three times at random moments."""
    for seed in range(seeds):
        place = folder / str(seed)
        begin_s = time.monotonic()
        _search(place / "whole", seed)
        whole_s = time.monotonic() - begin_s
        random, kills = Random(seed), 0  # noqa: S311  moments, no secrets
        for _ in range(_KILLS):
            kills += _killed(place / "killed", seed, after_s=random.uniform(0, whole_s / 2))
        _search(place / "killed", seed)
        whole, killed = (read_ledger(place / name / "study") for name in ("whole", "killed"))
        yield {"what": "kill", "seed": seed, "trials": TRIALS, "kills": kills} | _compared(
            whole, killed, runs=sum(1 for _ in (place / "killed" / "runs").iterdir())
        )


def _compared(whole: list[LedgerRow], killed: list[LedgerRow], *, runs: int) -> Row:
    asked, ended = (
        Counter(row.number for row in killed if row.what == what) for what in ("asked", "ended")
    )
    twice = sum(number > 1 for each in (asked, ended) for number in each.values())
    told = [
        [(row.what, row.number, row.parameters, row.value) for row in rows]
        for rows in (whole, killed)
    ]
    lost = TRIALS - len(ended.keys() & set(range(TRIALS)))
    return {"lost": lost, "twice": twice + runs - TRIALS, "is_equal": told[0] == told[1]}


def _killed(folder: Path, seed: int, *, after_s: float) -> bool:
    """Search in a process that is killed after a while; return whether it still searched."""
    pid = os.fork()
    if not pid:
        try:
            _search(folder, seed)
        finally:
            os._exit(0)
    time.sleep(after_s)
    os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    return os.WIFSIGNALED(status)


def _search(folder: Path, seed: int) -> None:
    question = TuningQuestion(
        objective_metric_name="loss",
        objective_type="Minimize",
        hyperparameter_ranges={
            "x0": ContinuousParameter(-5.0, 10.0),
            "x1": ContinuousParameter(0.0, 15.0),
        },
        max_jobs=TRIALS,
        random_seed=seed,
    )
    trials = PlayedTrials(root=folder / "runs", curve=lambda values: [branin(values)])
    with played_search(folder / "study", question, trials) as search:
        search.run()
