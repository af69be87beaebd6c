"""A search that begins with what earlier ones found."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

import smtc_lab as lab
from smtc_lab.errors import SpecError
from smtc_lab.spec.tuning.question import TuningQuestion
from smtc_lab.study.folder import StudyRequest
from smtc_lab.study.supervision import make_study
from smtc_lab.study.tuning.book import QUESTION
from smtc_lab.study.tuning.ledger import LedgerRow, TrialLedger
from smtc_lab.study.tuning.suggest import Suggestions
from smtc_lab.study.tuning.tuning_run import TUNING
from smtc_lab.study.tuning.warm_start import known_trials

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("optuna")

LR = lab.ContinuousParameter(1e-4, 1e-1)
RANGES = {"lr": LR, "m": lab.ContinuousParameter(0.5, 0.99, "ReverseLogarithmic")}


def asked(**changes: Any) -> TuningQuestion:
    told = {"objective_metric_name": "loss", "objective_type": "Minimize", "max_jobs": 40}
    return TuningQuestion(**{**told, "hyperparameter_ranges": RANGES, **changes})


def job(tmp_path: Path, script: str = "train.py") -> lab.TrainingJob:
    (tmp_path / script).write_text("", encoding="utf-8")
    return lab.TrainingJob(
        entry_point=str(tmp_path / script), cluster=lab.Cluster.parse("here=local:1")
    )


@pytest.fixture
def parent(tmp_path: Path) -> str:
    """Return the name of a search whose trials are the better the nearer lr is to 1e-2."""
    request = StudyRequest(
        kind=TUNING,
        jobs=(job(tmp_path),),
        rounds=0,
        root=tmp_path / "runs",
        created=datetime.now(UTC),
        options={QUESTION: asked().model_dump(mode="json")},
    )
    folder = make_study(request, lambda _: None)
    with TrialLedger(folder.path) as ledger:
        for number in range(30):
            lr = 1e-4 * 10 ** (3 * number / 29)
            ledger.write(
                LedgerRow(what="asked", number=number, parameters={"lr": lr, "m": 0.9})
            )
            ledger.write(
                LedgerRow(
                    what="ended",
                    number=number,
                    state="Completed",
                    value=None if number == 3 else abs(lr - 1e-2),
                )
            )
    return folder.name


def warm(parent: str, kind: str = "TransferLearning", **changes: Any) -> TuningQuestion:
    config = lab.WarmStartConfig(warm_start_type=kind, parents=[parent])  # type: ignore[arg-type]  # one of two
    return asked(warm_start_config=config, **changes)


def test_it_learns_from_trials_within_its_ranges(parent: str, tmp_path: Path) -> None:
    narrow = {**RANGES, "lr": lab.ContinuousParameter(1e-3, 1e-1)}
    question = warm(parent, hyperparameter_ranges=narrow)
    known = known_trials(question, job(tmp_path), root=tmp_path / "runs")

    assert len(known) == 20
    assert known[0][1] == min(value for _, value in known)
    suggestions = Suggestions(question, known)
    found = []
    for number in range(10):
        parameters, attributes = suggestions.suggest(number)
        row = LedgerRow(
            what="asked", number=number, parameters=parameters, attributes=attributes
        )
        found.append(abs(parameters["lr"] - 1e-2))
        ended = LedgerRow(what="ended", number=number, state="Completed", value=found[-1])
        assert row.number == number
        suggestions.tell(ended)
    # without the parent the first ten are anywhere
    cold, _ = Suggestions(question).suggest(0)
    assert sorted(found)[5] < 1e-2
    assert cold != parameters


def test_what_differs_is_told(parent: str, tmp_path: Path) -> None:
    root, same = tmp_path / "runs", job(tmp_path)
    ranges = {"lr": LR, "width": lab.IntegerParameter(1, 9)}
    with pytest.raises(SpecError, match=r"m only there; width only here"):
        known_trials(warm(parent, hyperparameter_ranges=ranges), same, root=root)
    with pytest.raises(SpecError, match="objective_type='Minimize', not 'Maximize'"):
        known_trials(warm(parent, objective_type="Maximize"), same, root=root)
    identical = warm(
        parent,
        "IdenticalDataAndAlgorithm",
        hyperparameter_ranges={**RANGES, "lr": lab.ContinuousParameter(1e-3, 1e-1)},
    )
    with pytest.raises(SpecError) as refused:
        known_trials(identical, job(tmp_path, "other.py"), root=root)
    assert "trains 'train.py', not 'other.py'" in str(refused.value)
    assert "another range of lr" in str(refused.value)
    with pytest.raises(SpecError, match="no"):
        known_trials(warm("no-such-study"), same, root=root)
    with pytest.raises(ValueError, match="Random learns from no trial"):
        warm(parent, strategy="Random")
