"""What is not handed on with a file."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import smtc_lab as lab
from smtc_lab.planner.plan import plan
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
from smtc_lab.views.share.hidden import HIDDEN, secrets_of, without_values
from tests.kit.calibrations import calibration, worker_point
from tests.kit.quick_script import QUICK_SCRIPT
from tests.kit.records import run_records
from tests.views.share.files_kit import (
    SECRET,
    data_in,
    opened,
    outcome,
    text_of,
    with_secrets,
    words_in,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_no_secret_of_a_comparison_is_handed_on() -> None:
    made = outcome()
    runs = tuple(map(with_secrets, made.runs))

    html = text_of(replace(made, runs=runs))

    assert SECRET not in html
    assert "me:pw" not in html
    code = data_in(html)["saved"]["info"]["code"]
    compile(code, "cell", "exec")
    assert "HF_TOKEN" in code
    assert '"--epochs", "3"' in code
    assert "32" in code


def test_no_secret_of_a_study_is_handed_on(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(QUICK_SCRIPT, encoding="utf-8")
    jobs = [
        TrainingJob(
            entry_point=str(script),
            cluster=Cluster.parse(f"{name}@here=local:1"),
            arguments=("--auth-token", SECRET),
            environment={"HF_TOKEN": SECRET},
            max_steps=20,
        )
        for name in ("plain", "fed")
    ]
    study = lab.launch_comparison(jobs, rounds=1, root=tmp_path / "runs")
    study.wait(60)

    html = text_of(study)

    assert SECRET not in html
    assert words_in(html).startswith(f"A comparison, shared from smtc_lab {study.name} Begun")
    code = data_in(html)["saved"]["info"]["code"]
    assert f'arguments=["--auth-token", "{HIDDEN}"]' in code
    assert f'environment={{"HF_TOKEN": "{HIDDEN}"}}' in code


def test_no_secret_that_a_failed_run_printed_is_handed_on(tmp_path: Path) -> None:
    run = with_secrets(run_records(state="Failed"))

    html = text_of(opened(tmp_path, run, reason=f"It said: {SECRET} was refused."))

    assert SECRET not in html
    assert data_in(html)["saved"]["info"]["reason"] == f"It said: {HIDDEN} was refused."


def test_no_secret_of_a_plan_is_handed_on() -> None:
    given = calibration(
        worker_points=(worker_point(0.004),),
        environment={"API_KEY": SECRET},
        arguments=("--token", SECRET),
    )

    html = text_of(plan(given, steps=500, families=["p3"]))

    assert SECRET not in html
    assert "API_KEY" in html
    assert words_in(html).startswith("A plan, shared from smtc_lab")
    assert "emulated True of the pipeline" in words_in(html)


def test_what_is_named_like_a_secret_is_hidden_and_the_rest_stays() -> None:
    job = with_secrets(run_records()).job

    told = without_values(job)

    assert set(told.environment.values()) == {HIDDEN}
    assert told.arguments == ("--api-key", HIDDEN, f"--password={HIDDEN}", "--epochs", "3")
    assert told.hyperparameters == {"access-key": HIDDEN, "batch-size": 32}
    assert set(secrets_of([job]).values()) == {SECRET}
