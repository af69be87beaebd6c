"""A search of hyperparameters whose trials are runs, whole, stopped and killed."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

import pytest

import smtc_lab as lab
from smtc_lab.errors import LauncherError, RunFailedError, SpecError
from smtc_lab.spec.tuning.question import TuningQuestion
from smtc_lab.study.folder import read_process
from smtc_lab.study.tuning import tuner as tuner_module
from smtc_lab.study.tuning.ledger import TrialLedger
from smtc_lab.views.kinds import kind_of
from tests.kit.runs import processes_after, wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.metrics.tuning.found import TuningFound

pytest.importorskip("optuna")

SCRIPT = """
import argparse, math, time
import smtc_lab
given = argparse.ArgumentParser()
given.add_argument("--lr", type=float)
given.add_argument("--width", type=int, default=8)
given = given.parse_args()
for number in range(9):
    far = (math.log10(given.lr) + 2) ** 2 + abs(given.width - 40) / 40
    smtc_lab.log(loss=far + 1 / (number + 1))
    time.sleep({pause})
"""
RANGES = {"lr": lab.ContinuousParameter(1e-4, 1.0), "width": lab.IntegerParameter(8, 64)}


@pytest.fixture
def tuner(tmp_path: Path) -> Any:
    """Return what makes a tuner of a script that logs what it is told."""

    def make(pause: float = 0.0, **question: Any) -> lab.HyperparameterTuner:
        script = tmp_path / "train.py"
        script.write_text(SCRIPT.replace("{pause}", str(pause)), encoding="utf-8")
        job = lab.TrainingJob(entry_point=str(script), cluster=lab.Cluster.parse("t=local:1"))
        told = {"objective_type": "Minimize", "hyperparameter_ranges": RANGES, **question}
        return lab.HyperparameterTuner(job, "loss", **told)

    return make


def points(found: TuningFound) -> list[tuple[dict[str, Any], float | None]]:
    return [(trial.parameters, trial.value) for trial in found.trials]


def test_a_search_finds_the_best_and_keeps_each_trial(tuner: Any, tmp_path: Path) -> None:
    asked = tuner(max_jobs=4, max_parallel_jobs=2)
    study = asked.fit(root=tmp_path / "runs")
    found = study.found

    assert study.status == "Completed"
    assert [trial.state for trial in found.trials] == ["Completed"] * 4
    assert found.best is not None
    assert found.best.value == min(value for _, value in points(found) if value is not None)
    assert asked.best_training_job() == found.best.run
    run = lab.Run.open(found.best.run, root=tmp_path / "runs")
    assert run.metrics()["loss"].last == found.best.value
    assert run.job.hyperparameters == found.best.parameters
    assert {one.job_name for one in study.state.runs} == {one.run for one in found.trials}
    again = lab.TuningRun.open(study.name, root=tmp_path / "runs")
    assert again.found == found
    with pytest.raises(RunFailedError, match="is Completed, so there is nothing"):
        again.resume()
    with pytest.raises(SpecError, match="strategy of a search that has begun cannot be"):
        again.resume(strategy="Random")
    more = again.resume(max_jobs=5, detach=False).wait(60)
    assert points(more)[:4] == points(found)
    assert len(more.trials) == 5
    kind = kind_of(study)
    assert "The least loss is" in kind.text(kind.see(study.folder.path))


def test_a_metric_that_never_comes_ends_it_with_those_that_did(
    tuner: Any, tmp_path: Path
) -> None:
    asked = tuner(max_jobs=9)
    asked.question = asked.question.model_copy(update={"objective_metric_name": "los"})

    with pytest.raises(RunFailedError, match="no metric 'los'; it logged: loss") as refused:
        asked.fit(root=tmp_path / "runs")

    assert "1 of 1 trials gave no objective" in str(refused.value)


def test_a_name_that_the_script_refuses_is_said_once(tuner: Any, tmp_path: Path) -> None:
    asked = tuner(max_jobs=9, hyperparameter_ranges={"lrx": lab.ContinuousParameter(0.0, 1.0)})

    with pytest.raises(RunFailedError, match="unrecognized arguments: --lrx"):
        asked.fit(root=tmp_path / "runs")

    assert len(asked.study.found.trials) == 1


def test_money_that_cannot_be_counted_is_refused(tuner: Any, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="budget_usd=2 cannot be kept: the price of"):
        tuner(budget_usd=2.0).fit(root=tmp_path / "runs")


def test_two_tuners_do_not_write_one_ledger(tmp_path: Path) -> None:
    pid = os.fork()  # a lock is of a process
    if not pid:
        with TrialLedger(tmp_path):
            signal.pause()
    try:
        lock = tmp_path / "trials.sqlite"
        wait_until(lock.exists, what="the other one's ledger")
        with pytest.raises(LauncherError, match="Another process tunes in"):
            TrialLedger(tmp_path)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


@pytest.mark.timeout(200)
def test_a_search_that_is_killed_loses_no_trial(tuner: Any, tmp_path: Path) -> None:
    asked = {"max_jobs": 7, "early_stopping_type": "Auto"}
    whole = tuner(**asked).fit(root=tmp_path / "whole" / "runs").found
    root = tmp_path / "killed" / "runs"
    study = tuner(**asked, pause=0.05).fit(root=root, wait=False)
    for begun in (1, 3, 5):
        wait_until(
            lambda num=begun: len(study.found.trials) >= num,  # type: ignore[misc]  # it is a number
            what=f"trial {begun}",
            limit_s=60.0,
        )
        process = read_process(study.folder)
        assert process is not None
        os.kill(process.pid, signal.SIGKILL)
        wait_until(lambda: study.status == "Failed", what="its loss")
        study.resume(detach=False)
    found = study.wait(60)

    assert points(found) == points(whole)
    assert any(trial.state == "Stopped" for trial in whole.trials), "the rule says nothing"
    assert [one.state for one in found.trials] == [one.state for one in whole.trials]
    assert len(list(root.iterdir())) == 7
    assert processes_after(root) == {}


@pytest.mark.timeout(200)
def test_halving_trains_few_to_the_end(tuner: Any, tmp_path: Path) -> None:
    rungs = lab.HyperbandStrategyConfig(min_resource=1, max_resource=9)
    asked = tuner(pause=0.1, max_jobs=9, strategy="Hyperband", strategy_config=rungs)
    found = asked.fit(root=tmp_path / "runs").found

    ends = sorted(trial.points for trial in found.trials)
    assert ends[-1] == 9
    assert set(ends) <= {1, 3, 9}
    assert sum(end == 1 for end in ends) >= 6
    assert [one.state for one in found.trials if one.points == 9] == ["Completed"]
    best = min(one.value for one in found.trials if one.value and one.points == 9)
    assert found.best is not None
    assert found.best.value == best


@pytest.mark.parametrize(
    ("asked", "cluster", "budget_usd", "expected", "why"),
    [
        (1, "t=local:1", 2.0, 1, ""),
        (2, "t=local:1", None, 2, ""),
        (3, "t=local:2", None, 2, "2 of 3 trials at a time: this machine has 4 cores."),
        (3, "t=local:8", None, 1, "1 of 3"),
        (3, "t=local:1", 2.0, 1, "One trial at a time: what it costs"),
    ],
)
def test_no_more_trials_run_than_the_machine_holds(  # noqa: PLR0913, PLR0917  a row each
    monkeypatch: pytest.MonkeyPatch,
    asked: int,
    cluster: str,
    budget_usd: float | None,
    expected: int,
    why: str,
) -> None:
    monkeypatch.setattr(tuner_module, "available_cores", lambda: 4)
    job = lab.TrainingJob(entry_point="train.py", cluster=lab.Cluster.parse(cluster))
    question = TuningQuestion(
        objective_metric_name="loss",
        hyperparameter_ranges=RANGES,
        max_parallel_jobs=asked,
        budget_usd=budget_usd,
    )

    found, said = tuner_module.at_once_of(question, job, on="local")
    assert found == expected
    assert said.startswith(why)
    assert bool(said) is bool(why)
    assert tuner_module.at_once_of(question, job, on="ray") == (asked, "")
