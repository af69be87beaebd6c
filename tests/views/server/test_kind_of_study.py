"""A kind of study that another package brings: one file, and an entry of each table."""

from __future__ import annotations

import base64
import sys
import textwrap
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import TypeAdapter

from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
from smtc_lab.study.folder import StudyRequest
from smtc_lab.study.study_run import StudyRun, start_study
from smtc_lab.views.kinds import kind_of, open_study
from smtc_lab.views.shown import ThingShow
from smtc_lab.views.study.info import ComparisonInfo
from smtc_lab.views.study.snapshot import COMPARISON_MIME
from smtc_lab.views.widgets.comparison_monitor import ComparisonMonitor
from tests.kit.runs import wait_until

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from tests.kit.lab_tab import Tab

    Ask = Callable[..., Awaitable[tuple[int, Any]]]
    OpenTab = Callable[[], Awaitable[Tab]]

REPEAT = '''
    """How much the mean step time of one job differs from launch to launch."""

    import json

    from smtc_lab.launchers.local.launcher import LocalLauncher
    from smtc_lab.study.watched_run import run_watched
    from smtc_lab.views.text.set_ups import RowInfo
    from smtc_lab.views.study.kind import StudyKind


    def carry_out(request, watch):
        (job,), launcher, means_s = request.jobs, LocalLauncher(root=request.root), []
        watch.launches = request.rounds
        for number in range(1, request.rounds + 1):
            name = f"repeat-{number}"
            watch.rounds[name] = number
            plan = launcher.plan(job.model_copy(update={"job_name": name}))
            run = run_watched(launcher, plan, watch, name=name)
            (steps,) = run.records().steps.values()
            means_s.append(sum(step.step_time_s for step in steps) / len(steps))
        return json.dumps({"means_s": means_s})


    class RepeatKind(StudyKind):
        def means_s(self, follower):
            written = follower.run.result_json
            return json.loads(written)["means_s"] if written else []

        def sentence(self, follower):
            means_s = self.means_s(follower)
            if not means_s:
                return super().sentence(follower)
            times = max(means_s) / min(means_s)
            return f"The slowest launch takes {times:.2f} times the fastest."

        def rows(self, follower):
            cell = tuple(f"{mean_s:.3f} s" for mean_s in self.means_s(follower))
            return (*super().rows(follower), RowInfo(label="each", cells=(cell or ("none",),)))

        def figure(self, seen):
            from matplotlib.figure import Figure

            figure = Figure(figsize=(6, 3), dpi=100)
            axes = figure.subplots()
            for name, curve in seen.tables.items():
                if name.endswith("/steps"):
                    axes.plot(curve.column("step"), curve.column("step_time_s"))
            return figure


    REPEAT = RepeatKind("repeat")
'''

CARRIED_OUT = "[smtc_lab.studies]\nrepeat = repeat_study:carry_out\n"
SHOWN = "[smtc_lab.views]\nrepeat = repeat_study:REPEAT\n"

SCRIPT = """
    import pathlib, sys, time
    from smtc_lab.runtime.instance_runtime import instance_runtime
    timer = instance_runtime().timer
    while not timer.is_done:
        timer.ask()
        time.sleep(0.005)
        timer.got(8)
        timer.end()
    while pathlib.Path("GATE").exists():
        time.sleep(0.01)
"""


@pytest.fixture(params=[CARRIED_OUT])
def installed(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Install a package that brings the kind, with what entries the test says."""
    site = tmp_path / "site"
    info = site / "repeat_study-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "repeat_study.py").write_text(textwrap.dedent(REPEAT), encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: repeat-study\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(request.param, encoding="utf-8")
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("PYTHONPATH", str(site), prepend=":")
    monkeypatch.delitem(sys.modules, "repeat_study", raising=False)


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    """Return a file without which no launch ends."""
    path = tmp_path / "gate"
    path.touch()
    return path


@pytest.fixture
def start(tmp_path: Path, root: Path, gate: Path) -> Callable[[int], StudyRun]:
    """Return what begins so many launches of a study of the kind."""
    script = tmp_path / "train.py"
    text = textwrap.dedent(SCRIPT).replace("GATE", str(gate))
    script.write_text(text, encoding="utf-8")
    job = TrainingJob(
        entry_point=str(script), cluster=Cluster.parse("one@here=local:1"), max_steps=20
    )

    def started(rounds: int) -> StudyRun:
        request = StudyRequest(
            kind="repeat", jobs=(job,), rounds=rounds, root=root, created=datetime.now(UTC)
        )
        return StudyRun(start_study(request, detach=False))

    return started


def let_go(gate: Path) -> None:
    gate.unlink()


@pytest.mark.parametrize("installed", [f"{CARRIED_OUT}{SHOWN}"], indirect=True)
@pytest.mark.usefixtures("installed")
async def test_it_is_listed_followed_drawn_kept_and_opened_again(
    start: Callable[[int], StudyRun], gate: Path, ask: Ask, open_tab: OpenTab
) -> None:
    study = start(2)

    # listed, and followed live, as a panel does it
    tab = await open_tab()
    await tab.watch(1, "runs")
    await tab.watch(2, "repeat-monitor", study.name)
    await tab.until(lambda tab: "0/steps" in tab.tables[2])
    await tab.until(lambda tab: tab.rows[study.name]["steps"] == 20)
    row = tab.rows[study.name]
    assert (row["kind"], row["state"]) == ("repeat", "InProgress")
    assert tab.values[2]["info"]["sentence"] == "Now launch 1 of 2 (one) runs."
    assert "went on" in ThingShow(study).first()["text/plain"]

    let_go(gate)
    await tab.until(lambda tab: tab.values[2]["info"]["ended"])

    assert "times the fastest" in tab.values[2]["info"]["sentence"]
    assert tab.values[2]["info"]["is_verdict"]
    await tab.until(lambda tab: tab.rows[study.name]["state"] == "Completed")
    await tab.until(lambda tab: tab.rows[study.name]["steps"] == 40)

    # drawn and kept, and opened again by name
    status, kept = await ask("repeats", study.name, "bundle")
    assert status == 200
    again = open_study(study.name)
    assert kind_of(again).name == "repeat"
    assert ThingShow(again).last() == kept
    assert base64.b64decode(kept["image/png"]).startswith(b"\x89PNG")
    assert "times the fastest" in kept["text/plain"]
    assert "each:" in kept["text/html"]
    saved = kept[COMPARISON_MIME]
    assert TypeAdapter(ComparisonInfo).validate_python(saved["info"]).ended
    assert (saved["kind"], saved["comparison"]) == ("repeat", None)
    assert saved["tables"]["1/steps"]["num_rows"] == 20


@pytest.mark.usefixtures("installed")
def test_without_an_entry_it_is_shown_as_any_study_is(
    start: Callable[[int], StudyRun], gate: Path
) -> None:
    study = start(1)
    monitor = ComparisonMonitor(study)
    wait_until(lambda: monitor.info["launched"], what="the first launch")
    let_go(gate)

    assert monitor.wait(60)

    assert monitor.info["sentence"] == "It ended as Completed after 1 of 1 launch."
    rows = {row["label"]: row["cells"] for row in monitor.info["rows"]}
    assert len(rows["s/step"]) == 1
    assert "speed-up" not in rows
    assert [launch["state"] for launch in monitor.info["launched"]] == ["Completed"]
    assert (monitor._view, monitor.result) == ("repeat-monitor", "")
    assert "set-up" in study._repr_html_()
    monitor.close()
