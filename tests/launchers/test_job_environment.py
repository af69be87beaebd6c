"""Jobs in real environments, which borrow this one's packages: the interpreter is another."""

from __future__ import annotations

import json
import shutil
import sys
from typing import TYPE_CHECKING

import pytest

from smtc_lab.errors import RunFailedError, SpecError
from smtc_lab.launchers.job_environment import environment_name
from smtc_lab.launchers.on_ray.ray_plan import check as check_on_ray
from smtc_lab.launchers.render.needs import cluster_problems
from smtc_lab.machine.environments.named import add_environment, remove_environment
from smtc_lab.machine.environments.probe import todays_facts
from smtc_lab.spec.compiler import TrainingCompilerConfig
from smtc_lab.study.comparison.compare_environments import (
    compare_environments,
    environment_jobs,
)
from smtc_lab.study.comparison.compiler_setups import equal_set_ups, with_xla_apart
from smtc_lab.views.text.table import comparison_table
from tests.kit.environments import borrowing_venv

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from smtc_lab.launchers.local.launcher import LocalLauncher
    from smtc_lab.launchers.run import Run
    from smtc_lab.spec.job import TrainingJob

    MakeJob = Callable[..., TrainingJob]
    Start = Callable[..., Run]

XLA = TrainingCompilerConfig(backend="xla")

TELLS = """
    import json, os, sys
    import numpy, smtc_lab
    print(json.dumps({
        "python": sys.executable, "prefix": sys.prefix, "path": os.environ["PATH"],
        "package": os.path.realpath(smtc_lab.__file__),
    }))
"""

STEPS = """
    import sys, time
    from smtc_lab.runtime.instance_runtime import instance_runtime

    timer = instance_runtime().timer
    while not timer.is_done:
        timer.ask()
        time.sleep(0.002)
        timer.got(8)
        timer.end()
"""


@pytest.fixture(autouse=True)
def own_environments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SMTC_LAB_ENVIRONMENTS", str(tmp_path / "environments"))


