"""The comparison monitor: its traits and its messages, over real comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtc_lab.metrics.compared.comparison import Comparison
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
from smtc_lab.study.comparison.comparison_run import ComparisonRun, launch_comparison
from smtc_lab.views.shown import ThingShow
from smtc_lab.views.widgets.comparison_monitor import ComparisonMonitor
from tests.kit.quick_script import QUICK_SCRIPT
from tests.kit.runs import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.kit.real_runs import CopyComparison


def test_a_monitor_shows_a_comparison_until_its_end(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(QUICK_SCRIPT, encoding="utf-8")
    cluster = Cluster.parse("one@here=local:1")
    job = TrainingJob(entry_point=str(script), cluster=cluster, max_steps=20)
    run = launch_comparison([job], rounds=1, root=tmp_path / "runs")
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
    growing_comparison: ComparisonRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr(ComparisonMonitor, "send", lambda _, content, __: sent.append(content))
    monitor = ComparisonMonitor(growing_comparison)
    wait_until(
        lambda: any(message["table"] == "0/steps" for message in sent), what="the first rows"
    )
    sent.clear()

    monitor._handle_custom_msg({"type": "resync"}, [])

    resets = {message["table"] for message in sent if message["type"] == "reset"}
    assert {"0/steps", "ratio:1"} <= resets
    monitor.close()


def test_what_a_browser_makes_up_changes_nothing(growing_comparison: ComparisonRun) -> None:
    monitor = ComparisonMonitor(growing_comparison)
    for content in (None, "stop", {"type": "launch"}, {"type": "read", "table": 7}, {}):
        monitor._handle_custom_msg(content, [])

    monitor.close()

    assert not growing_comparison.state.is_terminal
    assert monitor.stop_problem == ""


def test_a_stop_that_fails_is_told(
    growing_comparison: ComparisonRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: ComparisonRun) -> None:
        raise PermissionError("not yours")

    with monkeypatch.context() as patch:
        patch.setattr(ComparisonRun, "stop", refuse)
        monitor = ComparisonMonitor(growing_comparison)
        monitor.stop()
        wait_until(lambda: monitor.stop_problem, what="the word that it failed")

    assert monitor.stop_problem == "The comparison could not be stopped: not yours"
    monitor.close()


def test_closing_a_monitor_leaves_the_comparison_alone(
    growing_comparison: ComparisonRun,
) -> None:
    monitor = ComparisonMonitor(growing_comparison.folder.path.as_posix())

    monitor.close()

    assert monitor.wait(60)
    assert not monitor.ended
    assert not growing_comparison.state.is_terminal
