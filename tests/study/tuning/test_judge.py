"""Why a trial is stopped, and what counts of it then."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from smtc_lab.metrics.tuning.found import Trial
from smtc_lab.spec.tuning.question import TuningQuestion
from smtc_lab.spec.tuning.ranges import ContinuousParameter
from smtc_lab.study.tuning import judge as judge_module
from smtc_lab.study.tuning.book import TrialBook
from smtc_lab.study.tuning.judge import Judge
from smtc_lab.study.tuning.purse import Purse

if TYPE_CHECKING:
    import pytest


def test_what_a_trial_came_to_counts_when_its_money_is_spent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(judge_module, "_MONEY_S", 0.0)
    question = TuningQuestion(
        objective_metric_name="loss",
        hyperparameter_ranges={"lr": ContinuousParameter(0.0, 1.0)},
        budget_usd=2.0,
    )
    book = TrialBook(question, "study")
    search = SimpleNamespace(
        question=question, book=book, purse=Purse(2.0, book), is_stopped=False
    )
    spent = SimpleNamespace(usd=1.0)
    run = SimpleNamespace(values=lambda: [3.0, 2.0], spent=lambda: spent)
    judge = Judge(
        cast("Any", search), cast("Any", run), Trial(number=0, run="t0", parameters={})
    )

    assert judge(has_ended=False) is None
    spent.usd = 2.5
    assert judge(has_ended=False) == "The budget of 2 USD is spent."
    assert judge.values == [3.0, 2.0]
