"""Searches of hyperparameters that were made up: ledger, request, and the curves of trials."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from smtc_lab.metrics.records.metric_record import MetricRecord
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
from smtc_lab.spec.tuning.question import TuningQuestion
from smtc_lab.spec.tuning.ranges import (
    CategoricalParameter,
    ContinuousParameter,
    IntegerParameter,
)
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.store.writer import RecordWriter
from smtc_lab.study.folder import (
    StudyFolder,
    StudyRequest,
    StudyState,
    studies_root,
    write_study_state,
)
from smtc_lab.study.tuning.book import QUESTION, TrialBook, run_name
from smtc_lab.study.tuning.ledger import LedgerRow, TrialLedger
from smtc_lab.study.tuning.tuning_run import TUNING, TuningRun
from tests.kit.records import STARTED_S

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from smtc_lab.store.state import State

RANGES = {
    "lr": ContinuousParameter(1e-4, 1.0),
    "width": IntegerParameter(8, 64),
    "optimizer": CategoricalParameter(["adam", "sgd"]),
}
POINTS = 9


def written_search(
    root: Path,
    *,
    num: int = 24,
    state: State = "Completed",
    usd: float | None = 0.05,
    curves: int = 0,
) -> TuningRun:
    """Write a search of so many trials; every fourth one was stopped, the sixth failed.

    Args:
        root: Folder of runs.
        num: Trials that have ended.
        state: Of the study.
        usd: What each has cost; None: unknown.
        curves: Trials whose runs are there.
    """
    asked: dict[str, Any] = {"budget_usd": 2.0, "hyperparameter_ranges": RANGES}
    question = TuningQuestion(
        objective_metric_name="loss", objective_type="Minimize", max_jobs=max(num, 1), **asked
    )
    job = TrainingJob(
        entry_point="train.py", cluster=Cluster.parse("one_gpu=ml.p3.2xlarge:1"), max_steps=90
    )
    request = StudyRequest(
        kind=TUNING,
        jobs=(job,),
        rounds=0,
        root=root,
        created=datetime.fromtimestamp(STARTED_S, UTC),
        options={QUESTION: question.model_dump(mode="json")},
    )
    folder = StudyFolder(studies_root(root) / "train-tuning-1")
    folder.path.mkdir(parents=True)
    folder.request_file.write_text(request.to_json(), encoding="utf-8")
    book = TrialBook(question, folder.name)
    append_trials(folder, made_trials(num, usd=usd))
    for number, curve in enumerate(map(curve_of, range(curves))):
        _write_curve(RunFolder.create(root, run_name(folder.name, number)), curve)
    ended_s = STARTED_S + 600 if state in {"Completed", "Stopped", "Failed"} else None
    write_study_state(
        folder, StudyState(state=state, started_s=STARTED_S, ended_s=ended_s, launches=num)
    )
    if state == "Completed":
        for row in made_trials(num, usd=usd):
            book.take(row)
        result = book.found(request, why_ended="Trial 3 is as good as 0.1.").to_json()
        folder.result_file(TUNING).write_text(result, encoding="utf-8")
    return TuningRun(folder)


def append_trials(folder: StudyFolder, rows: Sequence[LedgerRow]) -> None:
    """Write rows into the ledger of a study."""
    with TrialLedger(folder.path) as ledger:
        for row in rows:
            ledger.write(row)


def made_trials(num: int, *, first: int = 0, usd: float | None = 0.05) -> list[LedgerRow]:
    """Return that so many trials were asked for, and ended."""
    rows = []
    for number in range(first, first + num):
        curve = curve_of(number)
        ended: dict[str, Any] = {"state": "Completed"}
        told: dict[str, Any] = {"number": number, "usd": usd, "points": len(curve)}
        if number % 6 == 5:
            ended = {"state": "Failed", "reason": "Out of memory on <b>rank 0</b>."}
        elif number % 4 == 3:
            ended = {
                "state": "Stopped",
                "reason": "It was not among the best third at 3 values.",
            }
        value = None if ended["state"] == "Failed" else curve[-1]
        rows += [
            LedgerRow(
                what="asked",
                number=number,
                parameters=parameters_of(number),
                attributes={"searched": parameters_of(number), "sampler": {}},
            ),
            LedgerRow(what="ended", value=value, steps=90, seconds=9.0, **told, **ended),
        ]
    return rows


def parameters_of(number: int) -> dict[str, Any]:
    """Return the hyperparameters of a trial: anything in the ranges."""
    dice = np.random.default_rng(number)
    return {
        "lr": float(10 ** dice.uniform(-4, 0)),
        "width": int(dice.integers(8, 65)),
        "optimizer": ["adam", "sgd"][int(dice.integers(2))],
    }


def curve_of(number: int) -> list[float]:
    """Return the losses of a trial: the learning rate alone matters, best at 0.01."""
    far = (math.log10(parameters_of(number)["lr"]) + 2) ** 2
    points = 3 if number % 4 == 3 else POINTS
    return [0.1 + 0.3 * far + 1 / (place + 1) for place in range(points)]


def _write_curve(folder: RunFolder, curve: Sequence[float]) -> None:
    folder.records.mkdir(exist_ok=True)
    with RecordWriter(folder.records / "algo-1-rank0.sqlite") as writer:
        for step, value in enumerate(curve):
            time_s = STARTED_S + step
            writer.append(MetricRecord(step=step, time_s=time_s, name="loss", value=value))
