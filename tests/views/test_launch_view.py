"""The confirmation of a launch: what it costs first, then one click, then the run."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from nbclient import NotebookClient

from smtc_lab.errors import LauncherError
from smtc_lab.launchers.engines import ENGINES
from smtc_lab.launchers.launcher import Handle
from smtc_lab.launchers.on_sagemaker.launcher import SageMakerLauncher
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
from smtc_lab.views import live_display
from smtc_lab.views.widgets import launch_view
from smtc_lab.views.widgets.launch_controls import ACCEPTANCE
from smtc_lab.views.widgets.launch_view import LaunchView
from smtc_lab.views.widgets.run_monitor import RunMonitor
from tests.kit.hostile import markup_of
from tests.kit.quick_script import QUICK_SCRIPT
from tests.kit.records import run_records
from tests.kit.run_folders import write_run_folder
from tests.kit.runs import PATIENCE_S, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from smtc_lab.launchers.launcher import LaunchPlan

ACCOUNT = {
    "role_arn": "arn:aws:iam::123456789012:role/SageMakerRole",
    "image_uri": "123456789012.dkr.ecr.us-east-1.amazonaws.com/torch:2.9",
    "s3_uri": "s3://the-bucket/lab",
}
PRICED = "dnn_group=ml.p3.2xlarge:1"
NEW = "dnn_group=ml.p9.48xlarge:1:train"
WIDGET = "application/vnd.jupyter.widget-view+json"


class FakeSageMaker(SageMakerLauncher):
    """Plans as SageMaker's launcher does; of a start it only notes what it was asked."""

    asked: list[tuple[LaunchPlan, object]]
    refusals: list[str]
    gate: threading.Event

    def start(self, plan: LaunchPlan, *, detach: bool = False) -> Handle:
        assert not detach
        self.asked.append((plan, self._confirm))
        assert self.gate.wait(PATIENCE_S)
        if self.refusals:
            raise LauncherError(self.refusals.pop())
        run = replace(run_records([0.2] * 9), job=plan.job)
        folder = write_run_folder(self._root, run)
        name = str(plan.job.job_name)
        return Handle(launcher="local", job_name=name, run_folder=str(folder.path))


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> type[FakeSageMaker]:
    class Fake(FakeSageMaker):
        asked: list[tuple[LaunchPlan, object]] = []  # noqa: RUF012  of this test only
        refusals: list[str] = []  # noqa: RUF012  of this test only
        gate = threading.Event()

    Fake.gate.set()
    engine = replace(ENGINES["sagemaker"], launcher=f"{__name__}:Fake")
    monkeypatch.setitem(ENGINES, "sagemaker", engine)
    monkeypatch.setitem(globals(), "Fake", Fake)
    return Fake


@pytest.fixture
def view_of(tmp_path: Path) -> Callable[..., LaunchView]:
    script = tmp_path / "train.py"
    script.write_text(QUICK_SCRIPT, encoding="utf-8")

    def view(cluster: str = PRICED, *, on: str = "sagemaker", **options: Any) -> LaunchView:
        job = TrainingJob(
            entry_point=str(script),
            cluster=Cluster.parse(cluster),
            max_steps=5,
            job_name="digits",
        )
        account = ACCOUNT if on == "sagemaker" else {}
        return LaunchView(job, on=on, root=tmp_path / "runs", **account, **options)

    return view


def button(view: LaunchView) -> Any:
    return view.controls._button


def message(view: LaunchView) -> str:
    return view.controls._message.value


def wait_for_monitor(view: LaunchView) -> RunMonitor:
    def monitors() -> list[RunMonitor]:
        return [part for part in view.controls.children if isinstance(part, RunMonitor)]

    wait_until(monitors, what="the monitor")
    assert monitors()[0].wait(PATIENCE_S)
    return monitors()[0]


def test_a_click_starts_what_was_shown_and_the_run_takes_the_buttons_place(
    fake: type[FakeSageMaker], view_of: Callable[..., LaunchView]
) -> None:
    view = view_of()
    label = button(view).description
    asked_before = list(fake.asked)

    button(view).click()

    assert wait_for_monitor(view).run is view.run
    assert label == "Start: at most $91.80"
    assert "Costs at most $91.80: " in view.children[0].value
    assert asked_before == []
    assert fake.asked == [(view.plan, True)]
    assert button(view) not in view.controls.children
    assert 'role="status"' in message(view)
    assert "Started digits on sagemaker." in message(view)


def test_clicks_while_it_starts_start_nothing_more(
    fake: type[FakeSageMaker], view_of: Callable[..., LaunchView]
) -> None:
    view = view_of()
    fake.gate.clear()

    button(view).click()
    button(view).click()
    wait_until(lambda: fake.asked, what="the start")
    said = message(view)
    is_disabled = button(view).disabled
    fake.gate.set()
    wait_for_monitor(view)
    button(view).click()  # of a page that is behind

    assert len(fake.asked) == 1
    assert "Starting digits on sagemaker" in said
    assert is_disabled


