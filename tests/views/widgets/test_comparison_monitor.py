"""The comparison monitor: its traits and its messages, over real comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.metrics.compared.comparison import Comparison
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
from smtc_lab.study.comparison.comparison_run import ComparisonRun, launch_comparison
from smtc_lab.views.shown import ThingShow
from smtc_lab.views.widgets.comparison_monitor import ComparisonMonitor
from tests.kit.quick_script import QUICK_SCRIPT
from tests.kit.runs import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.kit.real_runs import CopyComparison


def jobs(folder: Path, *, steps: int) -> list[TrainingJob]:
    script = folder / "train.py"
    script.write_text(QUICK_SCRIPT, encoding="utf-8")
    return [
        TrainingJob(
            entry_point=str(script),
            cluster=Cluster.parse(f"{name}@here=local:1"),
            max_steps=steps,
        )
        for name in ("one", "other")
    ]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ComparisonRun]:
    """Launch a comparison that goes on through all tests, which leave it alone."""
    folder = tmp_path_factory.mktemp("running")
    run = launch_comparison(jobs(folder, steps=100_000), root=folder / "runs")
    yield run
    run.stop()


def test_a_monitor_shows_a_comparison_until_its_end(tmp_path: Path) -> None:
    run = launch_comparison(jobs(tmp_path, steps=20)[:1], rounds=1, root=tmp_path / "runs")
    monitor = ComparisonMonitor(run)
    first = dict(monitor.info)

    assert monitor.wait(60)

    assert first["state"] in {"Pending", "InProgress"}
    assert monitor.ended
    assert monitor.info["ended"]
    assert monitor.info["sentence"] == run.wait().comparison.verdict
    assert Comparison.from_json(monitor.result) == run.wait().comparison
    assert monitor.beat["number"] >= 2
    monitor.close()


def test_damaged_records_are_told_beside_the_verdict(ended_comparison: CopyComparison) -> None:
    run = ended_comparison()
    verdict = run.wait().comparison.verdict
    (run.runs[0].folder.records / "algo-1-rank0.sqlite").write_bytes(b"no database" * 100)

    monitor = ComparisonMonitor(run)

    assert monitor.wait(60)
    assert monitor.ended
    assert "is damaged" in monitor.info["notes"][0]
    assert monitor.info["sentence"] == verdict
    assert "is damaged" in ThingShow(run).first()["text/plain"]
    monitor.close()


def test_a_page_that_is_opened_again_gets_all_rows(
    running: ComparisonRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr(ComparisonMonitor, "send", lambda _, content, __: sent.append(content))
    monitor = ComparisonMonitor(running)
    wait_until(
        lambda: any(message["table"] == "0/steps" for message in sent), what="the first rows"
    )
    sent.clear()

    monitor._handle_custom_msg({"type": "resync"}, [])

    resets = {message["table"] for message in sent if message["type"] == "reset"}
    assert {"0/steps", "ratio:1"} <= resets
    monitor.close()


def test_what_a_browser_makes_up_changes_nothing(running: ComparisonRun) -> None:
    monitor = ComparisonMonitor(running)
    for content in (None, "stop", {"type": "launch"}, {"type": "read", "table": 7}, {}):
        monitor._handle_custom_msg(content, [])

    monitor.close()

    assert not running.state.is_terminal
    assert monitor.stop_problem == ""


def test_a_stop_that_fails_is_told(
    running: ComparisonRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: ComparisonRun) -> None:
        raise PermissionError("not yours")

    with monkeypatch.context() as patch:
        patch.setattr(ComparisonRun, "stop", refuse)
        monitor = ComparisonMonitor(running)
        monitor.stop()
        wait_until(lambda: monitor.stop_problem, what="the word that it failed")

    assert monitor.stop_problem == "The comparison could not be stopped: not yours"
    monitor.close()


def test_closing_a_monitor_leaves_the_comparison_alone(running: ComparisonRun) -> None:
    monitor = ComparisonMonitor(running.folder.path.as_posix())

    monitor.close()

    assert monitor.wait(60)
    assert not monitor.ended
    assert not running.state.is_terminal
