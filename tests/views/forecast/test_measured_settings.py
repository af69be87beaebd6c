"""What a form is told of compiler settings, from comparisons that have ended."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import TypeAdapter

from smtc_lab.spec.job import TrainingJob
from smtc_lab.views.forecast.ladder import CompilerLadders
from smtc_lab.views.forecast.measured_settings import compiler_ladders
from tests.kit.compilers import INDUCTOR, PLAIN, example_compilers
from tests.kit.kept_compilers import CREATED, keep_compilers

if TYPE_CHECKING:
    from smtc_lab.metrics.compared.comparison import Comparison
    from smtc_lab.spec.compiler import TrainingCompilerConfig
    from smtc_lab.study.folder import StudyFolder
    from smtc_lab.views.forecast.ladder import SetUpLadder


@pytest.fixture(scope="module")
def compared() -> tuple[Comparison, list[TrainingJob]]:
    comparison, runs = example_compilers()
    jobs = {run.label: run.job for run in runs}
    return comparison, list(jobs.values())


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SMTC_LAB_HOME", str(tmp_path / "home"))
    made = tmp_path / "train.py"
    made.write_text("pass", encoding="utf-8")
    before_s = CREATED.timestamp() - 60
    os.utime(made, (before_s, before_s))
    return made


def keep(compared: tuple[Comparison, list[TrainingJob]], script: Path | str) -> StudyFolder:
    comparison, jobs = compared
    return keep_compilers(comparison, jobs, script, hyperparameters={"width": 8})


def ladder(
    script: Path, config: TrainingCompilerConfig | None = None, **fields: Any
) -> SetUpLadder:
    job = TrainingJob.model_validate(
        {
            "entry_point": str(script),
            "cluster": {
                "instance_groups": [
                    {
                        "instance_group_name": "here",
                        "instance_type": "local",
                        "instance_count": 1,
                    }
                ]
            },
            "hyperparameters": {"width": 8},
            "compiler_config": None if config is None else config.model_dump(),
        }
        | fields
    )
    value = [job.model_dump(mode="json")]
    told = compiler_ladders(value)
    assert json.loads(told.of) == value
    (only,) = told.set_ups
    return only


def test_each_setting_tells_what_it_saves_and_what_its_first_steps_take(
    compared: tuple[Comparison, list[TrainingJob]], script: Path
) -> None:
    kept = keep(compared, script)

    told = {(rung.setting, rung.after): rung for rung in ladder(script).rungs}

    fused = told["fused_optimizer", "on"]
    assert fused.before == "off"
    assert fused.saved_fraction.mean == pytest.approx(0.15, abs=0.02)
    assert fused.saved_fraction.low <= fused.saved_fraction.mean <= fused.saved_fraction.high
    assert fused.is_seen
    assert fused.added_s.low <= 0 <= fused.added_s.high
    backend = told["backend", "inductor"]
    assert backend.before == "eager"
    assert backend.added_s.mean == pytest.approx(7.7, abs=0.2)
    assert backend.measured.name == kept.name
    assert backend.measured.created == CREATED.isoformat()
    assert backend.measured.is_script_changed is False


def test_settings_that_were_compared_say_from_when_on_they_pay(
    compared: tuple[Comparison, list[TrainingJob]], script: Path
) -> None:
    keep(compared, script)
    broke_even = compared[0].clusters[2].compiler
    assert broke_even is not None
    assert broke_even.break_even is not None

    pays = ladder(script, INDUCTOR).pays

    assert pays is not None
    assert pays.baseline == "eager"
    assert pays.steps == broke_even.break_even.steps
    assert pays.steps is not None
    assert pays.after_s is not None
    assert pays.after_s.mean == pytest.approx(0.3 + 0.2 * pays.steps.mean, rel=0.05)
    assert ladder(script, PLAIN).pays is None
    assert ladder(script).pays is None


@pytest.mark.parametrize(
    "fields", [{"hyperparameters": {"width": 9}}, {"arguments": ["--fast"]}]
)
def test_what_was_measured_of_another_workload_is_not_told(
    compared: tuple[Comparison, list[TrainingJob]], script: Path, fields: dict[str, Any]
) -> None:
    keep(compared, script)

    assert ladder(script, INDUCTOR, **fields).rungs == ()
    assert ladder(script, INDUCTOR, **fields).pays is None


def test_a_script_that_was_typed_in_its_folder_is_known(
    compared: tuple[Comparison, list[TrainingJob]], script: Path
) -> None:
    keep(compared, script.name)

    assert ladder(script).rungs


def test_a_script_that_was_changed_since_is_told(
    compared: tuple[Comparison, list[TrainingJob]], script: Path
) -> None:
    keep(compared, script)
    script.write_text("pass  # but otherwise", encoding="utf-8")

    assert {rung.measured.is_script_changed for rung in ladder(script).rungs} == {True}


def test_what_is_damaged_goes_on_or_compares_no_compilers_is_passed_over(
    compared: tuple[Comparison, list[TrainingJob]], script: Path
) -> None:
    kept = keep(compared, script)
    nothing = {"problem": "", "rungs": (), "pays": None}
    plain = compared[0].model_copy(
        update={
            "clusters": tuple(
                each.model_copy(update={"compiler": None}) for each in compared[0].clusters
            )
        }
    )

    for text in ("{", plain.to_json()):
        kept.result_file("comparison").write_text(text, encoding="utf-8")
        assert asdict(ladder(script, INDUCTOR)) == nothing
    kept.result_file("comparison").unlink()
    assert asdict(ladder(script, INDUCTOR)) == nothing


def test_a_set_up_that_cannot_run_says_why_nothing_is_told(script: Path) -> None:
    told = ladder(script.with_name("gone.py"))

    assert "gone.py" in told.problem
    assert told.rungs == ()


def test_the_browser_reads_what_these_types_write() -> None:
    fixture = Path(__file__).parents[2] / "fixtures" / "compiler_ladders.json"
    wire = json.loads(fixture.read_text(encoding="utf-8"))

    assert TypeAdapter(CompilerLadders).validate_python(wire).as_dict() == wire