@pytest.fixture
def venv(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that makes and names an environment, and gives its folder."""

    def make(name: str, **versions: str) -> Path:
        folder = tmp_path / "venvs" / name
        borrowing_venv(folder, **versions)
        add_environment(name, folder)
        return folder

    return make


def test_the_script_runs_under_the_interpreter_that_the_job_names(
    venv: Callable[..., Path], make_job: MakeJob, start: Start
) -> None:
    folder = venv("other")

    run = start(make_job(TELLS, cluster="here=local:1", python_environment="other"))
    run.wait(60)

    told = json.loads(run.folder.log_file("algo-1").read_text("utf-8"))
    assert told["python"] == str(folder / "bin" / "python")
    assert told["prefix"] == str(folder)
    assert told["path"].startswith(f"{folder / 'bin'}:")
    assert told["package"] == sys.modules["smtc_lab"].__file__


def test_what_is_installed_there_is_kept_with_the_run(
    venv: Callable[..., Path], make_job: MakeJob, start: Start
) -> None:
    venv("old", torch="2.9.7", odd_one="7")

    run = start(
        make_job(STEPS, cluster="here=local:1", python_environment="old", max_steps=2)
    ).wait(60)

    records = run.records()
    assert records.environment is not None
    assert (records.environment.name, records.environment.packages["torch"]) == ("old", "2.9.7")
    assert records.environment.packages["odd-one"] == "7"
    assert records.facts["python_environment"] == "old"
    assert records.facts["versions"]["torch"] == "2.9.7"  # type: ignore[index]
    assert len(records.steps["algo-1-rank0"]) == 2


def test_a_run_in_todays_environment_keeps_its_packages_too(
    make_job: MakeJob, start: Start
) -> None:
    run = start(make_job(STEPS, cluster="here=local:1", max_steps=1)).wait(60)

    recorded = run.records().environment
    assert recorded is not None
    assert recorded.name == "today"
    assert recorded.packages == todays_facts().packages


def test_a_pythonpath_of_the_job_stays_behind_the_package(
    venv: Callable[..., Path], make_job: MakeJob, start: Start, tmp_path: Path
) -> None:
    venv("other")
    job = make_job(
        "import os; print(os.environ['PYTHONPATH'])",
        cluster="here=local:1",
        python_environment="other",
        environment={"PYTHONPATH": str(tmp_path / "mine")},
    )

    run = start(job).wait(60)

    said = run.folder.log_file("algo-1").read_text("utf-8").strip()
    assert said == f"{run.folder.shown_package}:{tmp_path / 'mine'}"


@pytest.mark.parametrize("name", ["none", "gone"])
def test_an_environment_that_is_not_there_is_refused_before_anything_starts(
    name: str, venv: Callable[..., Path], make_job: MakeJob, launcher: LocalLauncher
) -> None:
    shutil.rmtree(venv("gone"))

    with pytest.raises(SpecError, match=rf"'{name}'.*smtc-lab environment (make|add)"):
        launcher.plan(make_job("", cluster="here=local:1", python_environment=name))


def test_other_places_bring_an_environment_of_their_own(
    make_job: MakeJob, launcher: LocalLauncher
) -> None:
    job = make_job("", python_environment="other")
    catalog = launcher._catalog

    for problems in (check_on_ray(job, catalog), cluster_problems(job, catalog)):
        (problem,) = (text for text in problems if "python_environment" in text)
        assert "'other' names an interpreter of this machine" in problem
        assert "Leave it out" in problem
    assert check_on_ray(job.model_copy(update={"python_environment": "today"}), catalog) == []


def test_other_places_have_no_folder_that_is_here(
    make_job: MakeJob, launcher: LocalLauncher
) -> None:
    job, catalog = make_job("", working_dir="here"), launcher._catalog

    for problems in (check_on_ray(job, catalog), cluster_problems(job, catalog)):
        (problem,) = (text for text in problems if "working_dir" in text)
        assert "is a folder of this machine" in problem
    assert check_on_ray(job.model_copy(update={"working_dir": "own"}), catalog) == []


def test_environments_are_compared_package_by_package(
    venv: Callable[..., Path], tmp_path: Path, root: Path
) -> None:
    venv("old", torch="2.9.7")
    script = tmp_path / "train.py"
    script.write_text(STEPS.replace("\n    ", "\n"), encoding="utf-8")

    outcome = compare_environments(
        script, environments=["today", "old"], steps=12, rounds=2, root=root, parity=False
    )

    today, old = outcome.comparison.clusters
    assert (today.name, old.name) == ("today", "old")
    assert old.environment is not None
    assert (old.environment.name, old.environment.torch) == ("old", "2.9.7")
    (difference,) = outcome.comparison.package_differences
    assert difference.package == "torch"
    assert difference.versions == (todays_facts().torch, "2.9.7")
    (effect,) = outcome.comparison.factors
    assert (effect.factor, effect.after) == ("python_environment", "old (torch 2.9.7)")
    table = comparison_table(outcome.comparison)
    assert "Python environment" in table
    assert "The environments differ in 1 package (today / old): torch" in table


VANISHES = """
    import shutil, sys
    if sys.prefix != sys.base_prefix and "vanishing" in sys.prefix:
        shutil.rmtree(sys.prefix)
"""


def test_an_environment_that_goes_while_it_is_compared_is_left_out(
    venv: Callable[..., Path], tmp_path: Path, root: Path
) -> None:
    venv("vanishing")
    script = tmp_path / "train.py"
    script.write_text((STEPS + VANISHES).replace("\n    ", "\n"), encoding="utf-8")

    outcome = compare_environments(
        script, environments=["today", "vanishing"], steps=12, rounds=3, root=root, parity=False
    )

    (left_out,) = (text for text in outcome.comparison.warnings if "was left out" in text)
    assert "vanishing was left out: Launch 3 of 6" in left_out
    assert "its interpreter" in left_out
    assert "is gone" in left_out


def test_a_baseline_that_goes_ends_the_comparison(
    venv: Callable[..., Path], tmp_path: Path, root: Path
) -> None:
    venv("vanishing")
    script = tmp_path / "train.py"
    script.write_text((STEPS + VANISHES).replace("\n    ", "\n"), encoding="utf-8")

    with pytest.raises(RunFailedError, match="is gone"):
        compare_environments(
            script, environments=["vanishing", "today"], steps=12, root=root, parity=False
        )


def test_environments_to_compare_are_named_once(make_job: MakeJob) -> None:
    job = make_job("", cluster="here=local:1")

    with pytest.raises(SpecError, match="There is no environment to compare"):
        environment_jobs([job], [])
    with pytest.raises(SpecError, match="'today' is given 2 times"):
        environment_jobs([job], ["today", "today"])


def test_xla_runs_in_its_environment_beside_eager_there(venv: Callable[..., Path]) -> None:
    if todays_facts().why_not_xla is None:
        pytest.skip("torch_xla is at hand here, so XLA needs no other environment")
    set_ups = equal_set_ups(["eager", "inductor", "xla"], TrainingCompilerConfig())
    assert with_xla_apart(set_ups) == set_ups

    venv("xla", torch="2.9.1", torch_xla="2.9.0")

    made = with_xla_apart(set_ups)
    assert [(one.label, one.python_environment) for one in made] == [
        ("eager", None),
        ("inductor", None),
        ("xla", "xla"),
        ("eager, torch 2.9", "xla"),
    ]


def test_a_job_that_asks_for_xla_alone_runs_in_its_environment(
    venv: Callable[..., Path], make_job: MakeJob, launcher: LocalLauncher
) -> None:
    if todays_facts().why_not_xla is None:
        pytest.skip("torch_xla is at hand here, so XLA needs no other environment")
    job = make_job("", cluster="here=local:1", compiler_config=XLA)
    (problem,) = launcher.check(job)
    assert "make it with 'smtc-lab environment make xla', or use backend='inductor'" in problem

    venv("xla", torch="2.9.1", torch_xla="2.9.0")

    assert launcher.check(job) == []
    assert environment_name(job) == "xla"
    assert environment_name(job.model_copy(update={"compiler_config": None})) == "today"
    remove_environment("xla")
    assert environment_name(job) == "today"
