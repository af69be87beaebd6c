"""An engine that another package brings: a table entry, and nothing else is told of it."""

from __future__ import annotations

import contextlib
import json
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest

from smtc_lab.cli import main
from smtc_lab.errors import LauncherError
from smtc_lab.follow.run_follower import RunFollower
from smtc_lab.follow.stream import Stream
from smtc_lab.launchers import engines
from smtc_lab.launchers.engines import ENGINES, engine_named, find_engine, is_billed
from smtc_lab.launchers.launcher import Handle
from smtc_lab.launchers.run import Run, launch, launcher_named
from smtc_lab.views.run.describer import RunDescriber
from smtc_lab.views.run.words import evidence_words
from smtc_lab.views.widgets.launch_view import LaunchView
from tests.kit.records import run_records
from tests.kit.run_folders import write_run_folder
from tests.kit.runs import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from smtc_lab.spec.job import TrainingJob

    MakeJob = Callable[..., TrainingJob]

HIRED = """
    from dataclasses import replace
    from smtc_lab.launchers.engines import Engine
    from smtc_lab.launchers.local import instances
    from smtc_lab.launchers.local.launcher import LocalLauncher
    from smtc_lab.launchers.confirmation import require_confirmation
    from smtc_lab.launchers.launcher import Order

    class HiredLauncher(LocalLauncher):
        name = "hired"

        def __init__(self, *, root=None, catalog=None, confirm=False):
            super().__init__(root=root, catalog=catalog)
            self._confirm = confirm

        def plan(self, job):
            order = Order(worst_case_usd=2.0, words="at most $2.00.")
            request = {"Please": "run it", "Environment": {"TOKEN": "hf_abc"}}
            plan = super().plan(job)
            return replace(plan, launcher=self.name, order=order, request=request)

        def start(self, plan, *, detach=False):
            require_confirmation(plan, confirm=self._confirm)
            return super().start(plan, detach=detach)

    def supervise(folder, plan, *, detached):
        (folder.path / "hired").touch()
        instances.supervise(folder, plan, detached=detached)

    ENGINE = Engine(
        launcher="hired_engine:HiredLauncher",
        supervise="hired_engine:supervise",
        is_billed=True,
    )
"""


@pytest.fixture
def hired(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install a package that brings the engine ``hired``."""
    site = tmp_path / "site"
    info = site / "hired_engine-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "hired_engine.py").write_text(textwrap.dedent(HIRED), encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: hired-engine\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[smtc_lab.engines]\nhired = hired_engine:ENGINE\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("PYTHONPATH", str(site), prepend=":")
    engines._installed.cache_clear()
    yield
    engines._installed.cache_clear()
    sys.modules.pop("hired_engine", None)


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """Return a function that runs ``smtc-lab`` and returns what it printed."""

    def run(*arguments: str | Path) -> str:
        monkeypatch.setattr(sys, "argv", ["smtc-lab", *map(str, arguments)])
        with contextlib.suppress(SystemExit):
            main()
        return capsys.readouterr().out

    return run


@pytest.mark.usefixtures("hired")
def test_its_runs_are_launched_supervised_listed_and_described(
    make_job: MakeJob, root: Path, command: Callable[..., str]
) -> None:
    job = make_job("print('working')", cluster="here=local:1", job_name="hired-one")

    run = launch(job, on="hired", root=root, confirm=True).wait(60)

    assert (run.status, run.logs()) == ("Completed", "algo-1 | working")
    assert (run.folder.path / "hired").exists()
    (row,) = json.loads(command("runs", "--runs-dir", root, "--json"))
    assert (row["job_name"], row["state"]) == ("hired-one", "Completed")
    shown = command("runs", "show", "hired-one", "--runs-dir", root)
    assert "evidence   measured\n" in shown
    assert Run.open("hired-one", root=root).state == run.state


@pytest.mark.usefixtures("hired")
def test_its_runs_are_stopped_as_any_other_is(make_job: MakeJob, root: Path) -> None:
    body = "import time\nprint('working', flush=True)\ntime.sleep(3600)"
    run = launch(make_job(body, cluster="here=local:1"), on="hired", root=root, confirm=True)
    wait_until(lambda: "working" in run.logs(), what="the script")

    assert run.stop().status == "Stopped"


@pytest.mark.usefixtures("hired")
def test_what_it_orders_is_shown_and_has_to_be_confirmed(make_job: MakeJob, root: Path) -> None:
    job = make_job("", cluster="here=local:1", job_name="hired-two")

    view = LaunchView(job, on="hired", root=root)

    page = view.children[0].value
    assert view.controls._button.description == "Start: at most $2.00"
    assert "Costs at most $2.00." in page
    assert "run it" in page
    assert "hf_abc" not in page
    with pytest.raises(LauncherError, match=r"'hired-two' costs at most \$2.00. Pass confirm="):
        launch(job, on="hired", root=root)
    assert not root.exists()


def test_a_run_of_an_engine_that_has_gone_is_read_all_the_same(root: Path) -> None:
    folder = write_run_folder(
        root, run_records([0.2], cluster="here=local:1", job_name="old-1"), usd_per_hour=None
    )
    handle = Handle(launcher="gone", job_name="old-1", run_folder=str(folder.path), remote={})
    folder.handle_file.write_text(handle.to_json(), encoding="utf-8")
    kept = {**json.loads(folder.plan_file.read_bytes()), "launcher": "gone"}
    folder.plan_file.write_text(json.dumps(kept), encoding="utf-8")
    folder.log_file("algo-1").write_text("was here\n", encoding="utf-8")

    opened = Run.open("old-1", root=root)
    info = RunDescriber(
        RunFollower(opened.folder, Stream(lambda _content, _buffers: None))
    ).describe()

    assert (opened.status, opened.logs("algo-1")) == ("Completed", "was here")
    assert opened.stop().status == "Completed"
    assert (info.launcher, info.runs_here, evidence_words(info)) == ("gone", None, "measured")


@pytest.mark.parametrize(
    ("name", "billed"), [("local", False), ("sagemaker", True), ("ray", None), ("gone", None)]
)
def test_nobody_is_billed_on_this_machine(name: str, *, billed: bool | None) -> None:
    assert is_billed(name) is billed


def test_an_engine_that_is_not_there_names_those_that_are() -> None:
    assert find_engine("slurm") is None
    with pytest.raises(LauncherError, match=r"no launcher 'slurm'\. Choose among local, ray, "):
        engine_named("slurm")


@pytest.mark.parametrize("name", ENGINES)
def test_a_launcher_has_the_name_under_which_it_stands_in_the_table(
    name: str, root: Path
) -> None:
    assert launcher_named(name, root=root).name == name
