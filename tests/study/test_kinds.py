"""A kind of study that another package brings: a function and an entry point."""

from __future__ import annotations

import json
import sys
import textwrap
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from smtc_lab.errors import LauncherError, RunFailedError, StoreError
from smtc_lab.spec.distribution import Distribution
from smtc_lab.study.folder import StudyFolder, StudyRequest, read_request
from smtc_lab.study.kinds import carry_out_of
from smtc_lab.study.study_run import StudyRun, start_study

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from smtc_lab.spec.job import TrainingJob

    MakeJob = Callable[..., TrainingJob]

REPEAT = """
    import json
    from smtc_lab.launchers.local.launcher import LocalLauncher
    from smtc_lab.study.watched_run import run_watched

    def carry_out(request, watch):
        (job,), launcher, states = request.jobs, LocalLauncher(root=request.root), []
        watch.launches = request.options["times"]
        for number in range(watch.launches):
            name = f"repeat-{number}"
            watch.rounds[name] = number + 1
            plan = launcher.plan(job.model_copy(update={"job_name": name}))
            states.append(run_watched(launcher, plan, watch, name=name).status)
        return json.dumps({"states": states})
"""


@pytest.fixture
def repeat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install a package that brings the kind ``repeat``."""
    site = tmp_path / "site"
    info = site / "repeat_study-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "repeat_study.py").write_text(textwrap.dedent(REPEAT), encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: repeat-study\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[smtc_lab.studies]\nrepeat = repeat_study:carry_out\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("PYTHONPATH", str(site), prepend=":")
    yield
    sys.modules.pop("repeat_study", None)


@pytest.mark.usefixtures("repeat")
def test_a_kind_of_another_package_is_carried_out_watched_and_opened_again(
    make_job: MakeJob, root: Path
) -> None:
    job = make_job("print('one')", cluster="here=local:1")

    study = StudyRun(start_study(request(job, root, times=1), detach=False))
    study.await_end()

    assert json.loads(study.result_json or "") == {"states": ["Completed"]}
    assert [(run.job_name, run.round) for run in study.state.runs] == [("repeat-0", 1)]
    again = StudyRun.open(study.name, root=root)
    assert (again.request.kind, again.request.options) == ("repeat", {"times": 1})
    assert again.progress().launch == 1
    assert repr(again) == f"<StudyRun {study.name} Completed>"


@pytest.mark.usefixtures("repeat")
def test_it_is_stopped_as_any_other_is(make_job: MakeJob, root: Path) -> None:
    job = make_job("import time\ntime.sleep(60)", cluster="here=local:1")
    study = StudyRun(start_study(request(job, root, times=5), detach=False))

    study.stop()

    assert (study.state.state, study.state.reason) == (
        "Stopped",
        "The repeat was stopped by its user.",
    )
    with pytest.raises(RunFailedError, match=r"Repeat .* ended as Stopped"):
        study.await_end()


def test_a_kind_that_is_not_installed_is_named_with_what_to_do(
    make_job: MakeJob, root: Path
) -> None:
    study = StudyRun(start_study(request(make_job("pass"), root, times=1), detach=False))

    with pytest.raises(RunFailedError, match=r"no kind of study 'repeat'.*comparison.*Install"):
        study.await_end()
    with pytest.raises(StoreError, match="no kind of study 'no such'"):
        carry_out_of("no such")


@pytest.mark.parametrize("kind", ["../../evil", "state", "", "A", "x" * 60])
def test_a_hostile_kind_names_no_file(
    make_job: MakeJob, root: Path, tmp_path: Path, kind: str
) -> None:
    folder = StudyFolder(tmp_path)
    values = json.loads(request(make_job("pass"), root).to_json())
    folder.request_file.write_text(json.dumps({**values, "kind": kind}), encoding="utf-8")

    with pytest.raises(StoreError, match="no name of a kind"):
        read_request(folder)


def test_a_request_of_an_earlier_version_is_a_comparison(
    make_job: MakeJob, root: Path, tmp_path: Path
) -> None:
    values = json.loads(request(make_job("pass"), root, parity=True).to_json())
    del values["kind"]
    values["jobs"][0]["distribution"] = {"reduce_on": "auto"}
    folder = StudyFolder(tmp_path)
    folder.request_file.write_text(json.dumps(values), encoding="utf-8")

    found = read_request(folder)

    assert (found.kind, found.options) == ("comparison", {"parity": True})
    assert found.jobs[0].distribution == Distribution()


def test_a_study_that_cannot_be_written_is_not_started(make_job: MakeJob, root: Path) -> None:
    (root.parent / "comparisons").write_text("in the way", encoding="utf-8")

    with pytest.raises(LauncherError, match="was not started"):
        start_study(request(make_job("pass"), root), detach=False)


def request(job: TrainingJob, root: Path, **options: object) -> StudyRequest:
    return StudyRequest(
        kind="repeat", jobs=(job,), root=root, created=datetime.now(UTC), options=options
    )