def test_an_unknown_price_must_be_accepted_first(
    fake: type[FakeSageMaker], view_of: Callable[..., LaunchView]
) -> None:
    view = view_of(NEW)
    _, accept, _ = view.controls.children
    was_disabled = button(view).disabled
    button(view).click()  # a front end that does not know that it is disabled
    said_before = message(view)

    accept.value = True
    button(view).click()
    wait_for_monitor(view)

    assert (accept.description, button(view).description) == (
        ACCEPTANCE,
        "Start: price unknown",
    )
    assert was_disabled
    assert said_before == ""
    assert fake.asked == [(view.plan, "price unknown")]


def test_what_aws_refused_is_told_and_can_be_tried_again(
    fake: type[FakeSageMaker], view_of: Callable[..., LaunchView]
) -> None:
    fake.refusals.append("AWS refused <b>it</b>. Ask for a quota.")
    view = view_of()

    button(view).click()
    wait_until(lambda: "alert" in message(view), what="the refusal")
    refused = message(view)
    wait_until(lambda: not button(view).disabled, what="the button")
    button(view).click()
    wait_for_monitor(view)

    assert "Not started. AWS refused &lt;b&gt;it&lt;/b&gt;. Ask for a quota." in refused
    assert len(fake.asked) == 2


def test_a_job_that_is_refused_shows_every_reason_and_no_button(
    tmp_path: Path,
) -> None:
    job = TrainingJob(
        entry_point=str(tmp_path / "<b>missing</b>.py"), cluster=Cluster.parse("here=local:1")
    )

    view = LaunchView(job, on="sagemaker", root=tmp_path, **ACCOUNT)

    page = view.children[0].value
    assert len(view.problems) > 1
    assert page.count("<li>") == len(view.problems)
    assert "&lt;b&gt;missing&lt;/b&gt;.py" in page
    assert "b" not in markup_of(page)
    assert len(view.children) == 1
    assert (view.plan, view.controls, view.run) == (None, None, None)


def test_what_may_exceed_the_limit_shows_the_plan_and_no_button(
    fake: type[FakeSageMaker], view_of: Callable[..., LaunchView]
) -> None:
    view = view_of(max_usd=20)

    (problem,) = view.problems
    assert "exceeds max_usd=20. Lower max_runtime_s to 18823 s or less" in problem
    assert "Costs at most $91.80" in view.children[0].value
    assert view.controls is None
    assert fake.asked == []


def test_the_button_is_the_only_confirmation(view_of: Callable[..., LaunchView]) -> None:
    with pytest.raises(
        LauncherError, match=r"no option confirm \(got True\): its Start button"
    ):
        view_of(confirm=True)


def test_what_costs_nothing_is_started_with_a_plain_button_and_kept_when_it_ends(
    view_of: Callable[..., LaunchView], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[tuple[dict[str, Any], bool]] = []
    monkeypatch.setattr(launch_view, "display_bundle", lambda _bundle: None)
    monkeypatch.setattr(launch_view, "takes_clicks", lambda: True)
    monkeypatch.setattr(launch_view, "drawn_elsewhere", lambda path: {"text/plain": path})
    monkeypatch.setattr(live_display, "in_notebook", lambda: True)
    monkeypatch.setattr(
        live_display,
        "_publish",
        lambda bundle, _name, update=False: kept.append((bundle, update)),
    )
    view = view_of("here=local:1", on="local")
    view._ipython_display_()

    button(view).click()
    wait_until(lambda: len(kept) > 1, what="the run's result")

    assert button(view).description == "Start"
    assert WIDGET in kept[0][0]
    assert "lab.Run.open('digits')" in kept[0][0]["text/plain"]
    assert view.run.status == "Completed"
    assert kept[1:] == [({"text/plain": view.run.folder.path}, True)]


def test_a_notebook_that_runs_with_nobody_there_keeps_the_plan_and_no_button(
    tmp_path: Path,
) -> None:
    (tmp_path / "train.py").touch()
    source = """
import smtc_lab.views.widgets.launch_view as launch_view
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
job = TrainingJob(entry_point="train.py", cluster=Cluster.parse("here=local:1"))
launch_view.LaunchView(job)
"""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])

    NotebookClient(notebook, resources={"metadata": {"path": str(tmp_path)}}).execute()

    (output,) = notebook.cells[0].outputs
    assert set(output.data) == {"text/html", "text/plain"}
    assert "Orders nothing that is paid for." in output.data["text/html"]
