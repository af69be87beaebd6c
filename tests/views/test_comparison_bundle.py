"""What a notebook keeps of comparisons: of objects, and of real ones that have ended."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import pytest
from IPython.core.formatters import DisplayFormatter

from smtc_lab.metrics.columns import STEP, steps_of
from smtc_lab.metrics.compared.comparison import Comparison
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
from smtc_lab.study.comparison.compare import ComparisonOutcome
from smtc_lab.study.comparison.comparison_run import ComparisonRun, launch_comparison
from smtc_lab.views.kept import bundle_at, drawn_elsewhere
from smtc_lab.views.shown import ThingShow
from smtc_lab.views.study.snapshot import COMPARISON_MIME
from tests.kit.comparisons import example_comparison
from tests.kit.hostile import markup_of
from tests.kit.quick_script import QUICK_SCRIPT

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = "<img src=x onerror=alert(1)> {{7*7}}"


def jobs(folder: Path, *, steps: int) -> list[TrainingJob]:
    script = folder / "train.py"
    script.write_text(QUICK_SCRIPT, encoding="utf-8")
    return [
        TrainingJob(
            entry_point=str(script),
            cluster=Cluster.parse(f"{name}@here=local:1"),
            max_steps=steps,
        )
        for name in ("plain", HOSTILE)
    ]


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> ComparisonRun:
    folder = tmp_path_factory.mktemp("ended")
    run = launch_comparison(jobs(folder, steps=20), rounds=1, root=folder / "runs")
    run.wait(60)
    return run


def is_inert(html: str) -> bool:
    tags = {"div", "ul", "li", "strong", "em", "span", "@class", "@style", "@role", "@tabindex"}
    return markup_of(html) <= {*tags, "@aria-label"} and "http" not in html


def own(bundle: dict[str, Any]) -> dict[str, Any]:
    value: dict[str, Any] = bundle[COMPARISON_MIME]
    return value


def test_a_comparison_keeps_its_numbers_beside_html_picture_and_text() -> None:
    comparison, _ = example_comparison()

    bundle, metadata = DisplayFormatter().format(comparison)

    assert metadata == {}
    assert set(bundle) == {COMPARISON_MIME, "text/html", "image/png", "text/plain"}
    assert own(bundle)["version"] == 2
    assert own(bundle)["tables"] == {}
    assert own(bundle)["info"]["sentence"] == comparison.verdict
    assert own(bundle)["info"]["launched"] == []
    kept = json.dumps(own(bundle)["comparison"])
    assert Comparison.from_json(kept) == comparison
    assert base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG")
    assert "the speed of homogeneous and" in bundle["text/html"]
    assert "historical 2022-10-27" in bundle["text/html"]
    assert is_inert(bundle["text/html"])


def test_an_outcome_keeps_the_steps_of_its_launches_too_in_little_room() -> None:
    comparison, runs = example_comparison()
    outcome = ComparisonOutcome(comparison=comparison, runs=tuple(runs) * 20)

    kept = own(outcome._repr_mimebundle_())

    first, launched = kept["tables"]["0/steps"], kept["info"]["launched"]
    times_s = steps_of(runs[0])[STEP["step_time_s"]]
    assert [launch["label"] for launch in launched[:2]] == [runs[0].label, runs[1].label]
    assert {launch["set_up"] for launch in launched} == {0, 1}
    assert launched[0]["steps"] == first["num_rows"] == len(times_s)
    assert max(first["high"][2]) == pytest.approx(max(times_s), rel=1e-4)
    assert min(first["low"][2]) == pytest.approx(min(times_s), rel=1e-4)
    assert first["columns"] == ["step", "time_s", "step_time_s", "data_wait_s", "device"]
    assert len(json.dumps(kept["tables"])) < 200_000
    assert "lab.launch_comparison(jobs" in kept["info"]["code"]


def test_an_ended_comparison_is_kept_with_verdict_and_picture(ended: ComparisonRun) -> None:
    bundle = drawn_elsewhere(ended.folder.path)

    html = bundle["text/html"]
    verdict = ended.wait().comparison.verdict
    assert own(bundle)["info"]["sentence"] == verdict
    assert own(bundle)["comparison"] == json.loads(ended.result_json or "")
    tables = own(bundle)["tables"]
    assert [tables[f"{launch}/steps"]["num_rows"] for launch in range(2)] == [20, 20]
    assert tables["0/system:algo-1"]["columns"] == [
        "time_s",
        "cpu",
        "received_per_s",
        "sent_per_s",
    ]
    assert tables["ratio:1"]["mean"][2][-1] > 0
    assert is_inert(html)
    assert "&lt;img src=x" in html
    assert "measured" in html
    assert "background-image: url(data:image/png;base64," in html
    assert verdict in bundle["text/plain"]
    assert ThingShow(ended).has_ended()
    assert is_inert(ended._repr_html_())


def test_a_stopped_comparison_is_kept_without_a_verdict(tmp_path: Path) -> None:
    run = launch_comparison(jobs(tmp_path, steps=100_000), root=tmp_path / "runs")
    live = ThingShow(run).first()
    run.stop()

    bundle = bundle_at(run.folder.path)

    assert "lab.ComparisonRun.open(" in live["text/plain"]
    assert is_inert(live["text/html"])
    assert "image/png" not in bundle
    assert own(bundle)["comparison"] is None
    assert "There is no verdict" in bundle["text/html"]
    assert "stopped by its user" in bundle["text/plain"]
    assert is_inert(bundle["text/html"])
