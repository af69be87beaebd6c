"""A search of hyperparameters that a form asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import smtc_lab as lab
from smtc_lab.errors import SpecError
from smtc_lab.views.server import starting
from smtc_lab.views.tuning.asked import asked_question

if TYPE_CHECKING:
    from pathlib import Path

ASKED = {"metric": "loss", "ranges": ["lr=log:1e-4..1e-1", "kind=adam,sgd"], "trials": 9}


def test_a_form_asks_as_a_shell_does() -> None:
    question = asked_question({**ASKED, "strategy": "Hyperband", "budget_usd": 2.0})

    assert question.hyperparameter_ranges == {
        "lr": lab.ContinuousParameter(1e-4, 1e-1, "Logarithmic"),
        "kind": lab.CategoricalParameter(["adam", "sgd"]),
    }
    assert question.objective_type == "Minimize"
    assert question.strategy_config == lab.HyperbandStrategyConfig()
    assert (question.max_jobs, question.budget_usd) == (9, 2.0)
    assert asked_question({**ASKED, "maximize": True}).objective_type == "Maximize"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"ranges": []}, "Need to specify hyperparameter ranges"),
        ({"ranges": ["lr"]}, "The range 'lr' is not NAME=LOW..HIGH"),
        ({"ranges": ["lr=1..2", "lr=1..3"]}, "The range of 'lr' is given twice"),
        ({"trials": 0}, "max_jobs=0 is outside 1 to"),
        ({"trials": "many"}, "trials"),
        ({"strategy": "Lucky"}, "strategy"),
        ({"metric": None}, "metric"),
    ],
)
def test_what_cannot_be_searched_is_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError) as refused:
        asked_question({**ASKED, **wrong})
    assert message in str(refused.value)


def test_the_first_set_up_is_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Any] = []

    class Started:
        name = "tuning-1"

    def launch(job: lab.TrainingJob, question: object, *, detach: bool) -> Started:
        given.append((job, question, detach))
        return Started()

    monkeypatch.setattr(starting, "launch_tuning", launch)
    job = lab.TrainingJob(entry_point="train.py", cluster=lab.Cluster.parse("a=local:1"))
    jobs = [job.model_dump(mode="json"), {"not": "legal"}]

    name = starting.start({"kind": "tuning", "jobs": jobs, "question": ASKED}, tmp_path)

    ((found, question, detach),) = given
    assert (name, detach) == ("tuning-1", True)
    assert found.entry_point == str(tmp_path / "train.py")
    assert question == asked_question(ASKED)
    with pytest.raises(SpecError, match="or a search"):
        starting.start({"kind": "tuning", "jobs": [], "question": ASKED}, tmp_path)
